// The data of a map: opened, laid into typed arrays, and asked what is where at which step.
// What the words stand for is told by `map_data` of boundary_island.py.

const KINDS = ["leaning", "clean", "unclear", "frontier", "untested"];
const FRONTIER = 3, UNTESTED = 4;
const CELL_TOPICS = 2; // topics in a cell of the grid, on average

// The map's data out of the page; rejects where the browser cannot open it or it is damaged.
async function openMap(island) {
  const packed = Uint8Array.from(atob(island.textContent.trim()), (one) => one.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return topicMap(JSON.parse(await new Response(plain).text()));
}

function topicMap(data) {
  const count = data.titles.length, tested = data.kind.length;
  const x = Float32Array.from(data.x, (tenths) => tenths / 10);
  const y = Float32Array.from(data.y, (tenths) => tenths / 10);
  const edges = Uint32Array.from(data.edges);
  const map = {
    count, tested, x, y, edges,
    width: data.width, height: data.height, topics: data.topics,
    titles: data.titles, domains: data.domains, domain: data.domain, chance: data.chance,
    step: data.step, from: data.from, drawn: data.drawn, said: data.said, link: data.link,
    strongest: data.strongest,
    last: tested ? data.step[tested - 1] : 0,
    kind: new Uint8Array(count), // as it stands at the step that is shown
    counts: new Uint32Array(KINDS.length), // of all kinds at that step
  };
  const grid = gridOf(map);
  let folded = null;

  // Shows the search as it stood after a step.
  map.at = (step) => {
    map.counts.fill(0);
    for (let node = 0; node < count; node++) {
      let kind = UNTESTED;
      if (node < tested && data.step[node] <= step) kind = data.kind[node];
      else if (data.beside[node] && data.beside[node] <= step) kind = FRONTIER;
      map.kind[node] = kind;
      map.counts[kind]++;
    }
  };

  // The topic nearest to a point of those that `wanted` takes, or -1; none beyond `reach`.
  map.nearest = (px, py, reach, wanted) => {
    let best = -1, least = reach * reach;
    grid.around(px, py, reach, (node) => {
      const dx = x[node] - px, dy = y[node] - py, away = dx * dx + dy * dy;
      if (away <= least && wanted(node)) { least = away; best = node; }
    });
    return best;
  };

  // The nearest topic on one side of another: what lies off the straight line counts double.
  map.towards = (node, right, down, wanted) => {
    let best = -1, least = Infinity;
    for (let other = 0; other < count; other++) {
      if (other === node || !wanted(other)) continue;
      const dx = x[other] - x[node], dy = y[other] - y[node];
      const along = dx * right + dy * down, off = Math.abs(dx * down) + Math.abs(dy * right);
      if (along <= 0 || off > along) continue;
      if (along + 2 * off < least) { least = along + 2 * off; best = other; }
    }
    return best;
  };

  // Topics whose titles hold the words: those that begin with them first, then tested ones.
  map.find = (words, most) => {
    folded = folded || data.titles.map((title) => title.toLowerCase());
    const sought = words.trim().toLowerCase();
    const found = [];
    if (!sought) return { total: 0, found };
    for (let node = 0; node < count; node++) {
      const place = folded[node].indexOf(sought);
      if (place >= 0) found.push([place > 0, node >= tested, folded[node].length, node]);
    }
    found.sort((one, other) => one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
      || one[3] - other[3]);
    return { total: found.length, found: found.slice(0, most).map((one) => one[3]) };
  };

  map.at(map.last);
  return map;
}

// Cells of equal size over the map, each with its topics: what is near is found without a look at
// the rest.
function gridOf(map) {
  const cells = Math.max(1, map.count / CELL_TOPICS);
  const size = Math.sqrt(map.width * map.height / cells);
  const across = Math.max(1, Math.ceil(map.width / size)), down = Math.max(1, Math.ceil(map.height / size));
  const column = (px) => Math.min(across - 1, Math.max(0, Math.floor(px / size)));
  const row = (py) => Math.min(down - 1, Math.max(0, Math.floor(py / size)));
  const starts = new Uint32Array(across * down + 1);
  for (let node = 0; node < map.count; node++) starts[row(map.y[node]) * across + column(map.x[node]) + 1]++;
  for (let cell = 0; cell < across * down; cell++) starts[cell + 1] += starts[cell];
  const filled = starts.slice(0, -1), nodes = new Uint32Array(map.count);
  for (let node = 0; node < map.count; node++) nodes[filled[row(map.y[node]) * across + column(map.x[node])]++] = node;
  return {
    around(px, py, reach, told) {
      for (let r = row(py - reach); r <= row(py + reach); r++) {
        for (let c = column(px - reach); c <= column(px + reach); c++) {
          const cell = r * across + c;
          for (let place = starts[cell]; place < starts[cell + 1]; place++) told(nodes[place]);
        }
      }
    },
  };
}
