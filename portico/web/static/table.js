// Filters apply as they are chosen; a run that is being written is looked at again every few seconds.
(() => {
  const form = document.querySelector("form.filters");
  if (form) {
    form.classList.add("scripted");
    form.addEventListener("change", (event) => {
      if (event.target.type !== "search") form.requestSubmit();
    });
    form.addEventListener("submit", () => {
      for (const field of form.elements) if (field.name && field.value === "") field.disabled = true;
    });
    window.addEventListener("pageshow", () => {
      for (const field of form.elements) field.disabled = false;
    });
  }
  const live = document.getElementById("live");
  if (!live || live.dataset.live !== "1") return;
  const again = async () => {
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      for (const name of ["live", "rows"]) {
        const old = document.getElementById(name);
        if (!old.contains(document.activeElement)) old.replaceWith(fresh.getElementById(name));
      }
    } catch {
      // The server may be gone for a moment, or for good: what is shown stays.
    }
    if (document.getElementById("live").dataset.live === "1") setTimeout(again, 4000);
  };
  setTimeout(again, 4000);
})();
