// What people and models wrote may hurt, so it is covered until asked for: item by item, or all
// texts at once, which this tab remembers. A covered text is nowhere in the document.

const COVERS = {
  all: false,
  open: new Set(),
  key: "askew-show-texts",

  // Storage may be missing or forbidden, as on some pages opened from disk.
  recall() {
    try {
      this.all = sessionStorage.getItem(this.key) === "yes";
    } catch {
      this.all = false;
    }
  },

  showAll(all) {
    this.all = all;
    this.open.clear();
    try {
      sessionStorage.setItem(this.key, all ? "yes" : "no");
    } catch {
      // The switch then holds until the page is closed.
    }
  },

  shows(audit, id) {
    return this.all || this.open.has(`${audit}/${id}`);
  },

  show(audit, id, shown) {
    if (shown) this.open.add(`${audit}/${id}`);
    else this.open.delete(`${audit}/${id}`);
  },
};
