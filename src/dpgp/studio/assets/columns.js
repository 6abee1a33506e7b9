// What is public about the columns: typed here, never read from the table.

import { clearFaults, countOf, daysOf, el, fault, field, numberFault, numberInput, numberOf, radios, textInput } from "./dom.js";
import { KINDS, ROLES, isSeveral, isYesNo, levelsOf, state, withRole } from "./study.js";

const MANY = 12;

export function columnsPage(place, go) {
  const form = el("form", { novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    if (check(form)) go("accuracy");
  } });
  place.append(
    el("h1", { tabindex: "-1" }, "Say what is public about the columns"),
    el("p", { class: "lead" },
      `${state.table.name} has ${state.columns.length} columns. Say what to predict, what from, and between which bounds every value must lie.`),
    el("p", { class: "note" },
      "Bounds and categories are public knowledge. Take them from the questionnaire, the measuring device or the literature, never from the table: its largest value is somebody's value. Values beyond count as at the bound."),
    form,
  );
  form.append(titleField(), outcomeAndColumns(), people(), rowCount(), incomplete(), decimals(),
    el("div", { class: "actions" },
      el("a", { class: "button", href: "#file" }, "Back"),
      el("button", { type: "submit", class: "primary" }, "Continue")));
}

function titleField() {
  const input = textInput("title", state.title, { maxlength: "200", oninput: () => { state.title = input.value; } });
  return field("Title of the study (optional)", input, "Stands above the report.");
}

// What kind of outcome it is decides what is asked about the column that is predicted.
function outcomeAndColumns() {
  const list = el("div", {}, columnList());
  const kind = radios("What kind of outcome is predicted?", "kind", KINDS, state.kind, (value) => {
    state.kind = value;
    list.replaceChildren(columnList());
  });
  return el("div", {}, kind, list);
}

function columnList() {
  const rows = state.columns.map(columnRow);
  const body = el("div", { class: "columns", role: "list" }, rows);
  const parts = [el("h2", {}, "Columns"), body];
  if (rows.length > MANY) parts.splice(1, 0, finder(rows));
  return el("section", { id: "roles", role: "group", "aria-label": "Columns", tabindex: "-1" }, parts);
}

function finder(rows) {
  const input = textInput("find", "", { type: "search", oninput: () => {
    const wanted = input.value.trim().toLowerCase();
    rows.forEach((row, k) => {
      row.hidden = !state.columns[k].name.toLowerCase().includes(wanted) && state.columns[k].role === "none";
    });
  } });
  return field("Find a column", input);
}

function columnRow(column, k) {
  const details = el("div", { class: "details" });
  const select = el("select", { id: `role-${k}`, onchange: () => {
    column.role = select.value;
    showDetails(details, column, k);
  } }, ROLES.map(([value, label]) => el("option", { value, selected: value === column.role }, label)));
  showDetails(details, column, k);
  return el("div", { class: "column", role: "listitem" },
    el("div", { class: "what" }, el("label", { for: `role-${k}` }, column.name), select), details);
}

function showDetails(details, column, k) {
  details.replaceChildren();
  if (column.role === "weight") details.append(wholeWeight(column, k));
  else if (column.role === "category") details.append(...levels(column, k));
  else if (column.role === "target" && isYesNo()) details.append(...classes(column, k));
  else if (column.role === "target" && isSeveral()) details.append(...levels(column, k, "Classes", ofClasses()));
  else if (column.role !== "none") details.append(...ends(column, k));
  if (!["none", "weight"].includes(column.role)) details.append(codes(column, k));
}

function codes(column, k) {
  const input = textInput(`codes-${k}`, column.codes, { spellcheck: "false", oninput: () => { column.codes = input.value; } });
  return field(el("span", {}, "Codes for missing values", el("span", { class: "unseen" }, ` of ${column.name}`)), input,
    "Where there are any, such as -99, -98 or refused.");
}

