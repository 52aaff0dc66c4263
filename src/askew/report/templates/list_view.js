// The list of items, a page at a time.

const PAGE = 50; // items of a list at a time

class ListView {
  /** @param {(step: number) => void} turn goes to the page before (-1) or after (1) */
  constructor(turn) {
    this.rows = el("ol", { class: "rows" });
    this.pages = el("p", { class: "page-number" });
    this.before = button("Previous page", () => turn(-1), { class: "step" });
    this.after = button("Next page", () => turn(1), { class: "step" });
    this.pager = el("div", { class: "pager" }, this.before, this.pages, this.after);
    this.root = el("div", { class: "side-list" }, this.rows, this.pager);
  }

  draw({ items, matched }, place, shelf, held) {
    const first = (place.page - 1) * PAGE + 1;
    this.rows.replaceChildren(...items.map((item) => rowView(item, shelf, place)));
    this.rows.start = first;
    if (!items.length) {
      const why = held
        ? "Nothing is left. Remove a filter or search for less."
        : `This run has no ${shelf.title}.`;
      this.rows.append(el("li", { class: "empty" }, why));
    }
    this.pages.textContent = `${whole(first)} to ${whole(first + items.length - 1)}`;
    this.pager.hidden = matched <= PAGE;
    const last = Math.ceil(matched / PAGE);
    this.before.setAttribute("aria-disabled", String(place.page <= 1));
    this.after.setAttribute("aria-disabled", String(place.page >= last));
  }

  /** The links of the list. */
  links() {
    return [...this.rows.querySelectorAll("a.row")];
  }

  /** Mark the item that is open, and bring it into view within the list. */
  markOpen(id) {
    for (const row of this.links()) {
      if (id !== null && wellFormed(row.itemId) === wellFormed(id)) {
        row.setAttribute("aria-current", "true");
        keepInView(row, this.root);
      } else {
        row.removeAttribute("aria-current");
      }
    }
  }
}

/** An item in the list: its name, what sort it is, what came of its sides, the number sorted by. */
function rowView(item, shelf, place) {
  const sorted = shelf.numbers.findIndex((one) => one.name === place.sort.replace(/^-/, ""));
  const sorts = shelf.facets
    .map((facet, at) => (place.filters.has(facet.name) ? null : facet.labels[item.facets[at]]))
    .filter(Boolean)
    .slice(0, 3);
  const row = link(
    writePlace({ ...place, id: item.id }),
    { class: item.flagged ? "row flagged" : "row" },
    el("span", { class: "title" }, nameOf(item, COVERS.shows(shelf.audit, item.id))),
    item.flagged ? spoken(`, ${shelf.flag}`) : null,
    el("span", { class: "sorts" }, ...sorts.flatMap((sort, at) => [at ? " · " : "", said(sort)])),
    el(
      "span", { class: "outcomes" }, ...badges(item.sides),
      sorted < 0 ? null : el(
        "span", { class: "number" },
        spoken(`${shelf.numbers[sorted].title} `),
        figure(item.numbers[sorted], shelf.numbers[sorted].digits),
      ),
    ),
  );
  row.itemId = item.id;
  return el("li", {}, row);
}

/** Scroll a box, and nothing around it, until a row of it is seen. */
function keepInView(row, box) {
  const [inner, outer] = [row.getBoundingClientRect(), box.getBoundingClientRect()];
  if (inner.top < outer.top) box.scrollTop -= outer.top - inner.top;
  else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom;
}
