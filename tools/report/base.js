"use strict";
// Elements, numbers and tables. Text from the data becomes text nodes only, never markup.

const report = {};

report.data = JSON.parse(document.getElementById("data").textContent);

/** Creates an element; children are elements, texts, or lists of these; null is skipped. */
report.element = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined) made.append(child);
  }
  return made;
};

/** Formats numbers with a fixed number of digits, so that columns align. */
report.format = {
  number: (value, digits = 0) => value === null || value === undefined ? "–"
    : value.toLocaleString("en-US", {minimumFractionDigits: digits, maximumFractionDigits: digits}),
  us: value => value === null || value === undefined ? "–"
    : report.format.number(value, value < 100 ? 2 : value < 1000 ? 1 : 0),
  percent: (value, digits = 1) => {
    if (value === null || value === undefined) return "–";
    const text = report.format.number(Math.abs(value), digits);
    return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
  },
  error: value => value === null || value === undefined ? "–"
    : value === 0 ? "0" : value.toExponential(1),
  ratio: value => `${report.format.number(value, value < 10 ? 2 : 1)}×`,
  time: text => text ? `${text.slice(0, 10)} ${text.slice(11, 19)} UTC` : "–",
  count: (number, noun) => `${report.format.number(number)} ${noun}${number === 1 ? "" : "s"}`,
};

/** The sort key of a cell: its leading number if there is one, else its text; dashes come last. */
report.sortKey = cell => {
  const text = cell.textContent.trim();
  if (text === "–" || text === "") return {rank: 2};
  const number = /^[+−-]?[\d,]*\.?\d+(e[+-]?\d+)?/.exec(text);
  return number ? {rank: 0, number: Number(number[0].replaceAll(",", "").replace("−", "-"))} : {rank: 1, text};
};

report.compareKeys = (a, b) => a.rank - b.rank
  || (a.rank === 0 ? a.number - b.number : a.rank === 1 ? a.text.localeCompare(b.text) : 0);

/** Sorts the rows of a table by a column; unknown values stay last. */
report.sortTable = (table, place, ascending) => {
  const body = table.tBodies[0];
  const rows = [...body.rows].map(row => ({row, key: report.sortKey(row.cells[place])}));
  rows.sort((a, b) => a.key.rank === 2 || b.key.rank === 2 || ascending
    ? report.compareKeys(a.key, b.key) : report.compareKeys(b.key, a.key));
  body.append(...rows.map(({row}) => row));
  [...table.tHead.rows[0].cells].forEach((head, i) => {
    if (i === place) head.setAttribute("aria-sort", ascending ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
};

/** A heading that sorts its table. */
report.sortingHead = (column, place, isSortable) => {
  const attributes = {scope: "col", class: column.numeric ? "number" : null};
  if (!isSortable) return report.element("th", attributes, column.label);
  const button = report.element("button", {type: "button", class: "sort", onclick: () => {
    const head = button.closest("th");
    report.sortTable(button.closest("table"), place, head.getAttribute("aria-sort") !== "ascending");
  }}, column.label);
  return report.element("th", attributes, button);
};

/**
 * A table in its own scrolling box, so that the page never scrolls sideways. Clicking a heading
 * sorts the table if all rows are of one kind (isSortable).
 * columns: {label, numeric, wide}; rows: lists of texts or elements.
 */
report.table = (caption, columns, rows, isSortable = true) => {
  const {element} = report;
  const head = columns.map((column, i) => report.sortingHead(column, i, isSortable && rows.length > 1));
  const line = row => element("tr", {}, row.map((cell, i) => i === 0
    ? element("th", {scope: "row", class: columns[i].numeric ? "number" : null}, cell)
    : element("td", {class: columns[i].numeric ? "number" : columns[i].wide ? "long" : null}, cell)));
  return element("div", {class: "scroll", role: "group", tabindex: "0", "aria-label": caption},
    element("table", {}, element("caption", {}, element("span", {}, caption)),
      element("thead", {}, element("tr", {}, head)),
      element("tbody", {}, rows.map(line))));
};

/** Content under a line that unfolds it. `make` is called when it is first opened. */
report.folded = (summary, make, open = false) => {
  const {element} = report;
  const box = element("details", {open});
  box.append(element("summary", {}, summary));
  const fill = () => {
    if (box.open && box.childElementCount === 1) box.append(make());
  };
  box.addEventListener("toggle", fill);
  fill();
  return box;
};

/** A sentence about missing data of a run. */
report.lacks = sentence => report.element("p", {class: "lacks"}, sentence);

report.note = (...text) => report.element("p", {class: "note"}, ...text);

/** A list of terms and values; terms without a value are skipped. */
report.facts = (pairs, className = "facts") => report.element("dl", {class: className},
  pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([term, value]) => report.element("div", {},
      report.element("dt", {}, term), report.element("dd", {}, value))));

/** A command or a text to copy. */
report.command = (label, text) => {
  const {element} = report;
  const said = element("span", {class: "said", role: "status"});
  const copy = element("button", {type: "button", onclick: async () => {
    try {
      await navigator.clipboard.writeText(text);
      said.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      said.textContent = "selected";
    }
  }}, "Copy");
  const code = element("code", {}, text);
  return element("div", {class: "command"},
    element("div", {class: "command-head"}, element("span", {}, label), said, copy),
    element("pre", {tabindex: "0", "aria-label": label}, code));
};

/** Radio buttons; `choose` gets the value. */
report.choice = (legend, name, options, chosen, choose) => report.element("fieldset",
  {class: "choice"}, report.element("legend", {}, legend),
  options.map(([value, label]) => report.element("label", {},
    report.element("input", {type: "radio", name, value, checked: value === chosen,
      onchange: () => choose(value)}), label)));

report.select = (label, options, chosen, choose) => report.element("label", {class: "select"},
  report.element("span", {}, label),
  report.element("select", {onchange: event => choose(event.target.value)},
    options.map(([value, text]) => report.element("option",
      {value, selected: value === chosen}, text))));

/** The word at an index of a column of words. */
report.word = (column, at) => column.values[at] === null ? null : column.words[column.values[at]];

report.isPredicted = run => run.device.kind === "predicted";
/** Members of the elite after the winner, before the first that is no tie with the one above. */
report.ties = run => {
  const others = run.elite.slice(1);
  const end = others.findIndex(row => row.ratio_to_above === null || row.ratio_to_above === undefined);
  return end < 0 ? others : others.slice(0, end);
};
report.kind = run => report.isPredicted(run) ? "PREDICTED" : "measured";
/** "time, µs (PREDICTED)". */
report.timeName = run => `time, µs${report.isPredicted(run) ? " (PREDICTED)" : ""}`;
