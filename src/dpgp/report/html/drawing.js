// Elements, axes and the strip of the private density.

const LEVEL_LINE = 14; // dots of a line of a level's name
const SVG = "http://www.w3.org/2000/svg";

function create(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  Object.entries(attributes).forEach(([name, value]) => node.setAttribute(name, value));
  node.append(...children);
  return node;
}

// An empty picture as wide as its place, with margins for axes
function canvas(place, { ratio, most, left, right = 14, top = 10, bottom, more = 0 }) {
  const width = widthOf(place);
  const height = Math.min(Math.max(width * ratio, 250), most) + more;
  place.querySelectorAll("svg").forEach((old) => old.remove());
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  place.prepend(svg);
  return { svg, width, height, left, right: width - right, top, bottom: height - bottom - more };
}

function widthOf(place) { return Math.max(place.clientWidth, 260); }

function describe(svg, title, words) {
  svg.setAttribute("aria-label", `${title}. ${words}`);
}

function leftMargin(labels) {
  return 34 + 7 * Math.max(...labels.map((label) => label.length));
}

function xAxis(frame, x, range, name, offset, dates) {
  const marks = namedTicks(range, Math.max(2, Math.floor((frame.right - frame.left) / 58)), dates);
  markAxis(frame, x, marks, name, offset);
}

// Names of levels for an axis so wide, and how much higher than one line they are
function levelLabels(levels, width) {
  const room = width / levels.length;
  const names = levelNames(levels, Math.floor(room / 7), Math.floor(room / LEVEL_LINE));
  const longest = Math.max(...names.texts.flat().map((line) => line.length));
  const lines = Math.max(...names.texts.map((text) => text.length));
  return { ...names, more: (names.turned ? 7 * longest : LEVEL_LINE * lines) - LEVEL_LINE };
}

// Names under their levels, turned where they have no room
function levelAxis(frame, x, labels, name, offset = 0) {
  const base = frame.bottom + offset, { texts, turned, more } = labels;
  texts.forEach((lines, k) => {
    const first = turned ? 4 - LEVEL_LINE * (lines.length - 1) / 2 : 11;
    const spans = lines.map((line, j) => draw("tspan", { x: 0, y: first + LEVEL_LINE * j }, line));
    frame.svg.append(axisMark(x(k), base), draw("text", {
      class: "label", "text-anchor": turned ? "end" : "middle",
      transform: `translate(${x(k)} ${base + 7})${turned ? " rotate(-90)" : ""}` }, ...spans));
  });
  axisName(frame, name, base + more);
}

function markAxis(frame, x, marks, name, offset) {
  const base = frame.bottom + offset;
  marks.forEach(([tick, text]) => frame.svg.append(axisMark(x(tick), base),
    draw("text", { class: "label", x: x(tick), y: base + 18, "text-anchor": "middle" }, text),
  ));
  axisName(frame, name, base);
}

function axisMark(x, base) {
  return draw("line", { class: "axis", x1: x, x2: x, y1: base, y2: base + 5 });
}

function axisName(frame, name, base) {
  const middle = (frame.left + frame.right) / 2, room = (frame.right - frame.left) / 7.5;
  frame.svg.append(draw("text", { class: "name", x: middle, y: base + 36, "text-anchor": "middle" },
    draw("title", {}, name), shortened(name, Math.max(room, 8))));
}

function yAxis(frame, y, range, name, grid, dates) {
  const marks = namedTicks(range, Math.max(2, Math.floor((frame.bottom - frame.top) / 45)), dates);
  marks.forEach(([tick, text]) => {
    const end = grid ? frame.right : frame.left - 5;
    frame.svg.append(
      draw("line", { class: grid ? "grid" : "axis", x1: frame.left, x2: end, y1: y(tick), y2: y(tick) }),
      draw("text", { class: "label", x: frame.left - 8, y: y(tick) + 4, "text-anchor": "end" }, text),
    );
  });
  const middle = (frame.top + frame.bottom) / 2, room = (frame.bottom - frame.top) / 7.5;
  frame.svg.append(draw("text", {
    class: "name", "text-anchor": "middle", transform: `translate(13 ${middle}) rotate(-90)`,
  }, draw("title", {}, name), shortened(name, Math.max(room, 8))));
}

// Darker where more of the rows are, by a private estimate
function densityStrip(density, place) {
  const group = draw("g", { class: "density" }), largest = Math.max(...density.heights);
  density.heights.forEach((height, j) => {
    if (height <= 0.002 * largest) return;
    group.append(draw("rect", {
      ...place(density.edges[j], density.edges[j + 1]),
      "fill-opacity": (0.08 + 0.67 * Math.sqrt(height / largest)).toFixed(3),
    }));
  });
  return group;
}

function path(points) {
  return points.map(([a, b], k) => `${k ? "L" : "M"}${a.toFixed(2)} ${b.toFixed(2)}`).join("");
}

// Text lines beside the pointer, inside their place
function showTip(place, left, top, lines) {
  const tip = place.querySelector(".tip") || place.appendChild(create("div", { class: "tip" }));
  tip.replaceChildren(...lines.map((line) => create("div", {}, [line].flat().join(": "))));
  tip.hidden = false;
  const most = place.clientWidth - tip.offsetWidth - 2;
  tip.style.left = `${Math.max(0, Math.min(left + 14, most))}px`;
  tip.style.top = `${Math.max(0, top - tip.offsetHeight - 10)}px`;
}

function hideTip(place) {
  const tip = place.querySelector(".tip");
  if (tip) tip.hidden = true;
}

// Position of a pointer in the units of the picture
function pointerIn(svg, event) {
  const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
  return [
    (event.clientX - box.left) * view.width / box.width,
    (event.clientY - box.top) * view.height / box.height,
  ];
}

// The same words for the pointer, for the sliders and for tables
function predictionLines(target, at) {
  const format = formatter(target.high - target.low);
  const interval = `${format(at.functionLow)} to ${format(at.functionHigh)}`;
  if (!target.shows_observations) return [[target.name, format(at.mean)], ["95\u00a0%", interval]];
  return [
    [`mean ${target.name}`, format(at.mean)],
    ["function, 95\u00a0%", interval],
    ["observation, 95\u00a0%", `${format(at.lower)} to ${format(at.upper)}`],
  ];
}
