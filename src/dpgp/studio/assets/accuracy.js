// How accurate, and at what price: ε is moved, and every stop is a forecast of its own.

import { ask } from "./api.js";
import { drawCurve } from "./chart.js";
import { alarm, byId, clearFaults, el, fault, field, figure, list, numberFault, numberInput, numberOf, pairs, say, table } from "./dom.js";
import { isSeveral, isYesNo, knownPoints, outcomeWords, question, signature, state, withRole } from "./study.js";

const STOPS = [0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10];
const shown = {};

export async function accuracyPage(place, go) {
  const form = el("form", { novalidate: true, onsubmit: (event) => {
    event.preventDefault();
    if (check(form)) go("consent");
  } });
  place.append(
    el("h1", { tabindex: "-1" }, "Choose accuracy and privacy"),
    el("p", { class: "lead" },
      "ε is the price in privacy: the smaller, the better people are protected, and the less is known about the function. Nothing is spent on this page, and no row is read."),
    form);
  const budget = el("aside", { class: "panel budget", "aria-label": "Budget" });
  form.append(
    el("div", { class: "desk" },
      el("div", { class: "controls" }, wantedError(form), epsilonFields(form), knownPanel(form)),
      el("section", { id: "forecast", "aria-label": "Forecast" }), budget),
    el("div", { class: "actions" },
      el("a", { class: "button", href: "#columns" }, "Back"),
      el("button", { type: "submit", class: "primary" }, "Continue")));
  shown.left = null;
  await showBudget(budget);
  await refresh(form);
}

function wantedError(form) {
  const unit = isYesNo() || isSeveral() ? "from 0 to 1" : `in units of ${withRole("target")[0].name}`;
  const input = numberInput("error", state.error, { oninput: () => { state.error = input.value; } });
  const find = async () => {
    clearFaults(form);
    if (!(numberOf(state.error) > 0)) {
      numberFault(input, "Type a positive number.");
      input.focus();
      return;
    }
    await busy(form, "Looking for ε …", async () => {
      const found = await ask("epsilon", { ...question(), error: String(numberOf(state.error)) });
      setEpsilon(form, String(found.epsilon));
      say(`The smallest ε expected to reach this error is ${found.epsilon}.`);
    });
  };
  return el("div", { class: "panel" },
    el("h2", {}, "How accurate must it be?"),
    field(`Largest error of ${outcomeWords()}, ${unit}`, input, "Half of the functions that are plausible before any data are known better than this."),
    el("button", { type: "button", id: "find", onclick: find }, "Find the smallest ε"));
}

function epsilonFields(form) {
  const typed = numberInput("epsilon", state.epsilon, { onchange: () => setEpsilon(form, typed.value) });
  const slider = el("input", {
    type: "range", id: "slider", min: "0", max: String(STOPS.length - 1), step: "1", value: nearestStop(),
    oninput: () => setEpsilon(form, String(STOPS[slider.value])),
  });
  slider.setAttribute("aria-valuetext", `ε = ${state.epsilon}`);
  return el("div", { class: "panel" },
    el("h2", {}, "Or move ε"),
    field("ε, on a scale from 0.1 to 10", slider), field("ε", typed), deltaField());
}

const nearestStop = () => {
  const value = numberOf(state.epsilon) || 1;
  const far = STOPS.map((stop) => Math.abs(Math.log(stop / value)));
  return String(far.indexOf(Math.min(...far)));
};

function deltaField() {
  const input = numberInput("delta", state.delta, { onchange: () => {
    state.delta = input.value;
    refresh(input.form);
  } });
  return field("δ", input, "The chance with which the promise may fail: far below one in the number of rows.");
}

// What sharpens a forecast; what was right may be wrong after a change of the columns.
function knownPanel(form) {
  const fields = knownFields().map(({ id, key, label, help, isRight, rule }) => {
    const input = numberInput(id, state[key], { onchange: () => {
      state[key] = input.value;
      clearFaults(form);
      if (isRight(input.value)) refresh(form);
      else fault(input, rule);
    } });
    const shownField = field(label, input, help);
    if (!isRight(state[key])) fault(input, rule);
    return shownField;
  });
  return fields.length ? el("div", { class: "panel" },
    el("h2", {}, "What is known already?"), fields,
    el("p", { class: "help" }, "From other studies, never from these rows. It sharpens the forecast, and is no part of the model.")) : null;
}

function knownFields() {
  const [weight] = withRole("weight");
  const share = {
    id: "prevalence", key: "prevalence", help: null,
    label: `How many in a hundred are ${withRole("target")[0].yes.trim()}, if it is known (optional)`,
    isRight: (text) => isBetween(text, 100) && numberOf(text) !== 100, rule: "Type a number between 0 and 100, or nothing.",
  };
  const average = {
    id: "mean-weight", key: "meanWeight",
    label: `What rows weigh on average in ${weight?.name}, if it is known (optional)`,
    help: `A row of ${weight?.high} counts in full, and others as a part of one; where nothing is typed, half of one.`,
    isRight: (text) => isBetween(text, numberOf(weight.high)), rule: `Type a number above 0, at most ${weight?.high}, or nothing.`,
  };
  return [...(isYesNo() ? [share] : []), ...(weight ? [average] : [])];
}

const isBetween = (text, most) => !text.trim() || (numberOf(text) > 0 && numberOf(text) <= most);
const isAskable = () => [state.epsilon, state.delta].every((text) => numberOf(text) > 0)
  && knownFields().every(({ key, isRight }) => isRight(state[key]));

