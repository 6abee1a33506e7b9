// What was said so far, and the same in the words of a study file.

import { numberOf } from "./dom.js";

export const state = {
  table: null,
  title: "",
  columns: [],
  severalRows: "no",
  unit: "",
  mostRows: "5",
  missing: "error",
  decimal: ".",
  rows: "",
  secretRows: false,
  epsilon: "1",
  delta: "1e-6",
  error: "",
  partition: "",
  points: new Map(),
};

export const ROLES = [
  ["none", "not used"],
  ["target", "predict it"],
  ["number", "predict from it: a number"],
  ["category", "predict from it: a category"],
];

export function takeTable(table) {
  if (state.table?.table === table.table) return;
  state.table = table;
  state.unit = "";
  state.columns = table.columns.map(({ name, hint }) =>
    ({ name, hint, role: "none", low: "", high: "", levels: "" }));
}

export const withRole = (...roles) => state.columns.filter(({ role }) => roles.includes(role));

export const levelsOf = (text) => text.split(/[\n,;]/).map((level) => level.trim()).filter(Boolean);

const plain = (text) => String(numberOf(text) ?? text);

const bounds = (role) =>
  Object.fromEntries(withRole(role).map(({ name, low, high }) => [name, [plain(low), plain(high)]]));

function withoutBudget() {
  return {
    title: state.title.trim(),
    targets: bounds("target"),
    features: bounds("number"),
    categories: Object.fromEntries(withRole("category").map(({ name, levels }) => [name, levelsOf(levels)])),
    neighbours: state.secretRows ? "add-remove" : "replace",
    missing: state.missing,
    decimal: state.decimal,
    rows: plain(state.rows),
    ...(state.severalRows === "yes" ? { unit: state.unit, max_rows_per_unit: plain(state.mostRows) } : {}),
    ...(state.partition ? { partition: state.partition } : {}),
  };
}

export const question = (changes = {}) => ({
  table: state.table.table,
  study: { ...withoutBudget(), epsilon: plain(state.epsilon), delta: plain(state.delta), ...changes },
});

// Forecasts belong to everything but ε.
export const signature = () => JSON.stringify([state.table.table, withoutBudget(), plain(state.delta)]);

export function knownPoints() {
  const key = signature();
  if (!state.points.has(key)) state.points.set(key, new Map());
  return state.points.get(key);
}
