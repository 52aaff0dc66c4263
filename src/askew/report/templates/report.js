// What runs once the page is there: colours, downloads, and the explorer of the items.

async function startExplorer() {
  const root = document.getElementById("explorer");
  if (!root) return null;
  COVERS.recall();
  try {
    const source = await openSource();
    if (!source) return null;
    const explorer = new Explorer(root, source);
    await explorer.ready;
    root.dataset.ready = "yes";
    return explorer;
  } catch (fault) {
    const text = fault instanceof Fault ? fault.message : `The items cannot be shown: ${fault.message}`;
    root.replaceChildren(el("p", { class: "notice", role: "alert" }, text));
    if (!(fault instanceof Fault)) console.error(fault);
    return null;
  }
}

startTheme();
startDownloads();
// After the first paint: thousands of items take a moment to unpack.
requestAnimationFrame(() => setTimeout(startExplorer, 0));