function setEpsilon(form, text) {
  state.epsilon = text;
  byId("epsilon").value = text;
  byId("slider").value = nearestStop();
  byId("slider").setAttribute("aria-valuetext", `ε = ${text}`);
  refresh(form);
}

async function showBudget(place) {
  const { ledger } = await ask("ledger");
  if (!ledger) {
    place.append(el("h2", {}, "Budget"),
      el("p", {}, "No ledger is open: nobody adds up what is spent on these people."),
      el("p", {}, el("a", { href: "#ledger" }, "Open or create one")));
    return;
  }
  shown.left = ledger.left;
  place.append(el("h2", {}, "Budget left"),
    el("p", { class: "big" }, ledger.left ? `ε = ${ledger.left_in_words}` : "nothing"),
    el("progress", { value: ledger.spent, max: ledger.cap, "aria-label": "Part of the ledger that is spent" }),
    pairs(ledger.pairs),
    el("p", { class: "help" }, `in ${ledger.name}. Budgets add up less than proportionally, so that more is left than the difference.`));
  if (ledger.groups.length) place.append(groupField(ledger.groups));
}

function groupField(groups) {
  const select = el("select", { id: "partition", onchange: () => { state.partition = select.value; } },
    el("option", { value: "" }, "everybody"),
    groups.map((name) => el("option", { value: name, selected: name === state.partition }, name)));
  return field("The table is about", select);
}

// The chosen ε first, for it is what one looks at; the rest of the curve after it.
async function refresh(form) {
  const epsilon = numberOf(state.epsilon);
  const known = knownPoints();
  const asked = signature();
  draw(known);
  if (!isAskable()) return;
  try {
    if (!known.has(epsilon)) await fetchPoints(known, [epsilon]);
    const others = STOPS.filter((stop) => !known.has(stop));
    if (others.length && asked === signature()) await fetchPoints(known, others);
  } catch (error) {
    if (asked === signature()) alarm(form, error.message);
  }
}

async function fetchPoints(known, epsilons) {
  const place = byId("forecast");
  place?.setAttribute("aria-busy", "true");
  place?.classList.add("busy");
  try {
    const found = await ask("forecast", { ...question(), at: epsilons.map(String) });
    for (const point of found.points) known.set(point.epsilon, point);
    shown.warnings = found.warnings;
  } finally {
    byId("forecast")?.setAttribute("aria-busy", "false");
    byId("forecast")?.classList.remove("busy");
  }
  draw(known);
}

function draw(known) {
  const place = byId("forecast");
  if (!place || known !== knownPoints()) return;
  const points = [...known.values()].sort((a, b) => a.epsilon - b.epsilon);
  const chosen = known.get(numberOf(state.epsilon));
  if (!points.length) {
    place.replaceChildren(waiting());
    return;
  }
  const parts = [el("h2", {}, "What this ε buys")];
  parts.push(chosen ? facts(chosen) : waiting());
  parts.push(el("figure", {}, drawCurve(points, chosen, shown.left, outcomeWords(), place.clientWidth),
    el("figcaption", {}, "Line: expected error. Band: eight plausible functions in ten; one in ten has a smaller error, one a larger. Dashed: what would remain without privacy.")));
  if (chosen) parts.push(el("h3", {}, "What an attacker can learn about one person"), list(chosen.words));
  const open = place.querySelector("details")?.open ?? false;
  parts.push(el("details", { open }, el("summary", {}, "The same in numbers"), numbers(points)));
  place.replaceChildren(...parts);
}

const waiting = () => el("p", { class: "waiting" },
  isAskable() ? "Computing the forecast …" : "There is a forecast as soon as all numbers here are right.");

function facts(point) {
  const parts = [];
  if (!point.useful) parts.push(el("p", { class: "warning" }, "With this ε no choice beats predicting the mean: raise it, or collect more rows."));
  if (shown.left !== null && point.epsilon > shown.left) parts.push(el("p", { class: "warning" }, "This is more than the ledger has left."));
  for (const text of shown.warnings ?? []) parts.push(el("p", { class: "warning" }, text));
  parts.push(pairs([
    [`expected error of ${outcomeWords()}`, `${figure(point.rmse)} (${figure(100 * point.share)} % of its range)`],
    ["eight plausible functions in ten", `${figure(point.low)} to ${figure(point.high)}`],
    [`width of a 95 % interval for ${isYesNo() || isSeveral() ? "the probability" : "one observation"}`, figure(point.interval_width)],
    ["error that would remain without privacy", figure(point.without_privacy)],
  ], "facts"));
  return el("div", {}, parts);
}

const numbers = (points) =>
  table("Forecast for every ε", ["ε", "error", "eight in ten", "interval", "an even guess becomes at most"],
    points.map((p) => [figure(p.epsilon), figure(p.rmse), `${figure(p.low)} to ${figure(p.high)}`, figure(p.interval_width), `${p.certainty} %`]));

window.addEventListener("resize", () => { if (byId("forecast")) draw(knownPoints()); });

async function busy(form, text, work) {
  const button = byId("find");
  button.disabled = true;
  say(text);
  try {
    await work();
  } catch (error) {
    alarm(form, error.message);
  } finally {
    button.disabled = false;
  }
}

function check(form) {
  clearFaults(form);
  if (!(numberOf(state.epsilon) > 0)) numberFault(byId("epsilon"), "Type a positive number.");
  const delta = numberOf(state.delta);
  if (!(delta > 0 && delta < 1)) numberFault(byId("delta"), "Type a number between 0 and 1, such as 1e-6.");
  for (const { id, key, isRight, rule } of knownFields()) if (!isRight(state[key])) fault(byId(id), rule);
  const first = form.querySelector("[aria-invalid]");
  first?.focus();
  return first === null;
}
