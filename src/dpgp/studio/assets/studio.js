// Which page is shown: the part of the address behind #, so that Back and Forward work.

import { accuracyPage } from "./accuracy.js";
import { columnsPage } from "./columns.js";
import { consentPage } from "./consent.js";
import { alarm, byId, el } from "./dom.js";
import { filePage } from "./file.js";
import { fitPage } from "./fit.js";
import { ledgerPage } from "./ledger.js";
import { state, withRole } from "./study.js";

const STEPS = [
  ["file", "File"], ["columns", "Columns"], ["accuracy", "Accuracy"], ["consent", "Consent"], ["fit", "Result"],
];
const PAGES = {
  file: filePage, columns: columnsPage, accuracy: accuracyPage, consent: consentPage, fit: fitPage, ledger: ledgerPage,
};

const go = (where) => { location.hash = where; };

function wanted() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  if (!(name in PAGES)) return ["file"];
  if (name === "fit" || name === "ledger" || name === "file") return [name, ...rest];
  if (!state.table) return ["file"];
  const complete = withRole("target").length && withRole("number", "category").length && state.rows;
  return complete || name === "columns" ? [name] : ["columns"];
}

function showSteps(current) {
  const place = byId("steps");
  const reached = STEPS.findIndex(([name]) => name === current);
  place.hidden = reached < 0;
  place.replaceChildren(el("ol", {}, STEPS.map(([name, label], k) => {
    const text = [el("span", { class: "count", "aria-hidden": "true" }, String(k + 1)), label];
    const inside = k < reached && current !== "fit" ? el("a", { href: `#${name}` }, text) : el("span", {}, text);
    if (k === reached) inside.setAttribute("aria-current", "step");
    return el("li", {}, inside);
  })));
}

async function show() {
  const [name, ...rest] = wanted();
  const place = el("div", { class: "page" });
  byId("main").replaceChildren(place);
  showSteps(name);
  for (const [tab, on] of [["tab-study", name !== "ledger"], ["tab-ledger", name === "ledger"]]) {
    if (on) byId(tab).setAttribute("aria-current", "page");
    else byId(tab).removeAttribute("aria-current");
  }
  const shown = PAGES[name](place, go, ...rest);
  const heading = place.querySelector("h1");
  document.title = `${heading.textContent} – dpgp studio`;
  window.scrollTo(0, 0);
  heading.focus();
  try {
    await shown;
  } catch (error) {
    alarm(place, error.message);
  }
}

byId("skip").addEventListener("click", () => byId("main").focus());
for (const kind of ["dragover", "drop"]) window.addEventListener(kind, (event) => event.preventDefault());
window.addEventListener("hashchange", show);
show();
