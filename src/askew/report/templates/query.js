// Filtering, counting and sorting the items that the page itself holds. Items stay in the compact
// form in which they come: [id, title, flagged, facets, numbers, why, sides].

const [ID, TITLE, FLAGGED, FACETS, NUMBERS, WHY, SIDES] = [0, 1, 2, 3, 4, 5, 6];

// The fact that says which call it was: no search looks through it, as "bad" stands in many a key.
const CALL = "Call";

/** The places of all texts of an item that a search looks through. */
function textsOf(item) {
  const places = [item[TITLE], item[WHY]];
  for (const [title, outcome, , turns, choices, facts] of item[SIDES]) {
    places.push(title, outcome);
    for (const turn of turns) places.push(turn[1]);
    for (const choice of choices) places.push(choice[0]);
    for (const [name, text] of facts) if (name !== CALL) places.push(text);
  }
  return places.filter((place) => place >= 0);
}

function wordsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

class ItemIndex {
  /**
   * @param {Object} shelf as it came, with its items
   * @param {string[]} texts of all shelves
   * @param {Object} lower `lower.texts`: the texts in lower case, made at the first search
   */
  constructor(shelf, texts, lower) {
    this.shelf = shelf;
    this.items = shelf.items;
    this.texts = texts;
    this.lower = lower;
    this.places = null;
    this.orders = new Map();
    this.found = new Map();
    this.last = { key: null };
    this.ids = new Map(this.items.map((item, at) => [wellFormed(item[ID]), at]));
  }

  /** Which items hold all the words, each in any of its texts or in its id: 1 or 0 by item. */
  holding(words) {
    const key = words.join(" ");
    const known = this.found.get(key);
    if (known) return known;
    this.lower.texts ??= this.texts.map((text) => text.toLowerCase());
    this.places ??= this.items.map((item) => textsOf(item));
    const held = new Uint8Array(this.items.length).fill(1);
    for (const word of words) {
      const inText = Uint8Array.from(this.lower.texts, (text) => (text.includes(word) ? 1 : 0));
      this.items.forEach((item, at) => {
        if (held[at] && !this.places[at].some((place) => inText[place])) {
          held[at] = item[ID].toLowerCase().includes(word) ? 1 : 0;
        }
      });
    }
    if (this.found.size > 20) this.found.clear();
    this.found.set(key, held);
    return held;
  }

  /** All items in an order: "worst" as they came, "id", or a number's name, "-" from the top. */
  order(sort) {
    const known = this.orders.get(sort);
    if (known) return known;
    const order = this.items.map((item, at) => at);
    const name = sort.replace(/^-/, "");
    const number = this.shelf.numbers.findIndex((one) => one.name === name);
    if (sort === "id") {
      const { compare } = new Intl.Collator("en", { numeric: true });
      order.sort((a, b) => compare(this.items[a][ID], this.items[b][ID]));
    } else if (number >= 0) {
      const sign = sort.startsWith("-") ? -1 : 1;
      const value = (at) => this.items[at][NUMBERS][number] ?? null;
      order.sort((a, b) => { // an undefined number comes last whichever way
        const [x, y] = [value(a), value(b)];
        if (x === null || y === null) return (x === null) - (y === null);
        return sign * (x - y);
      });
    }
    this.orders.set(sort, order);
    return order;
  }

  /**
   * The items of a place in order, and how many each value of each facet would leave: a facet's
   * counts follow the search and every filter but its own.
   *
   * @returns {{order: number[], counts: Map<string, number[]>}}
   */
  select(place) {
    const key = writePlace({ ...place, id: null, page: 1 });
    if (this.last.key === key) return this.last;
    const { facets } = this.shelf;
    const wanted = facets.map((facet) => (
      place.filters.has(facet.name) ? facet.values.indexOf(place.filters.get(facet.name)) : null
    ));
    const asked = facets.map((facet, at) => at).filter((at) => wanted[at] !== null);
    const words = wordsOf(place.words);
    const held = words.length ? this.holding(words) : null;
    const counts = facets.map((facet) => new Array(facet.values.length).fill(0));
    const order = [];
    for (const at of this.order(place.sort)) {
      const item = this.items[at];
      if ((held && !held[at]) || (place.flagged && !item[FLAGGED])) continue;
      const has = item[FACETS];
      // An unknown value, -1 here, is no item's: an item without the facet has -1 as well.
      const failed = asked.filter((facet) => wanted[facet] < 0 || has[facet] !== wanted[facet]);
      if (failed.length > 1) continue;
      for (const facet of failed.length ? failed : counts.keys()) {
        if (has[facet] >= 0) counts[facet][has[facet]] += 1;
      }
      if (!failed.length) order.push(at);
    }
    this.last = { key, order, counts: new Map(facets.map((facet, at) => [facet.name, counts[at]])) };
    return this.last;
  }
}
