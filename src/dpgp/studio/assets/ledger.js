// The ledger: what is left, what happened; and whether a file holds what it promises.

import { ask, send } from "./api.js";
import { alarm, clearFaults, el, fault, field, list, numberFault, numberInput, numberOf, pairs, radios, say, table, textInput } from "./dom.js";
import { dropZone } from "./file.js";

export async function ledgerPage(place) {
  place.append(el("h1", { tabindex: "-1" }, "Ledger and checks"),
    el("p", { class: "lead" }, "A ledger adds up everything that is ever released about the same people, and refuses a fit that would exceed its cap."));
  const book = el("section", { id: "book", "aria-label": "Ledger" });
  const checks = el("section", { id: "checks" },
    el("h2", {}, "Check a file"),
    dropZone(place, "verify", "Choose a model or a ledger, or drop one here",
      "The guarantee is recomputed from the file alone, by a program of other authors. Spends nothing.", "", (file) => check(place, file)),
    el("div", { id: "findings" }));
  place.append(book, checks);
  show(place, book, await ask("ledger"));
}

function show(place, book, { ledger, suggested, lost }) {
  book.replaceChildren(...(ledger ? opened(place, book, ledger) : choices(place, book, suggested, lost)));
}

const forget = (place, book, label) => {
  const close = async () => show(place, book, await ask("forget-ledger"));
  return el("div", { class: "actions" }, el("button", { type: "button", onclick: close }, label));
};

function opened(place, book, ledger) {
  const parts = [
    el("h2", {}, ledger.name),
    ...ledger.warnings.map((text) => el("p", { class: "warning" }, text)),
    pairs(ledger.pairs, "facts"),
    el("progress", { value: ledger.spent, max: ledger.cap, "aria-label": "Part of the cap that is spent" }),
  ];
  if (ledger.groups.length) parts.push(table("Disjoint groups", ledger.group_table.headings, ledger.group_table.rows));
  return [...parts,
    el("h3", {}, "History"), table("Entries, the newest first", ledger.history.headings, ledger.history.rows),
    el("p", { class: "help" }, `File: ${ledger.path}. Head of its chain: `, el("code", {}, ledger.head)),
    forget(place, book, "Use another ledger, or none")];
}

function choices(place, book, suggested, lost) {
  const state = lost
    ? el("div", { class: "warning" }, el("p", {}, lost), forget(place, book, "Use none"))
    : el("p", {}, "No ledger is open.");
  return [state, el("div", { class: "split" }, openForm(place, book), createForm(place, book, suggested))];
}

function openForm(place, book) {
  const path = textInput("ledger-path", "", { spellcheck: "false" });
  return el("form", { class: "panel", onsubmit: (event) => {
    event.preventDefault();
    choose(place, book, { path: path.value });
  } }, el("h2", {}, "Open a ledger"), field("Path of the ledger", path), el("button", { type: "submit" }, "Open the ledger"));
}

function createForm(place, book, suggested) {
  const path = textInput("new-path", suggested, { spellcheck: "false" });
  const epsilon = numberInput("cap-epsilon", "3");
  const delta = numberInput("cap-delta", "1e-5");
  const wanted = { protects: "row", neighbours: "replace" };
  const submit = (event) => {
    event.preventDefault();
    clearFaults(form);
    for (const input of [epsilon, delta]) if (!(numberOf(input.value) > 0)) numberFault(input, "Type a positive number.");
    if (!path.value.trim()) fault(path, "Name the file to create.");
    const first = form.querySelector("[aria-invalid]");
    if (first) first.focus();
    else choose(place, book, { ...wanted, create: true, path: path.value, epsilon: String(numberOf(epsilon.value)), delta: String(numberOf(delta.value)) });
  };
  const form = el("form", { class: "panel", novalidate: true, onsubmit: submit },
    el("h2", {}, "Create a ledger"),
    field("File to create", path, "Keep it where the data are kept: it must outlive every fit."),
    field("ε of all fits together", epsilon), field("δ of all fits together", delta),
    radios("Whom it protects", "protects", [["row", "a row"], ["person", "a person with all rows"]], "row", (value) => { wanted.protects = value; }),
    radios("What is hidden of them", "neighbours", [["replace", "what the row says"], ["add-remove", "also whether it is there at all"]], "replace", (value) => { wanted.neighbours = value; }),
    el("p", { class: "help" }, "The cap cannot be changed later."),
    el("button", { type: "submit" }, "Create the ledger"));
  return form;
}

async function choose(place, book, body) {
  try {
    show(place, book, await ask("choose-ledger", body));
    say("The ledger is open.");
  } catch (error) {
    alarm(place, error.message);
  }
}

async function check(place, file) {
  const found = place.querySelector("#findings");
  found.replaceChildren(el("p", { class: "waiting" }, `Checking ${file.name} …`));
  try {
    found.replaceChildren(...findings(file.name, await send("verify", file)));
    found.querySelector("h3").focus();
  } catch (error) {
    found.replaceChildren();
    alarm(place, error.message);
  }
}

function findings(name, result) {
  const verdict = result.holds ? "holds what it promises" : "does NOT hold what it promises";
  const parts = [
    el("h3", { tabindex: "-1", class: result.holds ? "good" : "bad" }, `${name} ${verdict}`),
    el("ul", { class: "findings" }, result.checks.map(({ question, holds, detail }) =>
      el("li", { class: holds ? "good" : "bad" }, el("strong", {}, holds ? "Yes: " : "NO: "), `${question}. `, el("span", { class: "help" }, detail)))),
  ];
  if (result.pairs) parts.push(pairs(result.pairs), el("p", { class: "help" }, "Head of its chain: ", el("code", {}, result.head)));
  if (result.proves) {
    parts.push(el("h4", {}, "What the file proves"), list(result.proves),
      el("h4", {}, "What only its publisher can vouch for"), list(result.not));
  }
  return parts;
}
