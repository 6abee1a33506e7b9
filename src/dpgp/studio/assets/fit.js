// A fit: how far it is, how to stop it, and what came of it.

import { ask, paper } from "./api.js";
import { alarm, el, list, say } from "./dom.js";
import { isRunning } from "./outcomes.js";

const PAUSE = 600;

export async function fitPage(place, go, key) {
  const heading = el("h1", { tabindex: "-1" }, "The fit");
  const body = el("div", {});
  place.append(heading, body);
  let last = "";
  while (place.isConnected) {
    let job;
    try {
      job = await ask("job", { key });
    } catch (error) {
      alarm(place, error.message);
      return;
    }
    if (!place.isConnected) return;
    if (!isRunning(job)) {
      finish(heading, body, job);
      return;
    }
    if (!body.firstChild) body.append(...running(place, key));
    update(heading, body, job);
    if (job.step !== last) say(job.step);
    last = job.step;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

function running(place, key) {
  const button = el("button", { type: "button", id: "cancel", onclick: async () => {
    button.disabled = true;
    await ask("cancel", { key }).catch((error) => alarm(place, error.message));
  } }, "Cancel the fit");
  return [
    el("p", { class: "lead", id: "step" }),
    el("progress", { id: "progress", max: "1", "aria-label": "How far the fit is" }),
    el("p", { class: "help", id: "elapsed" }),
    el("div", { class: "actions" }, button),
    el("p", { class: "help" }, "What was released by then stays spent. You may close this page: the fit goes on as long as the studio runs."),
  ];
}

function update(heading, body, job) {
  heading.textContent = job.title || "The fit";
  const stopping = job.status === "stopping";
  body.querySelector("#step").textContent = stopping ? "Stopping …" : `${job.step[0].toUpperCase()}${job.step.slice(1)} …`;
  const bar = body.querySelector("#progress");
  bar.value = job.share ?? 0;
  const left = job.left ? `, about ${job.left} left` : "";
  body.querySelector("#elapsed").textContent =
    `${job.released} of ${job.releases} releases, ${Math.round(job.seconds)} s${left}`;
  if (stopping) body.querySelector("#cancel").disabled = true;
}

function finish(heading, body, job) {
  heading.textContent = job.title || "The fit";
  body.replaceChildren(...(job.status === "done" ? result(job) : ended(job)));
  say(job.status === "done" ? "The fit is done." : job.message);
  if (document.activeElement === document.body || document.activeElement?.id === "cancel") heading.focus();
}

function ended(job) {
  const stopped = job.status === "stopped";
  return [
    el("div", { class: stopped ? "warning" : "alarm", role: "alert" },
      el("p", {}, stopped ? "The fit was cancelled; there is no model." : "The fit ended without a model."),
      el("p", { id: "spent" }, job.message)),
    el("div", { class: "actions" },
      el("a", { class: "button", href: "#columns" }, "Change the study"),
      el("a", { class: "button", href: "#ledger" }, "See the ledger")),
  ];
}

function result(job) {
  const parts = [
    el("p", { class: "lead" }, `Done in ${Math.round(job.seconds)} s: ${job.guarantee}.`),
  ];
  if (job.message) parts.push(el("p", { class: "warning" }, job.message));
  if (job.health.length) parts.push(el("div", { class: "warning" }, el("p", {}, "Something looks wrong:"), list(job.health)));
  if (job.papers.length) {
    parts.push(
      el("h2", {}, "Files"),
      el("ul", { class: "papers" }, job.papers.map(({ name, what }) =>
        el("li", {}, el("a", { href: paper(job.key, name), download: name }, name), ` ${what}`))),
      el("p", { class: "help" }, `They lie in ${job.folder} too.`));
  }
  if (job.papers.some(({ name }) => name === "report.html")) {
    parts.push(el("h2", {}, "Report"),
      el("iframe", { src: paper(job.key, "report.html"), title: "Report of the model", sandbox: "allow-scripts", class: "report" }));
  }
  return parts;
}
