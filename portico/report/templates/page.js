(() => {
  const form = document.querySelector(".filters");
  if (!form) return;
  const holder = document.querySelector("#episodes .cards");
  const cards = [...holder.children];
  const filters = [...form.querySelectorAll("[data-filter]")];
  const order = form.querySelector("[data-sort]");
  const compare = {
    "": () => 0,
    policy: (a, b) => a.dataset.policy - b.dataset.policy,
    task: (a, b) => a.dataset.task.localeCompare(b.dataset.task),
    steps: (a, b) => b.dataset.steps - a.dataset.steps,
  };
  const update = () => {
    let shown = 0;
    for (const card of cards) {
      card.hidden = filters.some((f) => f.value !== "" && card.dataset[f.dataset.filter] !== f.value);
      shown += !card.hidden;
    }
    holder.append(...[...cards].sort(compare[order.value]));
    form.querySelector("output").textContent = `${shown} of ${cards.length} shown`;
  };
  form.addEventListener("change", update);
  form.hidden = false;
  update();
})();
