// Where the map is looked at from: moved and zoomed by mouse, fingers, keys and buttons.

const CLOSEST = 24; // times the whole map
const GLIDE = 220; // milliseconds of a move that was asked for by a button or a key

function camera(map, changed) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const view = {
    scale: 1, left: 0, top: 0, width: 1, height: 1, // screen = map * scale + (left, top)
    step: map.last, filter: "", ways: true, groups: groupsOf(map),
  };
  let whole = 1, gliding = 0;

  function keep() {
    view.scale = Math.min(CLOSEST * whole, Math.max(whole, view.scale));
    const wide = map.width * view.scale, high = map.height * view.scale;
    const edge = (at, room, size) => size <= room ? (room - size) / 2 : Math.min(40, Math.max(room - size - 40, at));
    view.left = edge(view.left, view.width, wide);
    view.top = edge(view.top, view.height, high);
    changed();
  }

  function to(scale, left, top) {
    cancelAnimationFrame(gliding);
    const from = [view.scale, view.left, view.top], start = performance.now();
    const step = (now) => {
      const way = calm.matches ? 1 : Math.min(1, Math.max(0, (now - start) / GLIDE)), eased = way * (2 - way);
      [view.scale, view.left, view.top] = [scale, left, top].map((end, at) => from[at] + (end - from[at]) * eased);
      keep();
      if (way < 1) gliding = requestAnimationFrame(step);
    };
    step(start);
  }

  const around = (x, y, scale) => [scale, x - (x - view.left) * scale / view.scale, y - (y - view.top) * scale / view.scale];
  const within = (scale) => Math.min(CLOSEST * whole, Math.max(whole, scale));

  return {
    view,
    size(width, height) {
      const fits = Math.min(width / map.width, height / map.height), was = view.scale <= whole * 1.001;
      [view.width, view.height, whole] = [width, height, fits];
      if (was) view.scale = fits;
      keep();
    },
    pan(dx, dy) { cancelAnimationFrame(gliding); view.left += dx; view.top += dy; keep(); },
    zoom(x, y, factor) {
      cancelAnimationFrame(gliding);
      [view.scale, view.left, view.top] = around(x, y, within(view.scale * factor));
      keep();
    },
    step(factor) { to(...around(view.width / 2, view.height / 2, within(view.scale * factor))); },
    fit() { to(whole, 0, 0); },
    // Brings a topic into view; close up where it is asked for.
    show(node, close) {
      const scale = close ? Math.max(view.scale, 3 * whole) : view.scale;
      const x = map.x[node] * view.scale + view.left, y = map.y[node] * view.scale + view.top;
      const inside = x > 30 && y > 30 && x < view.width - 30 && y < view.height - 30;
      if (inside && scale === view.scale) return;
      to(scale, view.width / 2 - map.x[node] * scale, view.height / 2 - map.y[node] * scale);
    },
    at(x, y) { return [(x - view.left) / view.scale, (y - view.top) / view.scale]; },
  };
}

// Each domain's name and where it goes: over the middle of its topics, where most of them begin.
// Where there are many, the small ones go without.
function groupsOf(map) {
  const own = map.domains.map(() => []);
  for (let node = 0; node < map.count; node++) if (map.domain[node] >= 0) own[map.domain[node]].push(node);
  const found = own.map((nodes, place) => ({ name: map.domains[place], nodes })).filter((one) => one.nodes.length);
  found.sort((one, other) => other.nodes.length - one.nodes.length);
  const share = (numbers, part) => Float32Array.from(numbers).sort()[Math.floor((numbers.length - 1) * part)];
  return found.slice(0, 12).map(({ name, nodes }) => ({
    name,
    x: share(nodes.map((node) => map.x[node]), 0.5),
    y: share(nodes.map((node) => map.y[node]), 0.06),
  }));
}

// Moves the camera by pointers, wheel and keys. What is looked at or chosen is told to `told`:
// look(x, y), leave(), choose(x, y, touched).
function gestures(canvas, lens, told) {
  const fingers = new Map();
  let moved = 0, apart = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const held = () => document.activeElement === canvas;

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    fingers.set(event.pointerId, place(event));
    moved = fingers.size > 1 ? Infinity : 0;
    apart = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = place(event), before = fingers.get(event.pointerId);
    if (!before) return told.look(...now);
    fingers.set(event.pointerId, now);
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (fingers.size === 1) {
      moved += Math.hypot(dx, dy);
      if (moved > 4) lens.pan(dx, dy);
      return;
    }
    const [one, other] = [...fingers.values()];
    const gap = Math.hypot(one[0] - other[0], one[1] - other[1]);
    if (apart) lens.zoom((one[0] + other[0]) / 2, (one[1] + other[1]) / 2, gap / apart);
    apart = gap;
    lens.pan(dx / 2, dy / 2);
  });
  const up = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (event.type === "pointerup" && moved <= 4) told.choose(...place(event), event.pointerType !== "mouse");
    if (fingers.size) moved = Infinity;
    apart = 0;
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => told.leave());
  // A page has to scroll past the map: the wheel is the map's while it has the focus, or with Ctrl,
  // and one finger moves the map once it was tapped.
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !held()) return;
    event.preventDefault();
    const pixels = event.deltaY * [1, 30, 400][event.deltaMode];
    lens.zoom(...place(event), Math.exp(-Math.min(200, Math.max(-200, pixels)) / (event.ctrlKey ? 120 : 360)));
  }, { passive: false });
  canvas.addEventListener("touchmove", (event) => {
    if (event.touches.length > 1 || held()) event.preventDefault();
  }, { passive: false });
}
