// One item: what was asked on each side and what came back.

const SHADES = [
  "neutral", "stereotyped", "antistereotyped", "undirected", "no-answer", "plain",
];

function badge(side, times = 1) {
  if (!side.outcome) return null;
  return el(
    "span", { class: `outcome ${SHADES[side.shade] ?? "plain"}` },
    said(side.outcome), times > 1 ? ` × ${times}` : null,
  );
}

/** What came of the sides: of two in their order, which tells what changed; of more, how often. */
function badges(sides) {
  if (sides.length <= 2) return sides.map((side) => badge(side)).filter(Boolean);
  const groups = new Map();
  for (const side of sides) {
    if (!side.outcome) continue;
    const key = `${side.shade} ${side.outcome}`;
    groups.set(key, { side, times: (groups.get(key)?.times ?? 0) + 1 });
  }
  return [...groups.values()].map(({ side, times }) => badge(side, times));
}

/** What an item goes by: a title may quote what is covered, an identifier does not. */
function nameOf(item, shown) {
  return said(shown ? item.title : item.id);
}

const QUOTED = 25; // signs from which on a side's title can be a text of its own

/** A side's title, unless it repeats a covered text of it: a question, say. */
function sideTitle(side, shown, place) {
  const oneLine = (text) => text.split(/\s+/).join(" ").trim();
  const title = oneLine(side.title);
  const quotes = title.length >= QUOTED
    && side.turns.some((turn) => oneLine(turn.text).includes(title));
  return quotes && !shown ? `Question ${place + 1}` : said(side.title, "name");
}

/**
 * A text cut into pieces: `marked` where the data say so, `hit` where a search word stands.
 *
 * @returns {Node[]}
 */
function pieces(text, marks, words) {
  const hits = [];
  if (words.length) {
    const sought = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|");
    for (const found of text.matchAll(new RegExp(sought, "giu"))) {
      hits.push([found.index, found.index + found[0].length]);
    }
  }
  const cuts = new Set([0, text.length, ...marks.flat(), ...hits.flat()]);
  const ordered = [...cuts].filter((cut) => cut >= 0 && cut <= text.length).sort((a, b) => a - b);
  const [marked, hit] = [covering(marks), covering(hits)];
  return ordered.slice(0, -1).map((start, place) => {
    const part = text.slice(start, ordered[place + 1]);
    const names = [marked(start) && "marked", hit(start) && "hit"].filter(Boolean);
    return names.length ? el("mark", { class: names.join(" ") }, part) : node(part);
  });
}

/** Whether any of the spans covers a place; to be asked of places in rising order. */
function covering(spans) {
  const ordered = [...spans].sort(([one], [other]) => one - other);
  let [next, until] = [0, 0];
  return (place) => {
    while (next < ordered.length && ordered[next][0] <= place) {
      until = Math.max(until, ordered[next][1]);
      next += 1;
    }
    return place < until;
  };
}

function turnView(turn, words) {
  return el(
    "div", { class: "turn" },
    el("p", { class: "who" }, said(turn.who)),
    turn.text
      ? el("div", { class: "text", dir: "auto" }, ...pieces(turn.text, turn.marks ?? [], words))
      : el("p", { class: "text none" }, "(empty)"),
  );
}

/** Options with their log-probabilities; a bar is the probability beside the likeliest one's. */
function choicesView(choices, words) {
  const known = choices.map((one) => one.logp).filter((logp) => Number.isFinite(logp));
  const most = Math.max(...known);
  const rows = choices.map(({ text, logp }) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = Number.isFinite(logp) ? `${(100 * Math.exp(logp - most)).toFixed(2)}%` : "0";
    return el(
      "li", { class: logp === most ? "likeliest" : null },
      el("span", { class: "option", dir: "auto" }, ...pieces(text, [], words)),
      el("span", { class: "gauge", "aria-hidden": "true" }, fill),
      el("span", { class: "number" }, figure(logp, 2)),
    );
  });
  return el(
    "div", { class: "turn" },
    el("p", { class: "who" }, "log-probabilities; bars beside the likeliest option"),
    el("ul", { class: "options" }, ...rows),
  );
}

function factsView(facts, words) {
  const rows = facts.map(({ name, text }) => el(
    "div", {},
    el("dt", {}, said(name)),
    el("dd", { dir: "auto" }, ...pieces(text, [], words)),
  ));
  return el("dl", { class: "readings" }, ...rows);
}

function covered(side) {
  const length = side.turns.reduce((sum, turn) => sum + [...turn.text].length, 0);
  const count = side.turns.length;
  return el(
    "p", { class: "covered" },
    count
      ? `${count === 1 ? "A text" : `${count} texts`} of ${whole(length)} characters, covered.`
      : "Covered.",
  );
}

function sideView(side, shown, words, place) {
  const parts = [];
  if (shown) {
    parts.push(...side.turns.map((turn) => turnView(turn, words)));
    if (side.choices.length) parts.push(choicesView(side.choices, words));
    if (side.facts.length) parts.push(factsView(side.facts, words));
  } else {
    parts.push(covered(side));
  }
  return el(
    "section", { class: "side" },
    el("h4", {}, sideTitle(side, shown, place), " ", badge(side)),
    ...parts,
  );
}

/** Facets and numbers of an item, as names and values. */
function aboutView(item, shelf) {
  const rows = shelf.facets
    .map((facet, at) => [facet.title, facet.labels[item.facets[at]] ?? null])
    .filter(([, value]) => value !== null);
  shelf.numbers.forEach((number, at) => {
    rows.push([number.title, figure(item.numbers[at], number.digits)]);
  });
  rows.push(["Identifier", item.id]);
  return el(
    "dl", { class: "about" },
    ...rows.map(([name, value]) => el(
      "div", {}, el("dt", {}, said(name)), el("dd", {}, said(value)),
    )),
  );
}
