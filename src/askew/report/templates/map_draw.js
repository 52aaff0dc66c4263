// Draws a map on a canvas. A shape stands for a verdict beside its colour: a diamond leans, a full
// circle is clean, a square is unclear, a ring is the frontier, a dot was not tested.

const SEGMENTS = 300; // lines in one stroke: a longer path takes the browser more than its share
const NAMED = 40; // titles on the map
const MARGIN = 0.15; // of the view, on each side, that a layer holds beyond it
const ROW = 13, LETTERS = 28;
const COLOURS = ["back", "text", "dim", "hair", "lean", "clean", "unclear", "open", "way", "mark"];

function painter(canvas, host, map) {
  const pen = canvas.getContext("2d");
  const below = layer(edges), above = layer(untested);
  const mates = new Set(); // neighbours of the selected topic
  let colour = {}, sprites = null, spriteSize = 0, ratio = 1, font = "";

  function restyle() {
    const style = getComputedStyle(host);
    colour = Object.fromEntries(COLOURS.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    font = style.fontFamily;
    sprites = null;
    below.forget();
    above.forget();
  }

  function resize(width, height) {
    ratio = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    sprites = null;
    below.forget();
    above.forget();
  }

  // Radius of a tested topic's mark, in pixels: smaller where many lie close together.
  function radius(view) {
    const room = Math.sqrt(map.width * map.height / Math.max(1, map.count)) * view.scale;
    return Math.min(7, Math.max(2.4, 0.36 * room));
  }

  function outline(context, kind, x, y, size) {
    context.beginPath();
    if (kind === 0) {
      const far = 1.45 * size;
      context.moveTo(x, y - far); context.lineTo(x + far, y); context.lineTo(x, y + far); context.lineTo(x - far, y);
      context.closePath();
    } else if (kind === 2) context.rect(x - size, y - size, 2 * size, 2 * size);
    else context.arc(x, y, [1, 1, 1, 0.75, 0.42][kind] * size, 0, 7);
  }

  // Each kind's mark once: a copy costs less than a path, thousands of times.
  function marks(size) {
    const half = Math.ceil((1.45 * size + 2) * ratio);
    return KINDS.map((name, kind) => {
      const one = document.createElement("canvas");
      one.width = one.height = 2 * half;
      const context = one.getContext("2d");
      context.scale(ratio, ratio);
      const hollow = kind === 2 || kind === FRONTIER;
      outline(context, kind, half / ratio, half / ratio, size);
      context.fillStyle = hollow ? colour.back : [colour.lean, colour.clean, , , colour.open][kind];
      context.strokeStyle = [colour.back, colour.back, colour.unclear, colour.open, colour.back][kind];
      context.lineWidth = [1, 1, 1.8, 1.2, 0.01][kind];
      context.fill();
      context.stroke();
      return { one, half };
    });
  }

  function lines(context, view, pairs, style, width) {
    const { scale, left, top, width: w, height: h } = view;
    context.strokeStyle = style;
    context.lineWidth = width;
    let open = 0;
    context.beginPath();
    pairs((from, to) => {
      const x1 = map.x[from] * scale + left, y1 = map.y[from] * scale + top;
      const x2 = map.x[to] * scale + left, y2 = map.y[to] * scale + top;
      if ((x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0) || (x1 > w && x2 > w) || (y1 > h && y2 > h)) return;
      context.moveTo(x1, y1);
      context.lineTo(x2, y2);
      if (++open === SEGMENTS) { context.stroke(); context.beginPath(); open = 0; }
    });
    context.stroke();
  }

  function edges(context, view, shown) {
    lines(context, view, (line) => {
      for (let at = 0; at < map.edges.length; at += 2) {
        const one = map.edges[at], other = map.edges[at + 1];
        if (shown(one) && shown(other)) line(one, other);
      }
    }, colour.hair, 0.8);
  }

  function untested(context, view, shown) {
    for (const kind of [UNTESTED, FRONTIER]) if (map.counts[kind]) stamp(context, view, kind, shown);
  }

  function stamp(context, view, kind, shown) {
    const { one, half } = sprites[kind], side = Math.max(1, Math.round(0.84 * spriteSize * ratio));
    const plain = kind === UNTESTED && side < 4; // a square of so few pixels is a dot, and is quick
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colour.open;
    for (let node = 0; node < map.count; node++) {
      if (map.kind[node] !== kind || !shown(node)) continue;
      const x = map.x[node] * view.scale + view.left, y = map.y[node] * view.scale + view.top;
      if (x < -12 || y < -12 || x > view.width + 12 || y > view.height + 12) continue;
      if (plain) context.fillRect(Math.round(x * ratio - side / 2), Math.round(y * ratio - side / 2), side, side);
      else context.drawImage(one, Math.round(x * ratio) - half, Math.round(y * ratio) - half);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
  }

  // Keeps what was drawn, somewhat beyond the edges of the view. While the view moves it is shifted
  // and stretched as far as it reaches, and drawn anew when the view rests.
  function layer(render) {
    const sheet = document.createElement("canvas"), context = sheet.getContext("2d");
    let was = null;
    return {
      forget() { was = null; },
      put(view, shown, key, moving) {
        const far = MARGIN * view.width, deep = MARGIN * view.height;
        const grown = was ? view.scale / was.scale : 1;
        const left = was ? view.left - was.left * grown : 0, top = was ? view.top - was.top * grown : 0;
        const reaches = was && left <= 0 && top <= 0
          && left + was.width * grown >= view.width && top + was.height * grown >= view.height;
        const same = was && was.key === key && was.scale === view.scale && left === -far && top === -deep;
        if (!same && !(moving && reaches && was.key === key)) {
          was = { scale: view.scale, left: view.left + far, top: view.top + deep, width: view.width + 2 * far, height: view.height + 2 * deep, key };
          const wide = Math.ceil(was.width * ratio), high = Math.ceil(was.height * ratio);
          if (sheet.width !== wide || sheet.height !== high) [sheet.width, sheet.height] = [wide, high];
          context.setTransform(ratio, 0, 0, ratio, 0, 0);
          context.clearRect(0, 0, was.width, was.height);
          render(context, was, shown);
          pen.drawImage(sheet, -far, -deep, sheet.width / ratio, sheet.height / ratio);
        } else pen.drawImage(sheet, left, top, sheet.width / ratio * grown, sheet.height / ratio * grown);
      },
    };
  }

  // Draws everything; what was not tested and the graph's edges only roughly while the view moves.
  function draw(view, shown, selected, moving) {
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, view.width, view.height);
    const size = radius(view);
    if (!sprites || Math.abs(spriteSize - size) > 0.05) { sprites = marks(size); spriteSize = size; }
    below.put(view, shown, view.filter, moving);
    if (view.ways) {
      lines(pen, view, (line) => {
        for (let node = 0; node < map.tested; node++) {
          if (map.from[node] >= 0 && map.step[node] <= view.step && shown(node) && shown(map.from[node])) line(map.from[node], node);
        }
      }, colour.way, 1.4);
    }
    if (selected >= 0) {
      lines(pen, view, (line) => {
        mates.clear();
        for (let at = 0; at < map.edges.length; at += 2) {
          const one = map.edges[at], other = map.edges[at + 1];
          if (one === selected || other === selected) { line(one, other); mates.add(one).add(other); }
        }
      }, colour.text, 1.4);
    } else mates.clear();
    above.put(view, shown, `${view.filter} ${view.step}`, moving);
    for (const kind of [1, 2, 0]) stamp(pen, view, kind, shown);
    rings(view, shown, size);
    if (selected >= 0) halo(view, selected, size);
    names(view, shown, selected, size);
  }

  function rings(view, shown, size) {
    pen.strokeStyle = colour.dim;
    pen.lineWidth = 1;
    pen.setLineDash([2, 2]);
    for (let node = 0; node < map.tested; node++) {
      if (!map.drawn[node] || map.step[node] > view.step || !shown(node)) continue;
      pen.beginPath();
      pen.arc(map.x[node] * view.scale + view.left, map.y[node] * view.scale + view.top, 1.9 * size, 0, 7);
      pen.stroke();
    }
    pen.setLineDash([]);
  }

  function halo(view, node, size) {
    const x = map.x[node] * view.scale + view.left, y = map.y[node] * view.scale + view.top;
    for (const [style, width] of [[colour.back, 6], [colour.mark, 3]]) {
      pen.beginPath();
      pen.arc(x, y, 1.45 * size + 5, 0, 7);
      pen.strokeStyle = style;
      pen.lineWidth = width;
      pen.stroke();
    }
  }

  // Titles of the selected topic and its neighbours, then of the strongest findings, where they
  // do not lie on one another; then the domains' names.
  function names(view, shown, selected, size) {
    const taken = [];
    pen.font = `600 12px ${font}`;
    if (selected >= 0) name(view, selected, size, taken);
    pen.font = `11px ${font}`;
    let free = NAMED;
    const told = [...(mates.size < 20 ? mates : []), ...map.strongest];
    for (const node of told) {
      if (!free || node === selected || !shown(node)) continue;
      if (!mates.has(node) && map.kind[node] !== 0) continue;
      if (name(view, node, size, taken)) free--;
    }
    pen.font = `600 15px ${font}`;
    for (const group of view.groups) {
      const x = group.x * view.scale + view.left, y = group.y * view.scale + view.top;
      const half = pen.measureText(group.name).width / 2;
      const centre = Math.min(Math.max(x, half + 4), view.width - half - 4);
      if (x > -half && x < view.width + half) write(group.name, centre - half, y - 12, taken, colour.dim, 18);
    }
  }

  function name(view, node, size, taken) {
    const x = map.x[node] * view.scale + view.left, y = map.y[node] * view.scale + view.top;
    if (x < 0 || y < 0 || x > view.width || y > view.height) return false;
    const signs = [...map.titles[node]];
    const title = signs.length > LETTERS ? `${signs.slice(0, LETTERS - 1).join("")}…` : map.titles[node];
    const wide = pen.measureText(title).width, gap = 1.45 * size + 4;
    return write(title, x + gap, y + 4, taken, colour.text, ROW)
      || write(title, x - gap - wide, y + 4, taken, colour.text, ROW)
      || write(title, x - wide / 2, y - gap - 1, taken, colour.text, ROW)
      || write(title, x - wide / 2, y + gap + 9, taken, colour.text, ROW);
  }

  function write(text, x, y, taken, style, row) {
    const right = x + pen.measureText(text).width, top = y - row + 3;
    if (x < 2 || right > canvas.width / ratio - 2 || top < 2 || y + 3 > canvas.height / ratio) return false;
    if (taken.some((box) => x < box[2] && box[0] < right && top < box[3] && box[1] < y + 3)) return false;
    taken.push([x, top, right, y + 3]);
    pen.lineJoin = "round";
    pen.strokeStyle = colour.back;
    pen.lineWidth = 4;
    pen.strokeText(text, x, y);
    pen.fillStyle = style;
    pen.fillText(text, x, y);
    return true;
  }

  restyle();
  return { draw, resize, restyle, radius };
}
