// The controls above the list: search, facets, findings only, order, and the filters in force.

let fieldCount = 0;

function field(label, control, name = "") {
  fieldCount += 1;
  control.id = `explorer-field-${fieldCount}`;
  return el("div", { class: `field ${name}` }, el("label", { for: control.id }, label), control);
}

function option(value, text) {
  return el("option", { value }, text);
}

function switchFor(text, act) {
  const box = el("input", { type: "checkbox" });
  box.addEventListener("change", () => act(box.checked));
  return { box, label: el("label", { class: "switch" }, box, text) };
}

/** What a filter says, for people. */
function labelOf(facet, value) {
  const at = facet.values.indexOf(value);
  return at < 0 ? value : facet.labels[at];
}

/** The filters in force: [{title, value, without}], `without` being the place that drops it. */
function filtersOf(place, shelf) {
  const list = [];
  const dropped = { ...place, id: null, page: 1 };
  for (const facet of shelf.facets) {
    if (!place.filters.has(facet.name)) continue;
    const filters = new Map(place.filters);
    filters.delete(facet.name);
    const value = labelOf(facet, place.filters.get(facet.name));
    list.push({ title: facet.title, value, without: { ...dropped, filters } });
  }
  if (place.flagged) {
    list.push({ title: "", value: shelf.flag, without: { ...dropped, flagged: false } });
  }
  if (place.words) {
    const value = `“${place.words}”`;
    list.push({ title: "Words", value, without: { ...dropped, words: "" } });
  }
  return list;
}

const TYPING = 150; // ms without a key before the search begins

/**
 * The controls of a shelf. `change(part, replace)` is told what changes in the place; `replace`
 * leaves no step in the history.
 */
class Filters {
  constructor(shelf, change, showAll) {
    this.change = change;
    this.place = placeOf(shelf.audit);
    this.search = el("input", {
      type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
    });
    this.timer = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.tell({}, true), TYPING);
    });
    this.selects = shelf.facets.filter((facet) => facet.values.length > 1).map((facet) => {
      const select = el("select");
      select.addEventListener("change", () => {
        const filters = new Map(this.place.filters);
        if (select.selectedIndex <= 0) filters.delete(facet.name);
        else filters.set(facet.name, select.chosen[select.selectedIndex - 1]);
        this.tell({ filters });
      });
      return { facet, select };
    });
    this.sort = el(
      "select", {},
      option("worst", "Worst first"),
      ...shelf.numbers.flatMap(({ name, title }) => [
        option(`-${name}`, `${title}, highest first`),
        option(name, `${title}, lowest first`),
      ]),
      option("id", "Identifier"),
    );
    this.sort.addEventListener("change", () => this.tell({ sort: this.sort.value }));
    this.flagged = switchFor("Findings only", (flagged) => this.tell({ flagged }));
    this.texts = switchFor("Show all texts", showAll);
    this.form = el(
      "form", { class: "filters", role: "search", "aria-label": `Filter the ${shelf.title}` },
      field("Search all texts", this.search, "search"),
      ...this.selects.map(({ facet, select }) => field(facet.title, select)),
      field("Order", this.sort),
      el("div", { class: "switches" }, this.flagged.label, this.texts.label),
    );
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.tell({});
    });
  }

  /** What has been typed goes along with every change, so that none undoes it. */
  tell(part, replace = false) {
    clearTimeout(this.timer);
    this.change({ words: this.search.value.trim(), ...part }, replace);
  }

  /** Make the controls say what the place says. */
  show(place, counts) {
    this.place = place;
    const typing = document.activeElement === this.search && place.words;
    if (!typing && this.search.value.trim() !== place.words) this.search.value = place.words;
    this.sort.value = place.sort;
    this.flagged.box.checked = place.flagged;
    this.texts.box.checked = COVERS.all;
    for (const { facet, select } of this.selects) {
      const chosen = place.filters.get(facet.name);
      const count = counts?.get(facet.name) ?? null;
      // Values that would leave nothing are left out, but for the one chosen.
      const values = facet.values.filter((value, at) => !count || count[at] || value === chosen);
      if (chosen !== undefined && !values.includes(chosen)) values.push(chosen);
      select.chosen = values;
      select.replaceChildren(
        option("", "all"),
        ...values.map((value, at) => {
          const number = count?.[facet.values.indexOf(value)] ?? (count ? 0 : null);
          const text = labelOf(facet, value);
          return option(String(at), number === null ? text : `${text} (${whole(number)})`);
        }),
      );
      select.selectedIndex = chosen === undefined ? 0 : values.indexOf(chosen) + 1;
      select.parentElement.classList.toggle("set", chosen !== undefined);
    }
  }
}
