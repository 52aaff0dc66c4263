// The pane of one item: what can be done with it above, what it is below.

/** What stands there while no item is open. */
function hintView(shelf) {
  return el(
    "p", { class: "hint" },
    `Choose one of the ${shelf.title}. `,
    el(
      "span", { class: "keys-hint" }, "In the list, ", el("kbd", {}, "j"), " and ",
      el("kbd", {}, "k"), " or the arrow keys go from one to the next; ", el("kbd", {}, "Esc"),
      " leads back to the list. ",
    ),
    COVERS.all ? null : "Prompts and replies are covered until you ask for them.",
  );
}

/**
 * An item with its tools.
 *
 * @param {Object} item
 * @param {Object} shelf
 * @param {string[]} words that a search looks for
 * @param {{position: number, matched: number, around: (string|null)[]}} among the list's items;
 *   position -1 where it is not one of them
 * @param {{open: Function, close: Function, cover: Function}} acts
 * @returns {Node[]}
 */
function detailView(item, shelf, words, among, acts) {
  const shown = COVERS.shows(shelf.audit, item.id);
  const [before = null, after = null] = among.around;
  return [
    toolsView(item, shelf, shown, { ...among, before, after }, acts),
    el("h3", { tabindex: "-1" }, nameOf(item, shown)),
    el(
      "p", { class: "why" },
      item.flagged ? el("span", { class: "finding" }, said(shelf.flag)) : null,
      item.why ? said(item.why) : null,
    ),
    el(
      "div", { class: "sides" },
      ...item.sides.map((side, at) => sideView(side, shown, words, at)),
    ),
    aboutView(item, shelf),
  ];
}

function toolsView(item, shelf, shown, { position, matched, before, after }, acts) {
  const step = (text, id, name) => button(
    text,
    () => id !== null && acts.open(id),
    { class: `step ${name}`, "aria-disabled": String(id === null) },
  );
  const cover = button(
    "Show text", () => acts.cover(shown), { class: "cover", "aria-pressed": String(shown) },
  );
  const copied = el("span", { class: "copied", role: "status" });
  return el(
    "div", { class: "tools" },
    step("Previous", before, "before"), step("Next", after, "after"),
    position < 0 ? null : el(
      "span", { class: "position" }, `${whole(position + 1)} of ${whole(matched)}`,
    ),
    el("span", { class: "gap" }),
    COVERS.all ? null : cover,
    button("Copy link", () => copyLink(itemLink(shelf.audit, item.id), copied)),
    button("Back to the list", () => acts.close(), { class: "close" }),
    copied,
  );
}

async function copyLink(hash, told) {
  const address = new URL(hash, location.href).href;
  try {
    await navigator.clipboard.writeText(address);
    told.replaceChildren("Link copied.");
  } catch {
    const shown = el("input", { type: "text", readonly: true, "aria-label": "Link", value: address });
    told.replaceChildren("Copy it from here: ", shown);
    shown.focus();
    shown.select();
  }
}
