// Where the items come from: an island in the page, or the server that the page came from. Both
// answer the same three questions: a page of a list, where an item stands in it, one item.

/** Something that the reader must be told; the message is for people. */
class Fault extends Error {}

const VERSION = 1;

function readItem(raw, texts) {
  const text = (place) => (place >= 0 ? texts[place] ?? "" : "");
  return {
    id: raw[ID],
    title: text(raw[TITLE]),
    flagged: Boolean(raw[FLAGGED]),
    facets: raw[FACETS],
    numbers: raw[NUMBERS],
    why: text(raw[WHY]),
    sides: raw[SIDES].map(([title, outcome, shade, turns, choices, facts]) => ({
      title: text(title),
      outcome: text(outcome),
      shade,
      turns: turns.map(([who, what, marks]) => ({ who: text(who), text: text(what), marks })),
      choices: choices.map(([choice, logp]) => ({ text: text(choice), logp })),
      facts: facts.map(([name, what]) => ({ name, text: text(what) })),
    })),
  };
}

function checked(data) {
  if (data?.version !== VERSION) {
    throw new Fault(
      `The items of this page are in a form (${data?.version}) that its script does not know. `
      + "Make the report anew.",
    );
  }
  return data;
}

/** The bytes of a base64 text. */
function bytesOf(base64) {
  const packed = atob(base64.replace(/\s+/g, ""));
  const bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  return bytes;
}

class IslandSource {
  constructor(data) {
    this.shelves = data.shelves;
    this.texts = data.texts;
    const lower = {};
    this.indexes = new Map(
      data.shelves.map((shelf) => [shelf.audit, new ItemIndex(shelf, data.texts, lower)]),
    );
  }

  static async open(element) {
    if (!("DecompressionStream" in window)) {
      throw new Fault(
        "This browser cannot unpack the items. It takes Chrome or Edge 80, Firefox 113, "
        + "Safari 16.4, or a later one.",
      );
    }
    try {
      const packed = new Blob([bytesOf(element.textContent)]).stream();
      const open = packed.pipeThrough(new DecompressionStream("gzip"));
      return new IslandSource(checked(JSON.parse(await new Response(open).text())));
    } catch (fault) {
      if (fault instanceof Fault) throw fault;
      throw new Fault(
        `The items of this page cannot be read (${fault.message}). The file may have been cut `
        + "short on its way; make the report anew.",
      );
    }
  }

  /** `held`: how many items can be looked at at all. */
  held(audit) {
    return this.indexes.get(audit).items.length;
  }

  async page(place, offset, limit) {
    const index = this.indexes.get(place.audit);
    const { order, counts } = index.select(place);
    const items = order.slice(offset, offset + limit)
      .map((at) => readItem(index.items[at], this.texts));
    return { items, matched: order.length, counts };
  }

  /** The item's place in the list, -1 where it is not in it or that is not known. */
  async position(place) {
    const index = this.indexes.get(place.audit);
    const at = index.ids.get(wellFormed(place.id));
    return at === undefined ? -1 : index.select(place).order.indexOf(at);
  }

  async item(audit, id) {
    const index = this.indexes.get(audit);
    const at = index.ids.get(wellFormed(id));
    return at === undefined ? null : readItem(index.items[at], this.texts);
  }
}

class ServedSource {
  constructor(url, data) {
    this.url = url;
    this.shelves = data.shelves;
    this.answers = new Map();
  }

  static async open(element) {
    const { url } = JSON.parse(element.textContent);
    const data = await ServedSource.ask(`${url}/shelves`);
    return new ServedSource(url, checked(data));
  }

  /** The server's answer; null where it says that there is no such thing. */
  static async ask(url) {
    let answer;
    try {
      answer = await fetch(url);
    } catch {
      throw new Fault("The server does not answer. Is `askew serve` still running?");
    }
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Fault(`The server answered ${answer.status} to ${url}.`);
    return answer.json();
  }

  held(audit) {
    return this.shelves.find((shelf) => shelf.audit === audit).total;
  }

  async page(place, offset, limit) {
    const asked = new URLSearchParams({ audit: place.audit, offset, limit, sort: place.sort });
    for (const [name, value] of place.filters) asked.set(name, wellFormed(value));
    if (place.flagged) asked.set("flagged", "yes");
    if (place.words) asked.set("q", wellFormed(place.words));
    const url = `${this.url}/items?${asked}`;
    if (!this.answers.has(url)) {
      const answer = await ServedSource.ask(url);
      if (answer === null) throw new Fault("The server no longer has this run.");
      if (this.answers.size > 20) this.answers.clear();
      this.answers.set(url, answer);
    }
    const { texts, items, matched, counts } = this.answers.get(url);
    return {
      items: items.map((raw) => readItem(raw, texts)),
      matched,
      counts: counts ? new Map(Object.entries(counts)) : null,
    };
  }

  async position(place) {
    const offset = (place.page - 1) * PAGE;
    const { items } = await this.page({ ...place, id: null }, offset, PAGE);
    const at = items.findIndex((item) => wellFormed(item.id) === wellFormed(place.id));
    return at < 0 ? -1 : offset + at;
  }

  async item(audit, id) {
    const asked = new URLSearchParams({ audit, id: wellFormed(id) });
    const answer = await ServedSource.ask(`${this.url}/item?${asked}`);
    return answer?.items?.length ? readItem(answer.items[0], answer.texts) : null;
  }
}

/** The page's source of items; null where the page has none. */
async function openSource() {
  const island = document.getElementById("askew-items");
  if (island) return IslandSource.open(island);
  const served = document.getElementById("askew-source");
  return served ? ServedSource.open(served) : null;
}
