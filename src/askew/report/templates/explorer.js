// The explorer: everything that it shows follows from the place behind the # of the address, so a
// link, a reload and the browser's back and forward all lead to the same view.

class Explorer {
  constructor(root, source) {
    this.root = root;
    this.source = source;
    this.place = null;
    this.shelf = null;
    this.drawn = 0; // tells an answer that comes too late from the newest
    this.focus = null; // what gets the focus once the next view is drawn
    this.build();
    window.addEventListener("hashchange", () => this.follow());
    document.addEventListener("click", (event) => this.clicked(event));
    this.root.addEventListener("keydown", (event) => this.pressed(event));
    if (readPlace(location.hash)) this.focus = "arrival";
    this.ready = this.follow();
  }

  build() {
    const { shelves } = this.source;
    this.tabs = shelves.map((shelf, at) => el(
      "button",
      { type: "button", role: "tab", id: `explorer-tab-${at}`, "aria-controls": "explorer-panel" },
      `${shelf.title[0].toUpperCase()}${shelf.title.slice(1)} `,
      el("span", { class: "count" }, whole(shelf.total)),
    ));
    this.tabs.forEach((tab, at) => {
      tab.addEventListener("click", () => this.go(placeOf(shelves[at].audit)));
    });
    this.notice = el("p", { class: "notice", role: "alert", hidden: true });
    this.controls = el("div", { class: "controls" });
    this.chips = el("ul", { class: "chips", "aria-label": "Filters in force" });
    this.status = el("p", { class: "status", role: "status", tabindex: "-1" });
    this.note = el("p", { class: "note" });
    this.list = new ListView((step) => this.turn(step));
    this.detail = el("section", { class: "detail", "aria-label": "Item" });
    this.panel = el(
      "div",
      { class: "panel", id: "explorer-panel", role: shelves.length > 1 ? "tabpanel" : null },
      this.notice,
      this.controls,
      el("div", { class: "result" }, this.status, this.chips),
      this.note,
      el(
        "div", { class: "panes" },
        this.list.root,
        this.detail,
      ),
    );
    this.root.replaceChildren(
      ...(shelves.length > 1
        ? [el("div", { class: "tabs", role: "tablist", "aria-label": "Audits" }, ...this.tabs)]
        : []),
      this.panel,
    );
  }

  // Going from place to place

  go(place, replace = false) {
    const hash = writePlace(place);
    if (hash === location.hash) {
      this.follow();
    } else if (replace) {
      location.replace(hash);
    } else {
      location.hash = hash;
    }
  }

  change(part, replace = false) {
    this.go({ ...this.place, id: null, page: 1, ...part }, replace);
  }

  turn(step) {
    const page = this.place.page + step;
    if (page < 1 || page > Math.max(1, Math.ceil(this.matched / PAGE))) return;
    this.go({ ...this.place, id: null, page });
  }

  /** Draw what the address says. */
  async follow() {
    const place = location.hash === "" || !this.place
      ? readPlace(location.hash) ?? placeOf("")
      : readPlace(location.hash);
    if (place === null) return; // an address of another part of the page
    this.drawn += 1;
    const turn = this.drawn;
    try {
      await this.draw(place, turn);
    } catch (fault) {
      if (turn === this.drawn) this.tell(fault);
    }
  }

  tell(fault) {
    this.say(fault instanceof Fault ? fault.message : `This cannot be shown: ${fault.message}`);
    if (!(fault instanceof Fault)) console.error(fault);
  }

  say(text) {
    this.notice.hidden = !text;
    this.notice.textContent = clean(text);
  }

  // Drawing

