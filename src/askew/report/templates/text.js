// Elements and texts. What a model or a data file wrote becomes a text node here and nothing else.

// Named instead of shown, as on the rest of the page: control characters, half surrogate pairs,
// what HTML forbids, and the marks that turn the text around them from right to left.
// Invisible signs as well; those that join emoji and Persian letters stay.
const STEERS =
  /(?![\n\t])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}\u180e\u200b\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

function clean(text) {
  return String(text)
    .replaceAll("\r\n", "\n")
    .replace(STEERS, (sign) => {
      const code = sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      return `⟨U+${code}⟩`;
    });
}

// The only attributes that `el` sets; none of them can run anything or reach the network.
const ATTRIBUTES = new Set([
  "class", "id", "for", "type", "role", "tabindex", "dir", "value", "hidden", "scope", "colspan",
  "placeholder", "autocomplete", "spellcheck", "enterkeyhint", "readonly", "start",
]);

/**
 * An element with safe attributes and children.
 *
 * @param {string} tag
 * @param {Object<string, string|boolean|null>} attributes null and false are left out
 * @param {...(Node|string|null)} children strings become text nodes
 */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (!ATTRIBUTES.has(name) && !name.startsWith("aria-")) throw new TypeError(name);
    made.setAttribute(name, value === true ? "" : clean(value));
  }
  made.append(...children.filter((child) => child !== null).map(node));
  return made;
}

function node(child) {
  return typeof child === "string" ? document.createTextNode(clean(child)) : child;
}

/** A text of somebody else's in a line of ours: its direction is its own affair. */
function said(text, name = "") {
  return el("bdi", { dir: "auto", class: name || null }, text);
}

/** A link to a place in this page; `hash` begins with # whatever the data hold. */
function link(hash, attributes, ...children) {
  if (!hash.startsWith("#")) throw new TypeError(hash);
  const made = el("a", attributes, ...children);
  made.setAttribute("href", hash);
  return made;
}

function button(text, act, attributes = {}) {
  const made = el("button", { type: "button", ...attributes }, text);
  made.addEventListener("click", act);
  return made;
}

/** For screen readers alone. */
function spoken(text) {
  return el("span", { class: "spoken" }, text);
}

const WHOLE = new Intl.NumberFormat("en-GB");

function whole(number) {
  return WHOLE.format(number);
}

/** A figure with so many digits; undefined is a dash, never 0. */
function figure(number, digits) {
  if (typeof number !== "number" || !Number.isFinite(number)) return "–";
  const text = number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
}
