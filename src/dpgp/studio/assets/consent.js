// Everything that will be public, and a consent to it.

import { ask } from "./api.js";
import { alarm, clearFaults, el, fault, figure, list, pairs } from "./dom.js";
import { outcomeWords, question } from "./study.js";

export async function consentPage(place, go) {
  place.append(el("h1", { tabindex: "-1" }, "Read what will be public"));
  const asked = question();
  let found;
  try {
    found = await ask("consent", asked);
  } catch (error) {
    alarm(place, error.message);
    place.append(el("div", { class: "actions" }, el("a", { class: "button", href: "#columns" }, "Back to the columns")));
    return;
  }
  place.append(
    el("p", { class: "lead" }, "A fit spends privacy budget, and what is released cannot be taken back. Budgets of fits to the same people add up."),
    ...warnings(found),
    section("Public from now on", pairs(found.public), list(found.also)),
    section("Computed from the rows, each with noise", list(found.releases, "several")),
    section("Stays private", list(found.private)),
    section("What an attacker can learn about one person", list(found.words)),
    section("What to expect", ...forecast(found.forecast)),
    ledger(found.ledger),
    el("details", {}, el("summary", {}, "The study file"), el("pre", { tabindex: "0" }, found.study_file)),
    el("p", {}, `The model and its papers will be written to ${found.folder}.`),
    agreement(place, go, asked, found));
}

const section = (title, ...parts) => el("section", {}, el("h2", {}, title), parts);

function warnings({ warnings: weak, before, ledger: price, forecast: expected }) {
  const texts = [...weak];
  if (before) texts.push(`This very study was fitted ${before === 1 ? "once" : `${before} times`} in this session already. Another fit spends the budget again.`);
  if (price?.problem) texts.push(price.problem);
  if (expected.problem) texts.push(expected.problem);
  return texts.map((text) => el("p", { class: "warning" }, text));
}

function forecast(expected) {
  if (expected.problem) return [el("p", {}, "There is no forecast of this fit.")];
  return [
    pairs([
      [`expected error of ${outcomeWords()}`, figure(expected.rmse)],
      ["eight plausible functions in ten", `${figure(expected.low)} to ${figure(expected.high)}; one in ten has less, one more`],
      ["width of a 95 % interval", figure(expected.interval_width)],
    ], "facts"),
    el("details", {}, el("summary", {}, "Why it is done this way"), list(expected.why)),
  ];
}

function ledger(price) {
  if (price === null) return section("Ledger", el("p", {}, "None: nobody but you adds up what is spent on these people."));
  return section("Ledger", el("p", {}, `${price.name} has ε = ${price.left} left for one more fit at this δ.`));
}

function agreement(place, go, asked, found) {
  const box = el("input", { type: "checkbox", id: "agree" });
  const button = el("button", { type: "submit", class: "primary" }, `Spend ε = ${asked.study.epsilon} and fit`);
  const submit = async (event) => {
    event.preventDefault();
    clearFaults(form);
    if (!box.checked) {
      fault(box, "Consent first, or go back.");
      box.focus();
      return;
    }
    button.disabled = true;
    try {
      const job = await ask("fit", { ...asked, key: found.key });
      go(`fit/${job.key}`);
    } catch (error) {
      button.disabled = false;
      alarm(place, error.message);
    }
  };
  const form = el("form", { class: "panel", novalidate: true, onsubmit: submit },
    el("div", { class: "option" }, box,
      el("label", { for: "agree" }, "I may spend this budget, and what is listed above may become public.")),
    el("div", { class: "actions" }, el("a", { class: "button", href: "#accuracy" }, "Back"), button));
  if (found.ledger?.problem) button.disabled = true;
  return form;
}
