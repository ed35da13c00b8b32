// Scrubs map and camera together. A place of the axis is a state of the only track, or a moment that several tracks share.
(() => {
  const source = document.getElementById("tracks");
  const player = document.getElementById("player");
  if (!source || !player) return;
  const scene = JSON.parse(source.textContent);
  const tracks = scene.tracks;
  const last = scene.count - 1;
  const CONTACT = 1, FALLEN = 4, LEANS_DEG = 3;
  let place = scene.place;
  let playing = false;

  const at = (column, state) => (Array.isArray(column) ? column[state] : column);
  const stateOf = (track, p) => (track.states ? track.states[p] : Math.min(p, track.count - 1));
  const moment = (p) => (scene.moments ? scene.moments[p] : tracks[0].t[p]);

  const said = (track, s) => {
    const parts = [`${track.t[s].toFixed(1)} s`, `action ${track.action[s]} of ${track.action[track.count - 1]}`];
    const stage = at(track.stage, s);
    if (scene.stages.length > 1 && scene.stages[stage]) parts.push(scene.stages[stage]);
    if (track.to_go[s] !== null) parts.push(`${track.to_go[s].toFixed(1)} m to go`);
    const surface = track.surfaces[at(track.surface, s)];
    if (surface) parts.push(`on ${surface}`);
    if (at(track.lean, s) >= LEANS_DEG) parts.push(`leans ${at(track.lean, s)}°`);
    if (at(track.flags, s) & CONTACT) parts.push("contact");
    if (at(track.flags, s) & FALLEN) parts.push("fallen");
    return parts.join(" · ");
  };

  // One picture at a time is under way for every camera; what is wanted last comes next.
  class Eye {
    constructor(figure, track) {
      this.track = track;
      this.screen = figure.querySelector(".screen");
      this.image = this.screen.querySelector("img");
      this.output = figure.querySelector("output");
      this.loading = false;
      this.wanted = null;
      this.shown = this.image ? this.image.getAttribute("src") : "";
      if (this.image) this.watchFirst();
    }
    watchFirst() {
      const done = () => this.screen.classList.add("seen");
      if (this.image.complete && this.image.naturalWidth) done();
      else {
        this.image.addEventListener("load", done, { once: true });
        this.image.addEventListener("error", () => this.failed(), { once: true });
      }
    }
    want(state, fine) {
      if (!this.track.frames) return;
      this.wanted = `${this.track.frames}${state}.jpg?${this.track.asked}${fine ? "" : "&draft=1"}`;
      this.state = state;
      this.pump();
    }
    async pump() {
      if (this.loading || !this.wanted || this.wanted === this.shown) return;
      const url = this.wanted, state = this.state;
      this.loading = true;
      const late = setTimeout(() => this.screen.classList.add("late"), 400);
      const next = new Image(this.image.width, this.image.height);
      next.alt = `what the camera saw in state ${state}`;
      next.src = url;
      try {
        await next.decode();
        this.image.replaceWith(next);
        this.image = next;
        this.shown = url;
        this.screen.classList.add("seen");
        this.screen.classList.remove("broken");
      } catch {
        if (url === this.wanted) {
          this.wanted = null;
          this.failed();
        }
      }
      clearTimeout(late);
      this.screen.classList.remove("late");
      this.loading = false;
      this.pump();
    }
    failed() {
      this.screen.classList.add("broken");
      this.screen.querySelector(".waiting").textContent = "this frame could not be drawn";
    }
  }
  const eyes = [...player.querySelectorAll(".sight")].map((figure, n) => new Eye(figure, tracks[n]));

  // The map: robots, levels, zoom.
  const maps = [...player.querySelectorAll(".map")];
  const levels = [...player.querySelectorAll(".levels a")];
  const showLevel = (level) => {
    if (!maps.some((map) => map.dataset.level === String(level))) return;
    for (const map of maps) map.hidden = map.dataset.level !== String(level);
    for (const link of levels) link.dataset.level === String(level) ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  };
  for (const link of levels) link.addEventListener("click", (event) => { event.preventDefault(); showLevel(link.dataset.level); });
  const scales = new WeakMap();
  const putRobots = () => {
    for (const map of maps) {
      const [west, north, perMetre] = scene.maps[map.dataset.level];
      for (const mark of map.querySelectorAll(".robot")) {
        const track = tracks[mark.dataset.track];
        if (!track.count) continue;
        const s = stateOf(track, place);
        const x = (track.x[s] - west) * perMetre, y = (north - track.y[s]) * perMetre;
        const scale = /scale\([^)]*\)/.exec(mark.getAttribute("transform"))[0];
        mark.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${(-track.yaw[s]).toFixed(1)}) ${scale}`);
        mark.classList.toggle("elsewhere", String(at(track.level, s)) !== map.dataset.level);
      }
    }
  };
  const view = (svg) => svg.getAttribute("viewBox").split(" ").map(Number);
  const home = (svg) => svg.dataset.home.split(" ").map(Number);
  const setView = (svg, [x, y, w, h]) => {
    svg.setAttribute("viewBox", `${x.toFixed(2)} ${y.toFixed(2)} ${w.toFixed(2)} ${h.toFixed(2)}`);
    const ratio = w / home(svg)[2];
    for (const mark of svg.querySelectorAll(".mark, .robot")) {
      const text = mark.getAttribute("transform");
      if (!scales.has(mark)) scales.set(mark, Number(/scale\(([^)]*)\)/.exec(text)[1]));
      mark.setAttribute("transform", text.replace(/scale\([^)]*\)/, `scale(${(scales.get(mark) * Math.max(ratio, 0.12)).toFixed(3)})`));
    }
    svg.classList.toggle("zoomed", ratio < 0.999);
  };
  const zoom = (svg, factor, cx, cy) => {
    const [x, y, w, h] = view(svg), whole = home(svg);
    const f = Math.max(Math.min(factor, (whole[2] * 4) / w), whole[2] / 40 / w);
    setView(svg, [cx - (cx - x) * f, cy - (cy - y) * f, w * f, h * f]);
  };
  const pointIn = (svg, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  for (const map of maps) {
    const svg = map.querySelector("svg");
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !svg.classList.contains("zoomed")) return;
      event.preventDefault();
      const p = pointIn(svg, event);
      zoom(svg, event.deltaY > 0 ? 1.2 : 1 / 1.2, p.x, p.y);
    }, { passive: false });
    svg.addEventListener("dblclick", (event) => { const p = pointIn(svg, event); zoom(svg, 0.5, p.x, p.y); });
    svg.addEventListener("pointerdown", (down) => {
      if (!svg.classList.contains("zoomed")) return;
      down.preventDefault();
      svg.setPointerCapture(down.pointerId);
      const from = pointIn(svg, down);
      const move = (event) => { const p = pointIn(svg, event), [x, y, w, h] = view(svg); setView(svg, [x + from.x - p.x, y + from.y - p.y, w, h]); };
      svg.addEventListener("pointermove", move);
      svg.addEventListener("pointerup", () => svg.removeEventListener("pointermove", move), { once: true });
    });
  }
  // A finer picture of a small window comes once the coarse one is there and the camera has had its turn.
  for (const image of player.querySelectorAll("image.close")) {
    const coarse = image.parentNode.querySelector("image.sheet");
    const fetchIt = () => setTimeout(() => image.setAttribute("href", image.dataset.href), 1500);
    const ready = new Image();
    ready.onload = fetchIt;
    if (!image.closest(".map").hidden) ready.src = coarse.getAttribute("href");
  }
  const zoomer = player.querySelector(".zoom");
  if (zoomer) {
    zoomer.hidden = false;
    zoomer.addEventListener("click", (event) => {
      const svg = maps.find((map) => !map.hidden).querySelector("svg");
      const how = event.target.dataset.zoom;
      if (how === "home") return setView(svg, home(svg));
      if (!how) return;
      const [x, y, w, h] = view(svg);
      const robot = svg.querySelector(".robot:not(.elsewhere)");
      const spot = robot && how === "in" ? /translate\(([-\d.]+) ([-\d.]+)\)/.exec(robot.getAttribute("transform")).slice(1).map(Number) : [x + w / 2, y + h / 2];
      if (how === "in") setView(svg, [spot[0] - w / 3.2, spot[1] - h / 3.2, w / 1.6, h / 1.6]);
      else zoom(svg, 1.6, spot[0], spot[1]);
    });
  }

  if (last < 1) return;

  // The time line.
  const lines = player.querySelector(".lines");
  const cursor = lines.querySelector(".cursor line");
  const grip = lines.querySelector(".cursor circle");
  const scrub = document.getElementById("scrub");
  const playButton = document.getElementById("play");
  const events = [...new Set([...player.querySelectorAll(".line [data-place]")].map((a) => Number(a.dataset.place)))].sort((a, b) => a - b);
  let settled, remembered;

  const show = () => {
    const share = `${((100 * place) / last).toFixed(3)}%`;
    cursor.setAttribute("x1", share);
    cursor.setAttribute("x2", share);
    grip.setAttribute("cx", share);
    scrub.value = place;
    putRobots();
    eyes.forEach((eye) => {
      if (!eye.track.count) return;
      const s = stateOf(eye.track, place);
      eye.output.textContent = said(eye.track, s);
      eye.want(s, false);
    });
    scrub.setAttribute("aria-valuetext", eyes[0].output.textContent);
    clearTimeout(settled);
    settled = setTimeout(settle, playing ? 1e6 : 160);
  };
  const settle = () => {
    for (const eye of eyes) if (eye.track.count) eye.want(stateOf(eye.track, place), true);
    const here = new URL(location);
    here.searchParams.set("step", place);
    here.searchParams.delete("level");
    if (here.href !== location.href) history.replaceState(null, "", here);
    for (const link of player.querySelectorAll(".cameras a")) {
      const there = new URL(link.href);
      there.searchParams.set("step", place);
      link.href = there;
    }
  };
  const go = (to) => {
    to = Math.min(Math.max(to, 0), last);
    if (to === place) return;
    const first = tracks[0];
    const before = first.count ? at(first.level, stateOf(first, place)) : null;
    place = to;
    const after = first.count ? at(first.level, stateOf(first, place)) : null;
    if (after !== remembered && (after !== before || remembered === undefined)) showLevel(after);
    remembered = after;
    show();
  };
  const jump = (how) => {
    if (how === "event+") return go(events.find((p) => p > place) ?? last);
    if (how === "event-") return go([...events].reverse().find((p) => p < place) ?? 0);
    return go(place + Number(how));
  };

  let started, from;
  const speed = () => Number(document.getElementById("speed").value);
  const tick = (now) => {
    if (!playing) return;
    const time = from + ((now - started) / 1000) * speed();
    let to = place;
    while (to < last && moment(to + 1) <= time) to += 1;
    go(to);
    if (place >= last) return toggle();
    requestAnimationFrame(tick);
  };
  const toggle = () => {
    playing = !playing;
    playButton.setAttribute("aria-label", playing ? "pause" : "play");
    playButton.classList.toggle("on", playing);
    if (!playing) return settle();
    if (place >= last) go(0);
    started = performance.now();
    from = moment(place);
    requestAnimationFrame(tick);
  };
  const pause = () => { if (playing) toggle(); };
  document.getElementById("speed").addEventListener("change", () => { started = performance.now(); from = moment(place); });

  player.querySelector(".buttons").hidden = false;
  scrub.hidden = false;
  player.classList.add("scripted");
  playButton.addEventListener("click", toggle);
  for (const button of player.querySelectorAll("[data-go]")) button.addEventListener("click", () => { pause(); jump(button.dataset.go); });
  scrub.addEventListener("input", () => { pause(); go(Number(scrub.value)); });
  for (const link of document.querySelectorAll("[data-place]")) {
    link.addEventListener("click", (event) => { event.preventDefault(); pause(); go(Number(link.dataset.place)); });
  }
  const placeUnder = (event) => {
    const box = lines.getBoundingClientRect();
    return Math.round((Math.min(Math.max(event.clientX - box.left, 0), box.width) / box.width) * last);
  };
  lines.addEventListener("pointerdown", (event) => {
    if (event.target.closest("[data-place]")) return;
    event.preventDefault();
    pause();
    scrub.focus({ preventScroll: true });
    lines.setPointerCapture(event.pointerId);
    go(placeUnder(event));
    const move = (e) => go(placeUnder(e));
    lines.addEventListener("pointermove", move);
    lines.addEventListener("pointerup", () => lines.removeEventListener("pointermove", move), { once: true });
    lines.addEventListener("pointercancel", () => lines.removeEventListener("pointermove", move), { once: true });
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inField = event.target.matches("input:not(#scrub), select, textarea, [contenteditable]");
    if (inField) return;
    const onButton = event.target.matches("button, a, summary");
    const step = event.shiftKey ? 10 : 1;
    const turn = { n: "after", p: "before" }[event.key];
    if (turn) return document.getElementById(turn)?.click();
    const done = {
      ArrowRight: () => jump(step), ArrowLeft: () => jump(-step), Home: () => go(0), End: () => go(last),
      "[": () => jump("event-"), "]": () => jump("event+"), " ": onButton ? null : toggle,
    }[event.key];
    if (!done) return;
    event.preventDefault();
    if (event.key !== " ") pause();
    done();
  });
})();
