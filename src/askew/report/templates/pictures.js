// A figure of the page as a file of its own: SVG that needs no style sheet, or PNG.

// What a style sheet of ours may say about a mark.
const DRAWN = [
  "display", "visibility", "opacity", "fill", "fill-opacity", "stroke", "stroke-width",
  "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order",
  "font-family", "font-size", "font-weight", "font-style", "font-variant-numeric",
  "letter-spacing", "text-anchor", "dominant-baseline", "transform-box", "transform-origin",
];
const SVG_SPACE = "http://www.w3.org/2000/svg";

/** Run something while the page has its light colours; nothing is painted in between. */
function inLight(act) {
  const { dataset } = document.documentElement;
  const before = dataset.theme;
  dataset.theme = "light";
  try {
    return act();
  } finally {
    if (before === undefined) delete dataset.theme;
    else dataset.theme = before;
  }
}

/** The picture as SVG text on white, with its size in CSS pixels. */
function pictureSvg(svg) {
  const drawn = svg.getBoundingClientRect();
  const view = svg.viewBox.baseVal;
  const box = view && view.width
    ? [view.x, view.y, view.width, view.height]
    : [0, 0, drawn.width, drawn.height];
  // A picture that something else stands in for at the moment has no size on the page.
  const [width, height] = drawn.width ? [drawn.width, drawn.height] : box.slice(2);
  const copy = svg.cloneNode(true);
  inLight(() => {
    const [shown, made] = [svg, copy].map((top) => [top, ...top.querySelectorAll("*")]);
    shown.forEach((mark, at) => {
      const style = getComputedStyle(mark);
      for (const name of DRAWN) {
        const value = style.getPropertyValue(name);
        if (value) made[at].style.setProperty(name, value);
      }
    });
  });
  for (const mark of [copy, ...copy.querySelectorAll("*")]) {
    for (const { name } of [...mark.attributes]) {
      // A place in the page, a control of the page, a class of the page: nothing of a picture's.
      if (/^(class|tabindex|role|aria-|data-|on|focusable)/.test(name)) mark.removeAttribute(name);
    }
  }
  for (const anchor of [...copy.querySelectorAll("a")]) {
    const group = document.createElementNS(SVG_SPACE, "g");
    group.setAttribute("style", anchor.getAttribute("style") ?? "");
    group.append(...anchor.childNodes);
    anchor.replaceWith(group);
  }
  const white = document.createElementNS(SVG_SPACE, "rect");
  ["x", "y", "width", "height"].forEach((name, at) => white.setAttribute(name, box[at]));
  white.setAttribute("fill", "#fff");
  copy.prepend(white);
  copy.setAttribute("xmlns", SVG_SPACE);
  copy.setAttribute("viewBox", box.join(" "));
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  copy.style.removeProperty("display");
  // What XML cannot hold is named; the page's own texts have had it named before.
  const text = clean(new XMLSerializer().serializeToString(copy));
  return { text, width, height };
}

const SHARP = 2; // pixels of a PNG to a CSS pixel
const LARGEST = 8192; // pixels a side that every browser's canvas takes

async function picturePng(svg) {
  const { text, width, height } = pictureSvg(svg);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const scale = Math.min(SHARP, LARGEST / width, LARGEST / height);
    const canvas = el("canvas");
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done, failed) => {
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("no picture"))), "image/png");
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