  async draw(asked, turn) {
    const { shelf, complaints, ...found } = answerable(asked, this.source.shelves);
    let { place } = found;
    let position = -1;
    let item = null;
    if (place.id !== null) {
      item = await this.source.item(shelf.audit, place.id);
      if (item) position = await this.source.position(place);
      else complaints.push(missingWords(shelf, this.source.held(shelf.audit), place.id));
      if (position >= 0) place = { ...place, page: Math.floor(position / PAGE) + 1 };
    }
    let answer = await this.source.page({ ...place, id: null }, (place.page - 1) * PAGE, PAGE);
    const last = Math.max(1, Math.ceil(answer.matched / PAGE));
    if (place.page > last) {
      place = { ...place, page: last };
      answer = await this.source.page({ ...place, id: null }, (last - 1) * PAGE, PAGE);
    }
    const around = position < 0 ? [] : await this.beside(place, position);
    if (turn !== this.drawn) return;

    if (this.shelf !== shelf) this.enter(shelf);
    const covers = `${COVERS.all} ${[...COVERS.open]}`; // they change the names in the list
    const stayed = sameList(place, this.place);
    const listed = stayed && this.covers === covers;
    this.covers = covers;
    this.place = place;
    this.matched = answer.matched;
    this.say(complaints.join(" "));
    this.filters.show(place, answer.counts);
    this.drawResult(answer);
    const held = this.source.held(shelf.audit);
    if (!listed) this.list.draw(answer, place, shelf, held);
    if (!stayed) this.list.root.scrollTop = 0;
    this.list.markOpen(place.id);
    this.drawItem(item, position, around);
    this.settle(item !== null);
  }

  /** The ids before and after a position, null at the ends. */
  async beside(place, position) {
    const start = Math.max(0, position - 1);
    const { items } = await this.source.page({ ...place, id: null, page: 1 }, start, 3);
    const at = position - start;
    return [items[at - 1]?.id ?? null, items[at + 1]?.id ?? null];
  }

