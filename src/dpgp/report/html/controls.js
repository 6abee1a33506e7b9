// Sliders, choices and legends, all native elements.

const SLIDERS_SHOWN = 6;

function slider(inputs, d, value, changed) {
  const low = inputs.low[d], high = inputs.high[d], format = inputFormatter(inputs, d);
  const id = `input-${d}`, shown = create("output", { for: id });
  const range = create("input", {
    type: "range", id, min: low, max: high, step: datesOf(inputs, d) ? 1 : sliderStep(low, high) });
  const say = () => {
    shown.textContent = format(Number(range.value));
    range.setAttribute("aria-valuetext", shown.textContent);
  };
  const set = (wanted) => { range.value = wanted; say(); return Number(range.value); };
  range.addEventListener("input", () => { say(); changed(Number(range.value)); });
  const label = create("label", { for: id }, inputs.names[d]);
  return { node: create("div", { class: "slider" }, label, shown, range), start: set(value), set };
}

// The first sliders at once, all others folded away
function sliderGroups(sliders) {
  const group = (some) => create("div", { class: "sliders" }, ...some.map((one) => one.node));
  const rest = sliders.slice(SLIDERS_SHOWN);
  if (rest.length === 0) return [group(sliders)];
  const summary = create("summary", {}, `${rest.length} more, which matter less`);
  return [group(sliders.slice(0, SLIDERS_SHOWN)), create("details", {}, summary, group(rest))];
}

function choice(label, id, options, changed) {
  const select = create("select", { id },
    ...options.map(([value, name]) => create("option", { value }, name)));
  select.addEventListener("change", () => changed(Number(select.value)));
  return create("div", { class: "choice" }, create("label", { for: id }, label), select);
}

// The levels of a category, with what a slider has
function levelChoice(inputs, d, value, changed) {
  const levels = inputs.categories[d].map((text, k) => [k, text]);
  const node = choice(inputs.names[d], `input-${d}`, levels, changed);
  const select = node.querySelector("select"), last = inputs.categories[d].length - 1;
  const set = (wanted) => {
    select.value = Math.min(Math.max(Math.round(wanted), 0), last);
    return Number(select.value);
  };
  return { node, start: set(value), set };
}

function radios(legend, name, options, changed) {
  const nodes = options.map(([value, words], k) => {
    const input = create("input", { type: "radio", name, value, ...(k === 0 && { checked: "" }) });
    input.addEventListener("change", () => changed(value));
    return create("label", {}, input, ` ${words}`);
  });
  return create("fieldset", {}, create("legend", {}, legend), ...nodes);
}

function checkbox(words, checked, changed) {
  const input = create("input", { type: "checkbox", ...(checked && { checked: "" }) });
  input.addEventListener("change", () => changed(input.checked));
  return create("label", {}, input, ` ${words}`);
}

function legend(hasDensity, target) {
  const entries = [
    ["mean", target.mean_word],
    ...(target.shows_observations ? [
      ["function", "the function, 95 %"],
      ["observation", "a new observation, 95 % (calibrated)"],
    ] : [["function", `the ${target.mean_word}, 95 %`]]),
    hasDensity ? ["density", "where the data are: a private estimate, not rows"]
      : ["nothing", "no density of the inputs was released"],
  ];
  return create("ul", { class: "legend" }, ...entries.map(([kind, words]) => create("li", {},
    create("span", { class: `key ${kind}` }), words)));
}

function figure(id) {
  const place = create("div", { class: "plot", id });
  const rows = create("div", {
    class: "scroll", tabindex: "0", role: "group", "aria-label": "Numbers" });
  const numbers = create("details", { id: `${id}-numbers` },
    create("summary", {}, "The numbers of this plot"), rows);
  const caption = create("figcaption");
  return { node: create("figure", {}, caption, place, numbers), place, rows, caption };
}
