// The interactive map: takes the place of the drawn one wherever `[data-map]` names the element
// with its data. Where anything of it does not work, the drawn one stays. Texts of data go into
// the page as text alone.

const REACH = 14; // pixels around the pointer in which a mark is found
const OFFERED = 8; // topics that a search offers
const LEAPS = 150; // of a replay at most
const SENTENCE = ["leaning", "clean", "unclear", "not tested, beside a tested topic", "not tested"];

function startMap(host, map) {
  const find = (name) => host.querySelector(`[data-map-${name}]`);
  const canvas = find("canvas"), tip = find("tip"), said = find("said"), open = find("open");
  const slider = find("step"), replay = find("replay"), told = find("told");
  const search = find("search"), offers = find("offers"), hits = find("hits");
  const filters = [...host.querySelectorAll("[data-map-kind]")], ways = find("ways");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let selected = -1, hovered = -1, frame = 0, resting = 0, moving = false, playing = 0;
  const wanted = KINDS.map(() => true);
  const shown = (node) => wanted[map.kind[node]];
  const lens = camera(map, () => {
    moving = true;
    clearTimeout(resting);
    resting = setTimeout(() => { moving = false; draw(); }, 120);
    draw();
  });
  const { view } = lens, paint = painter(canvas, host, map);

  function draw() {
    if (frame) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      paint.draw(view, shown, selected, moving);
      point();
    });
  }

  // What is said of a topic: its name, its verdict, and how it was come to.
  function lines(node) {
    const domain = map.domains[map.domain[node]];
    const rows = [domain ? `${map.titles[node]} (${domain})` : map.titles[node]];
    const kind = map.kind[node];
    if (kind < FRONTIER) {
      rows.push(`${SENTENCE[kind]}: ${map.said[node]}`);
      rows.push(`test ${map.step[node].toLocaleString("en")}${map.drawn[node] ? ", drawn uniformly" : ""}`);
    } else rows.push(SENTENCE[kind]);
    if (map.chance[node] >= 0) rows.push(`belief ${kind < FRONTIER ? "before the test" : "that it leans"}: ${(map.chance[node] / 10).toFixed(0)} %`);
    return rows;
  }

  function point() {
    const node = hovered >= 0 ? hovered : selected;
    tip.hidden = node < 0 || tip.dataset.off === "yes";
    if (tip.hidden) return;
    if (tip.dataset.node !== `${node}/${map.kind[node]}`) {
      tip.dataset.node = `${node}/${map.kind[node]}`;
      tip.replaceChildren(...lines(node).map((text, place) => {
        const row = document.createElement(place ? "span" : "strong");
        row.textContent = text;
        return row;
      }));
    }
    const x = map.x[node] * view.scale + view.left, y = map.y[node] * view.scale + view.top;
    const wide = tip.offsetWidth, high = tip.offsetHeight, gap = 14;
    const left = Math.min(Math.max(4, x - wide / 2), Math.max(4, view.width - wide - 4));
    const top = y - high - gap > 0 ? y - high - gap : y + gap;
    tip.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
    if (x < 0 || y < 0 || x > view.width || y > view.height) tip.hidden = true;
  }

  function select(node, { close = false, move = true } = {}) {
    selected = node;
    hovered = -1;
    tip.dataset.off = "no";
    const tested = node >= 0 && map.kind[node] < FRONTIER;
    said.textContent = node < 0 ? "" : `${lines(node).join("; ")}.`;
    open.hidden = !tested || !map.link[node].startsWith("#item/");
    if (!open.hidden) open.setAttribute("href", map.link[node]);
    if (node >= 0 && move) lens.show(node, close);
    draw();
  }

  // Through the link, so that it is the explorer's to follow it: also twice to the same place.
  function follow() {
    if (!open.hidden) open.click();
  }

  const under = (x, y) => map.nearest(...lens.at(x, y), Math.max(REACH, 1.5 * paint.radius(view)) / view.scale, shown);
  gestures(canvas, lens, {
    look(x, y) {
      const node = under(x, y);
      if (node === hovered) return;
      hovered = node;
      tip.dataset.off = "no";
      canvas.style.cursor = node >= 0 && map.kind[node] < FRONTIER ? "pointer" : "";
      point();
    },
    leave() { hovered = -1; point(); },
    choose(x, y, touched) {
      const node = under(x, y), again = node === selected;
      select(node, { move: false });
      if (!touched || again) follow();
    },
  });

  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = arrows[event.key];
    if (arrow && event.shiftKey) lens.pan(-60 * arrow[0], -60 * arrow[1]);
    else if (arrow) {
      const next = selected < 0 ? first() : map.towards(selected, ...arrow, shown);
      if (next >= 0) select(next);
    } else if (event.key === "PageDown" || event.key === "PageUp") {
      const next = neighbour(event.key === "PageDown" ? 1 : -1);
      if (next >= 0) select(next);
    } else if (event.key === "Home") select(first());
    else if (event.key === "Enter") follow();
    else if (event.key === "Escape") { if (tip.hidden) select(-1); else { tip.dataset.off = "yes"; point(); } }
    else if (event.key === "+" || event.key === "=") lens.step(1.6);
    else if (event.key === "-") lens.step(1 / 1.6);
    else if (event.key === "0") lens.fit();
    else return;
    event.preventDefault();
  });

  // The strongest finding that is shown, or else any topic.
  function first() {
    const finding = map.strongest.find((node) => map.kind[node] === 0 && shown(node));
    if (finding !== undefined) return finding;
    for (let node = 0; node < map.count; node++) if (shown(node)) return node;
    return -1;
  }

  // The tested topic before or after the selected one, in the order of the tests.
  function neighbour(way) {
    const from = selected >= 0 && selected < map.tested ? selected : way > 0 ? -1 : map.tested;
    for (let node = from + way; node >= 0 && node < map.tested; node += way) {
      if (map.kind[node] < FRONTIER && shown(node)) return node;
    }
    return -1;
  }

  function at(step) {
    view.step = step;
    map.at(step);
    for (const box of filters) {
      const count = box.closest("label").querySelector("[data-map-count]");
      count.textContent = map.counts[Number(box.dataset.mapKind)].toLocaleString("en");
    }
    let last = -1;
    while (last + 1 < map.tested && map.step[last + 1] <= step) last++;
    told.textContent = last < 0 ? "before the first test"
      : `after ${step.toLocaleString("en")} of ${map.last.toLocaleString("en")}; the last was ${map.titles[last]}, ${SENTENCE[map.kind[last]]}`;
    slider.setAttribute("aria-valuetext", told.textContent);
    if (filtered()) view.filter = `${wanted} ${step}`; // which edges are drawn depends on the step as well
    if (selected >= 0) select(selected, { move: false });
    draw();
  }
  const filtered = () => !wanted.every(Boolean);

  function pause() {
    clearInterval(playing);
    playing = 0;
    replay.textContent = "Replay";
  }
  replay.addEventListener("click", () => {
    if (playing) return pause();
    const leaps = Math.min(map.last, calm.matches ? 10 : LEAPS);
    if (view.step >= map.last) move(0);
    replay.textContent = "Pause";
    playing = setInterval(() => {
      move(Math.min(map.last, view.step + Math.ceil(map.last / Math.max(1, leaps))));
      if (view.step >= map.last) pause();
    }, calm.matches ? 1000 : 100);
  });
  function move(step) {
    slider.value = String(step);
    at(step);
  }
  slider.max = String(map.last);
  slider.addEventListener("input", () => { pause(); at(Number(slider.value)); });

  for (const box of [...filters, ways]) {
    box.addEventListener("change", () => {
      if (box === ways) view.ways = box.checked;
      else wanted[Number(box.dataset.mapKind)] = box.checked;
      view.filter = filtered() ? `${wanted} ${view.step}` : "";
      if (selected >= 0 && !shown(selected)) select(-1);
      moving = false;
      draw();
    });
  }

  search.addEventListener("input", () => {
    const { total, found } = map.find(search.value, OFFERED);
    offers.replaceChildren(...found.map((node) => {
      const row = document.createElement("li"), button = document.createElement("button");
      button.type = "button";
      button.textContent = `${map.titles[node]}: ${SENTENCE[map.kind[node]]}`;
      button.addEventListener("click", () => {
        offers.replaceChildren();
        wanted[map.kind[node]] = true;
        filters.forEach((box) => { box.checked = wanted[Number(box.dataset.mapKind)]; });
        view.filter = filtered() ? `${wanted} ${view.step}` : "";
        select(node, { close: true });
        canvas.focus();
      });
      row.append(button);
      return row;
    }));
    hits.textContent = !search.value.trim() ? "" : total > OFFERED ? `${total.toLocaleString("en")} topics, the first ${OFFERED} below`
      : total === 1 ? "1 topic" : `${total} topics`;
  });
  search.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { search.value = ""; search.dispatchEvent(new Event("input")); }
    if (event.key === "Enter") { event.preventDefault(); offers.querySelector("button")?.click(); }
  });

  find("closer").addEventListener("click", () => lens.step(1.6));
  find("further").addEventListener("click", () => lens.step(1 / 1.6));
  find("whole").addEventListener("click", () => lens.fit());
  canvas.addEventListener("focus", () => { host.classList.add("held"); if (selected >= 0) draw(); });
  canvas.addEventListener("blur", () => { host.classList.remove("held"); });
  const recolour = () => { paint.restyle(); draw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
  new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  // On paper the still map stands; on screen it is there to be saved.
  const still = host.querySelector(".map-drawn");
  matchMedia("print").addEventListener("change", (event) => { still.open = event.matches; });
  still.open = false;
  host.classList.add("live");
  new ResizeObserver(() => {
    const box = canvas.parentElement.getBoundingClientRect();
    if (!box.width) return;
    paint.resize(box.width, box.height);
    lens.size(box.width, box.height);
  }).observe(canvas.parentElement);
  move(map.last);
}

for (const host of document.querySelectorAll("[data-map]")) {
  const island = document.getElementById(host.dataset.map);
  if (island && "DecompressionStream" in window && "ResizeObserver" in window) {
    openMap(island).then((map) => { if (map.count) startMap(host, map); })
      .catch((trouble) => {
        host.classList.remove("live");
        host.querySelector(".map-drawn").open = true;
        console.warn(`The interactive map cannot be shown: ${trouble.message}`);
      });
  }
}
