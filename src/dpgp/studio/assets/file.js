// Choose a table: only the names of its columns are read.

import { ask, send } from "./api.js";
import { alarm, el, field, say, textInput } from "./dom.js";
import { takeTable } from "./study.js";
import { outcome } from "./outcomes.js";

export async function filePage(place, go) {
  place.append(
    el("h1", { tabindex: "-1" }, "Choose a table"),
    el("p", { class: "lead" },
      "A file of CSV, Excel, Stata, Parquet or Arrow with a row for each observation. For now only the names of its columns are taken from it, which must stand in its first line and will be shown here."),
    dropZone(place, "upload", "Choose a file, or drop one here", "Up to 2 GB. It is copied to a private folder on this machine, which is removed when the studio ends.",
      ".csv,.tsv,.txt,.gz,.zip,.xlsx,.dta,.parquet,.feather,.arrow", (file) => opened(place, go, () => send("upload", file))),
    pathForm(place, go),
  );
  await listResults(place);
}

export function dropZone(place, id, label, help, accept, take) {
  const input = el("input", { type: "file", id, accept, "aria-describedby": `${id}-help`, onchange: () => {
    if (input.files.length) take(input.files[0]);
  } });
  const zone = el("div", { class: "drop" },
    el("label", { for: id }, label), input, el("p", { class: "help", id: `${id}-help` }, help));
  const hover = (on) => (event) => { event.preventDefault(); zone.classList.toggle("over", on); };
  zone.addEventListener("dragover", hover(true));
  zone.addEventListener("dragleave", hover(false));
  zone.addEventListener("drop", (event) => {
    hover(false)(event);
    if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
  });
  return zone;
}

function pathForm(place, go) {
  const input = textInput("path", "", { spellcheck: "false" });
  const submit = (event) => {
    event.preventDefault();
    opened(place, go, () => ask("open", { path: input.value }));
  };
  return el("form", { class: "panel", onsubmit: submit },
    el("h2", {}, "Or name a file on this machine"),
    field("Path of the file", input, "For tables that are too large to copy: it is read where it is."),
    el("button", { type: "submit" }, "Open this file"));
}

async function opened(place, go, request) {
  say("Reading the names of the columns.");
  try {
    takeTable(await request());
  } catch (error) {
    alarm(place, error.message);
    return;
  }
  say("");
  go("columns");
}

async function listResults(place) {
  const { jobs } = await ask("jobs");
  if (!jobs.length) return;
  place.append(
    el("h2", {}, "Fits of this session"),
    el("ul", { class: "results" }, jobs.map((job) =>
      el("li", {}, el("a", { href: `#fit/${job.key}` }, job.title || "A fit"), ` – ${outcome(job)}`))),
  );
}