function wholeWeight(column, k) {
  const high = numberInput(`high-${k}`, column.high, { oninput: () => { column.high = high.value; } });
  return field(el("span", {}, "Weight of a whole row", el("span", { class: "unseen" }, ` in ${column.name}`)), high,
    "Rows that weigh less count as a part of one, and larger weights count as this one. Noise is that of whole rows: choose what few weights exceed, without looking at them.");
}

function ends(column, k) {
  const low = numberInput(`low-${k}`, column.low, { oninput: () => { column.low = low.value; } });
  const high = numberInput(`high-${k}`, column.high, { oninput: () => { column.high = high.value; } });
  const parts = [field(boundLabel("Lowest", column), low), field(boundLabel("Highest", column), high)];
  if (column.role === "number") {
    const id = `ends-${k}-help`;
    for (const input of [low, high]) input.setAttribute("aria-describedby", id);
    parts.push(el("p", { class: "hint", id }, "Two numbers, or two dates as 2019-01-31."));
  }
  const { hint } = column;
  if (hint && "low" in hint) {
    parts.push(hintButton(`${hint.low} to ${hint.high}`, hint.why, () => {
      column.low = low.value = String(hint.low);
      column.high = high.value = String(hint.high);
      low.focus();
    }));
  }
  return parts;
}

const boundLabel = (which, column) =>
  el("span", {}, which, el("span", { class: "unseen" }, ` value of ${column.name}`));

const AS_SPELT = "All that there are, as the table spells them, one a line";

const ofClasses = () => `${AS_SPELT}${state.kind === "ordered" ? ", in their order" : ""}; rows of none of them contribute nothing.`;

function levels(column, k, what = "Categories", help = `${AS_SPELT}.`) {
  const input = el("textarea", { id: `levels-${k}`, rows: "3", spellcheck: "false", value: column.levels, oninput: () => {
    column.levels = input.value;
  } });
  const parts = [field(el("span", {}, what, el("span", { class: "unseen" }, ` of ${column.name}`)), input, help)];
  const { hint } = column;
  if (hint && "levels" in hint) {
    parts.push(hintButton(hint.levels.join(", "), hint.why, () => {
      column.levels = input.value = hint.levels.join("\n");
      input.focus();
    }));
  }
  return parts;
}

function classes(column, k) {
  const help = `classes-${k}-help`;
  const one = (key, label) => {
    const input = textInput(`${key}-${k}`, column[key], {
      spellcheck: "false", "aria-describedby": help, oninput: () => { column[key] = input.value; },
    });
    return field(el("span", {}, label, el("span", { class: "unseen" }, ` of ${column.name}`)), input);
  };
  return [
    one("no", "First class"), one("yes", "Second class"),
    el("p", { class: "hint", id: help },
      "As the table spells them, such as no and yes. The probability of the second is predicted; rows of neither contribute nothing."),
  ];
}

const hintButton = (what, why, use) =>
  el("p", { class: "hint" }, el("button", { type: "button", onclick: use }, `Use ${what}`), ` ${why}`);

function people() {
  const rest = el("div", { class: "rest" });
  const show = (answer) => {
    state.severalRows = answer;
    rest.replaceChildren(...(answer === "yes" ? unitFields() : []));
  };
  const question = radios("Can one person have several rows?", "several",
    [["no", "No: a row is a person"], ["yes", "Yes: a column says whose a row is"]], state.severalRows, show);
  show(state.severalRows);
  return el("section", {}, el("h2", {}, "People"), question, rest);
}

function unitFields() {
  const select = el("select", { id: "unit", onchange: () => { state.unit = select.value; } },
    el("option", { value: "" }, "choose a column"),
    state.columns.map(({ name }) => el("option", { value: name, selected: name === state.unit }, name)));
  const most = numberInput("most-rows", state.mostRows, { inputmode: "numeric", oninput: () => { state.mostRows = most.value; } });
  return [
    field("Column that says whose a row is", select),
    field("Rows of one person that count, at most", most,
      "One is a good start. The noise grows with every further row; it pays where there are many people, and their rows differ much from each other."),
    radios("Which of them count", "which-rows", [
      ["random", "some that are drawn at random"],
      ["first", "the first of the table: of rows in the order of time, the earliest"],
    ], state.whichRows, (value) => { state.whichRows = value; }),
  ];
}

