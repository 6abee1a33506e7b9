// What was said so far, and the same in the words of a study file.

import { countOf, numberOf } from "./dom.js";

export const state = {
  table: null,
  title: "",
  kind: "number",
  columns: [],
  severalRows: "no",
  unit: "",
  mostRows: "1",
  whichRows: "random",
  missing: "error",
  decimal: ".",
  rows: "",
  secretRows: false,
  epsilon: "1",
  delta: "1e-6",
  error: "",
  prevalence: "",
  meanWeight: "",
  partition: "",
  points: new Map(),
};

export const ROLES = [
  ["none", "not used"],
  ["target", "predict it"],
  ["number", "predict from it: a number or a date"],
  ["category", "predict from it: a category"],
  ["weight", "weigh rows by it"],
];

export const KINDS = [
  ["number", "a number, such as a height"],
  ["counts", "a count: 0, 1, 2, …"],
  ["classes", "yes or no: one of two classes"],
  ["several", "one of several classes"],
  ["ordered", "one of several classes in their order"],
];

export function takeTable(table) {
  if (state.table?.table === table.table) return;
  state.table = table;
  state.unit = "";
  state.columns = table.columns.map(({ name, hint }) =>
    ({ name, hint, role: "none", low: "", high: "", levels: "", no: "", yes: "", codes: "" }));
}

export const withRole = (...roles) => state.columns.filter(({ role }) => roles.includes(role));

// One a line; in a single line commas and semicolons are between them, but not within quotes.
export function levelsOf(text) {
  const lines = text.trim().split("\n");
  const found = lines.length > 1 ? lines : lines[0].match(/\s*"(?:[^"]|"")*"|[^,;]+/g) ?? [];
  return found.map((level) => unquoted(level.trim())).filter(Boolean);
}

const unquoted = (text) => (/^"(?:[^"]|"")*"$/.test(text) ? text.slice(1, -1).replaceAll('""', '"') : text);

export const isYesNo = () => state.kind === "classes";

export const isSeveral = () => ["several", "ordered"].includes(state.kind);

// What is predicted, in words: a probability or a mean.
export function outcomeWords() {
  const [{ name, yes }] = withRole("target");
  if (isSeveral()) return `the probability of each class of ${name}`;
  return isYesNo() ? `the probability of ${name} = ${yes.trim()}` : `the mean of ${name}`;
}

const plain = (text) => String(numberOf(text) ?? text);

const plainCount = (text) => String(countOf(text) ?? text);

const bounds = (role) =>
  Object.fromEntries(withRole(role).map(({ name, low, high }) => [name, [plain(low), plain(high)]]));

function outcome() {
  if (isSeveral()) {
    const classes = Object.fromEntries(withRole("target").map(({ name, levels }) => [name, levelsOf(levels)]));
    return { classes, ...(state.kind === "ordered" ? { ordered: "true" } : {}) };
  }
  if (!isYesNo()) return { targets: bounds("target"), ...(state.kind === "counts" ? { counts: "true" } : {}) };
  return { classes: Object.fromEntries(withRole("target").map(({ name, no, yes }) => [name, [no.trim(), yes.trim()]])) };
}

function withoutBudget() {
  return {
    title: state.title.trim(),
    ...outcome(),
    features: bounds("number"),
    categories: Object.fromEntries(withRole("category").map(({ name, levels }) => [name, levelsOf(levels)])),
    neighbours: state.secretRows ? "add-remove" : "replace",
    missing: state.missing,
    missing_codes: Object.fromEntries(
      withRole("target", "number", "category").filter(({ codes }) => levelsOf(codes).length).map(({ name, codes }) => [name, levelsOf(codes)])),
    weight: Object.fromEntries(withRole("weight").map(({ name, high }) => [name, plain(high)])),
    decimal: state.decimal,
    rows: plainCount(state.rows),
    ...(state.severalRows === "yes"
      ? { unit: state.unit, max_rows_per_unit: plainCount(state.mostRows), rows_of_unit: state.whichRows } : {}),
    ...(state.partition ? { partition: state.partition } : {}),
  };
}

export const question = () => ({
  table: state.table.table,
  study: { ...withoutBudget(), epsilon: plain(state.epsilon), delta: plain(state.delta) },
  ...told(),
});

// What is known of the people before, for the forecast alone.
const told = () => ({
  ...(isYesNo() ? { prevalence: plain(state.prevalence) } : {}),
  ...(withRole("weight").length ? { mean_weight: plain(state.meanWeight) } : {}),
});

// Forecasts belong to everything but ε.
export const signature = () => JSON.stringify([state.table.table, withoutBudget(), plain(state.delta), told()]);

export function knownPoints() {
  const key = signature();
  if (!state.points.has(key)) state.points.set(key, new Map());
  return state.points.get(key);
}
