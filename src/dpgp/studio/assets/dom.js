// Elements, fields and messages: what every page is made of. Text is always text, never markup.

export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled") node[name] = value;
    else if (value !== null && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

export function say(text) {
  byId("status").textContent = text;
}

export function field(label, input, help = null) {
  const parts = [el("label", { for: input.id }, label), input];
  if (help) {
    parts.push(el("p", { class: "help", id: `${input.id}-help` }, help));
    input.setAttribute("aria-describedby", `${input.id}-help`);
  }
  return el("div", { class: "field" }, parts);
}

export function textInput(id, value, attributes = {}) {
  return el("input", { type: "text", id, value: value ?? "", autocomplete: "off", ...attributes });
}

export function numberInput(id, value, attributes = {}) {
  return textInput(id, value, { inputmode: "decimal", class: "number", ...attributes });
}

export function radios(legend, name, options, chosen, change) {
  const one = ([value, label]) => {
    const id = `${name}-${value === "." ? "point" : value === "," ? "comma" : value}`;
    const input = el("input", {
      type: "radio", name, id, value, checked: value === chosen, onchange: () => change(value),
    });
    return el("div", { class: "option" }, input, el("label", { for: id }, label));
  };
  return el("fieldset", { id: name }, el("legend", {}, legend), options.map(one));
}

const BLANKS = /(?<=\d)[\s'’](?=\d{3}(?!\d))/g;
const typed = (text) => String(text).trim().replace("\u2212", "-").replace(BLANKS, "");

// A date as 2019-01-31 that the calendar has, as days; null for anything else.
export function daysOf(text) {
  const clean = typed(text), time = /^\d{4}-\d\d-\d\d$/.test(clean) ? Date.parse(clean) : NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(clean) ? time / 864e5 : null;
}

// A number as people type it: 1,5 and 1.5 are the same, 2,900.5 and 2 900,5 too; null where it is none, or may be two.
export function numberOf(text) {
  const clean = withPoint(typed(text));
  const value = Number(clean);
  return clean !== "" && Number.isFinite(value) ? value : null;
}

function withPoint(text) {
  if (/^-?\d{1,3}((,\d{3})+\.\d*|(,\d{3}){2,})$/.test(text)) return text.replaceAll(",", "");
  if (/^-?\d{1,3}((\.\d{3})+,\d*|(\.\d{3}){2,})$/.test(text)) return text.replaceAll(".", "").replace(",", ".");
  return mayBeTwo(text) ? "" : text.replace(",", ".");
}

// 2,900 is two thousand nine hundred to some, and 2.9 to others; 0,125 is one number to all.
const mayBeTwo = (text) => /^-?[1-9]\d{0,2},\d{3}$/.test(text);

// A whole number, in which every mark between three digits is one of thousands; null where it is none.
export function countOf(text) {
  const clean = typed(text);
  const value = /^[1-9]\d{0,2}([.,]\d{3})+$/.test(clean) ? Number(clean.replace(/[.,]/g, "")) : numberOf(clean);
  return Number.isInteger(value) ? value : null;
}

function clearFault(input) {
  const id = `${input.id}-fault`;
  byId(id)?.remove();
  input.removeAttribute("aria-invalid");
  const kept = (input.getAttribute("aria-describedby") ?? "").split(" ").filter((other) => other && other !== id);
  if (kept.length) input.setAttribute("aria-describedby", kept.join(" "));
  else input.removeAttribute("aria-describedby");
}

export function clearFaults(place) {
  for (const input of place.querySelectorAll("[aria-invalid]")) clearFault(input);
}

export function fault(input, message) {
  const id = `${input.id}-fault`;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", `${id} ${input.getAttribute("aria-describedby") ?? ""}`.trim());
  const after = input.type === "checkbox" ? input.parentElement.lastElementChild : input.querySelector("h2") ?? input;
  after.after(el("p", { class: "fault", id }, message));
  for (const kind of ["input", "change"]) input.addEventListener(kind, () => clearFault(input), { once: true });
}

// A fault of a number: the rule, or what to write for a text that may be two numbers.
export function numberFault(input, rule) {
  const text = typed(input.value);
  const both = `Write ${text.replace(",", "")} or ${Number(text.replace(",", "."))}: ${text} may be either.`;
  fault(input, mayBeTwo(text) ? both : rule);
}

export function alarm(place, message) {
  const box = el("div", { class: "alarm", role: "alert", tabindex: "-1" }, el("p", {}, message));
  place.querySelector(".alarm")?.remove();
  const heading = place.querySelector("h1");
  if (heading) heading.after(box);
  else place.prepend(box);
  box.focus();
  box.scrollIntoView({ block: "center" });
}

export function table(caption, headings, rows) {
  const head = el("tr", {}, headings.map((text) => el("th", { scope: "col" }, text)));
  const body = rows.map(([first, ...others]) =>
    el("tr", {}, el("th", { scope: "row" }, first), others.map((text) => el("td", {}, text))));
  return el(
    "div", { class: "scroll", tabindex: "0", role: "group", "aria-label": caption },
    el("table", {}, el("caption", {}, caption), el("thead", {}, head), el("tbody", {}, body)),
  );
}

export function pairs(rows, className = "pairs") {
  return el("dl", { class: className }, rows.map(([word, meaning]) =>
    el("div", {}, el("dt", {}, word), el("dd", {}, meaning))));
}

export const list = (texts, className = null) => el("ul", { class: className }, texts.map((text) => el("li", {}, text)));

export function figure(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
