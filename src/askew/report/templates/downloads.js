// Buttons below figures and tables that save them as files.

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** A file name out of a caption: letters and digits of ASCII, words joined by hyphens. */
function fileName(text, ending) {
  const words = text.normalize("NFKD").toLowerCase().match(/[a-z0-9]+/g) ?? ["askew"];
  return `${words.join("-").slice(0, 80)}.${ending}`;
}

function downloadButton(kind, what, act) {
  const told = el("span", { class: "told", role: "status" });
  const pressed = async () => {
    try {
      told.textContent = "";
      await act();
    } catch (fault) {
      told.textContent = clean(`This could not be saved: ${fault.message}`);
    }
  };
  const made = button(kind, pressed, { "aria-label": `Download as ${kind}: ${what}` });
  return [made, told];
}

function startDownloads() {
  for (const figure of document.querySelectorAll("figure[data-download]")) {
    const svg = figure.querySelector("svg");
    if (!svg) continue;
    const name = figure.dataset.download;
    const what = figure.querySelector("figcaption")?.textContent.trim() || name;
    figure.append(el(
      "p", { class: "downloads" },
      ...downloadButton("SVG", what, () => save(
        new Blob([pictureSvg(svg).text], { type: "image/svg+xml" }), fileName(name, "svg"),
      )),
      ...downloadButton("PNG", what, async () => save(await picturePng(svg), fileName(name, "png"))),
    ));
  }
  for (const table of document.querySelectorAll(".scroll > table")) {
    const what = table.caption?.textContent.trim() || "table";
    const name = table.dataset.download ?? what;
    table.parentElement.after(el(
      "p", { class: "downloads" },
      ...downloadButton("CSV", what, () => save(
        // The mark at the beginning tells spreadsheets that it is UTF-8.
        new Blob(["\ufeff", tableCsv(table)], { type: "text/csv" }), fileName(name, "csv"),
      )),
    ));
  }
}