function rowCount() {
  const input = numberInput("rows", state.rows, { inputmode: "numeric", oninput: () => { state.rows = input.value; } });
  const secret = el("input", { type: "checkbox", id: "secret-rows", checked: state.secretRows, onchange: () => {
    state.secretRows = secret.checked;
  } });
  return el("section", {}, el("h2", {}, "Rows"),
    field("How many rows are there, or a public guess?", input, "For the forecast."),
    el("div", { class: "option" }, secret,
      el("label", { for: "secret-rows" }, "How many there are is a secret too, and whether somebody is in the table at all")));
}

function incomplete() {
  return radios("Incomplete rows", "missing", [
    ["error", "stop the fit, before anything is spent"],
    ["ignore", "contribute nothing"],
    ["model", "contribute what they have, if they have the target and some input"],
  ], state.missing, (value) => { state.missing = value; });
}

function decimals() {
  return radios("Decimals in the table are written with", "decimal", [[".", "a point: 1.5"], [",", "a comma: 1,5"]],
    state.decimal, (value) => { state.decimal = value; });
}

function check(form) {
  clearFaults(form);
  const at = (id) => form.querySelector(`#${id}`);
  state.columns.forEach((column, k) => checkColumn(column, k, at));
  const targets = withRole("target");
  if (!targets.length) fault(at("roles"), "Choose a column to predict.");
  else if ((isYesNo() || isSeveral()) && targets.length > 1) fault(at(`role-${state.columns.indexOf(targets[1])}`), "Classes are predicted alone: fit another study for this one.");
  else if (!withRole("number", "category").length) fault(at("roles"), "Choose a column to predict from.");
  if (state.severalRows === "yes") checkPeople(at);
  if (!isCount(state.rows)) fault(at("rows"), "Type a whole number.");
  const first = form.querySelector("[aria-invalid]");
  first?.focus();
  return first === null;
}

function checkColumn(column, k, at) {
  if (column.role === "category") {
    if (levelsOf(column.levels).length < 2) fault(at(`levels-${k}`), "Type two categories or more.");
    return;
  }
  if (column.role === "none") return;
  if (column.role === "weight") {
    if (!(numberOf(column.high) > 0)) numberFault(at(`high-${k}`), "Type a number above 0.");
    if (column !== withRole("weight")[0]) fault(at(`role-${k}`), "Rows have one weight: choose one column.");
    return;
  }
  if (column.role === "target" && isSeveral()) {
    if (levelsOf(column.levels).length < 3) fault(at(`levels-${k}`), "Type three classes or more; two are a yes or no.");
    return;
  }
  if (column.role === "target" && isYesNo()) {
    checkClasses(column, k, at);
    return;
  }
  const isDate = column.role === "number" && [column.low, column.high].some((end) => daysOf(end) !== null);
  const [read, what] = isDate ? [daysOf, "Type a date as well."]
    : [numberOf, column.role === "number" ? "Type a number or a date." : "Type a number."];
  const low = read(column.low);
  const high = read(column.high);
  if (low === null) numberFault(at(`low-${k}`), what);
  if (high === null) numberFault(at(`high-${k}`), what);
  else if (low !== null && high <= low) fault(at(`high-${k}`), "Must be above the lowest.");
  if (column.role === "target" && state.kind === "counts" && low !== null && low < 0) fault(at(`low-${k}`), "A count is never below 0.");
}

function checkClasses({ no, yes }, k, at) {
  if (!no.trim()) fault(at(`no-${k}`), "Type the first class.");
  if (!yes.trim()) fault(at(`yes-${k}`), "Type the second class.");
  else if (no.trim() === yes.trim()) fault(at(`yes-${k}`), "Must be another than the first.");
}

function checkPeople(at) {
  if (!state.unit) fault(at("unit"), "Choose the column that says whose a row is.");
  if (!isCount(state.mostRows)) fault(at("most-rows"), "Type a whole number, 1 or more.");
}

const isCount = (text) => countOf(text) >= 1;