  enter(shelf) {
    this.shelf = shelf;
    this.filters = new Filters(
      shelf,
      (part, replace) => this.change(part, replace),
      (all) => {
        COVERS.showAll(all);
        this.follow();
      },
    );
    this.controls.replaceChildren(this.filters.form);
    this.note.textContent = clean(shelf.note);
    this.note.hidden = !shelf.note;
    this.list.rows.setAttribute("aria-label", clean(shelf.title));
    this.place = null;
    this.tabs.forEach((tab, at) => {
      const chosen = this.source.shelves[at] === shelf;
      tab.setAttribute("aria-selected", String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      if (chosen && this.tabs.length > 1) this.panel.setAttribute("aria-labelledby", tab.id);
    });
  }

  drawResult({ matched }) {
    const { shelf, place } = this;
    const inForce = filtersOf(place, shelf);
    const held = this.source.held(shelf.audit);
    const words = inForce.map(({ title, value }) => (title ? `${title}: ${value}` : value));
    const text = `${whole(matched)} of ${whole(held)} ${shelf.title}`;
    if (this.status.dataset.key !== writePlace({ ...place, id: null })) {
      this.status.replaceChildren(
        el("strong", {}, whole(matched)), text.slice(whole(matched).length),
        ...(words.length ? [spoken(`, filtered by ${words.join(", ")}`)] : []),
      );
      this.status.dataset.key = writePlace({ ...place, id: null });
    }
    const chips = inForce.map(({ title, value, without }) => el(
      "li", {},
      button("", () => this.drop(without), { class: "chip" }),
    ));
    chips.forEach((chip, at) => {
      const { title, value } = inForce[at];
      chip.firstChild.append(
        spoken("Remove the filter "),
        ...(title ? [`${title}: `] : []),
        said(value),
        el("span", { class: "cross", "aria-hidden": "true" }, "×"),
      );
    });
    if (chips.length > 1) {
      const all = button("Clear all", () => this.drop(placeOf(shelf.audit, { sort: place.sort })));
      all.className = "clear";
      chips.push(el("li", {}, all));
    }
    this.chips.replaceChildren(...chips);
    this.chips.hidden = !chips.length;
  }

  drop(place) {
    this.focus = "status";
    this.go(place);
  }

  drawItem(item, position, around) {
    this.root.classList.toggle("opened", item !== null);
    this.around = around;
    if (item === null) {
      this.detail.replaceChildren(hintView(this.shelf));
      return;
    }
    const { shelf, place, matched } = this;
    const acts = {
      open: (id) => this.open(id, "keep"),
      close: () => this.close(),
      cover: (covered) => {
        COVERS.show(shelf.audit, item.id, !covered);
        this.focus = "cover";
        this.follow();
      },
    };
    this.detail.replaceChildren(
      ...detailView(item, shelf, wordsOf(place.words), { position, matched, around }, acts),
    );
  }

  // Focus and keys

  /** Put the focus where the last act asks for it, now that the view is drawn. */
  settle(opened) {
    const { focus } = this;
    this.focus = null;
    const heading = this.detail.querySelector("h3");
    const landed = opened ? heading : this.notice.hidden ? this.status : this.notice;
    if (focus === "arrival") {
      (opened && this.stacked() ? this.detail : this.root).scrollIntoView({ block: "start" });
      if (landed === this.notice) this.notice.tabIndex = -1;
      landed.focus({ preventScroll: true });
    } else if (focus === "heading" && heading) {
      heading.focus({ preventScroll: true });
      if (this.stacked()) this.detail.scrollIntoView({ block: "start" });
    } else if (focus === "row") {
      this.list.links().find((row) => row.ariaCurrent)?.focus();
    } else if (focus === "status") {
      this.status.focus({ preventScroll: true });
    } else if (focus) {
      const wanted = this.detail.querySelector(`.${focus}`);
      (wanted ?? heading ?? this.status).focus({ preventScroll: true });
    }
  }

  /** Whether the item stands below the list instead of beside it. */
  stacked() {
    return this.detail.getBoundingClientRect().left < this.list.rows.getBoundingClientRect().right;
  }

  /** Open an item of the list; `focus` as in `settle`, "keep" for the control that was used. */
  open(id, focus) {
    const used = document.activeElement;
    if (focus === "keep") {
      this.focus = ["before", "after"].find((name) => used.classList.contains(name)) ?? "heading";
    } else {
      this.focus = focus;
    }
    this.go({ ...this.place, id }, focus !== "heading");
  }

  close() {
    const { id } = this.place;
    this.go({ ...this.place, id: null });
    const row = this.list.links().find((one) => one.itemId === id);
    (row ?? this.status).focus();
  }

  clicked(event) {
    const at = event.target.closest?.("a");
    const hash = at?.getAttribute("href");
    if (!hash || !/^#items?(\/|\?|$)/.test(hash) || event.ctrlKey || event.metaKey) return;
    if (this.root.contains(at)) {
      // With a mouse beside the list, the list keeps the focus, so that j and k go on from there.
      this.focus = event.detail === 0 || this.stacked() ? "heading" : null;
    } else {
      this.focus = "arrival";
    }
    if (hash === location.hash) this.follow();
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const tab = this.tabs.indexOf(event.target);
    if (tab >= 0) {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = this.tabs.at((tab + step) % this.tabs.length);
      next.focus();
      next.click();
      return;
    }
    const inList = this.list.rows.contains(event.target);
    const inDetail = this.detail.contains(event.target);
    if (inDetail && event.key === "Escape") {
      this.close();
      return;
    }
    const letter = { j: 1, k: -1 }[event.key];
    if (inDetail && letter) {
      const id = this.around[letter > 0 ? 1 : 0];
      if (id !== null && id !== undefined) this.open(id, "h3");
      return;
    }
    const step = letter ?? { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!inList || !step) return;
    event.preventDefault();
    const rows = this.list.links();
    const next = rows[rows.indexOf(event.target) + step];
    if (next) this.open(next.itemId, "row");
    else if (step > 0) this.turn(1);
  }
}
