// A table of the page as CSV, with all the digits that the page has.

const FORMULA = /^\s*[=+\-@\t\r＝＋－＠]/u;
const NUMBER = /^[−-]?\d+(?:\.\d+)?(?:e[+−-]?\d+)?$/i;

/**
 * A cell of CSV. A spreadsheet would run what begins like a formula, so an apostrophe goes before
 * it; a number is a number, also one with a true minus.
 */
function csvCell(value) {
  let text = clean(value).replace(/\s+/g, " ").trim();
  if (NUMBER.test(text)) text = text.replaceAll("−", "-");
  else if (FORMULA.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a cell without its interval, and the interval's text. */
function cellParts(cell) {
  const copy = cell.cloneNode(true);
  const intervals = [...copy.querySelectorAll(".ci")];
  const interval = intervals.map((one) => one.textContent.trim()).join(" ");
  intervals.forEach((one) => one.remove());
  return { text: copy.textContent, interval };
}

/** Rows of cells, spans filled in: [[cell or null, …], …]; the first place of a span holds it. */
function gridOf(rows) {
  const grid = [...rows].map(() => []);
  [...rows].forEach((row, at) => {
    let column = 0;
    for (const cell of row.cells) {
      while (grid[at][column] !== undefined) column += 1;
      for (let down = 0; down < cell.rowSpan && at + down < grid.length; down += 1) {
        for (let right = 0; right < cell.colSpan; right += 1) {
          grid[at + down][column + right] = { cell, first: down === 0 && right === 0 };
        }
      }
      column += cell.colSpan;
    }
  });
  return grid;
}

/** The table's rows as texts, header first: bounds of a figure make columns of their own. */
function tableRows(table) {
  const head = gridOf(table.tHead ? table.tHead.rows : []);
  const body = gridOf([...table.tBodies].flatMap((part) => [...part.rows]));
  const width = Math.max(0, ...[...head, ...body].map((row) => row.length));
  const columns = [...Array(width).keys()].map((at) => {
    const cells = body.map((row) => row[at]).filter((one) => one?.first).map((one) => one.cell);
    return {
      title: [...new Set(head.map((row) => row[at]?.cell.textContent.trim()).filter(Boolean))]
        .join(": "),
      bounds: cells.some((cell) => cell.dataset.lower !== undefined),
      interval: cells.some((cell) => cell.dataset.lower === undefined && cellParts(cell).interval),
    };
  });
  const rows = head.length
    ? [columns.flatMap(({ title, bounds, interval }) => [
      title,
      ...(bounds ? [`${title} lower`, `${title} upper`] : []),
      ...(interval ? [`${title} interval`] : []),
    ])]
    : [];
  for (const row of body) {
    rows.push(columns.flatMap(({ bounds, interval }, at) => {
      const cell = row[at]?.first ? row[at].cell : null;
      const parts = cell ? cellParts(cell) : { text: "", interval: "" };
      return [
        cell?.dataset.value ?? parts.text,
        ...(bounds ? [cell?.dataset.lower ?? "", cell?.dataset.upper ?? ""] : []),
        ...(interval ? [cell?.dataset.lower === undefined ? parts.interval : ""] : []),
      ];
    }));
  }
  return rows;
}

function tableCsv(table) {
  return `${tableRows(table).map((row) => row.map(csvCell).join(",")).join("\r\n")}\r\n`;
}
