// Forecast error against ε on logarithmic axes, as SVG.

const SPACE = "http://www.w3.org/2000/svg";
const EDGES = { left: 58, right: 14, top: 14, bottom: 44 };

function shape(tag, attributes, text = null) {
  const node = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== null) node.textContent = text;
  return node;
}

function ticks(low, high) {
  const found = [];
  for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade += 1) {
    for (const digit of [1, 2, 5]) {
      const value = digit * 10 ** decade;
      if (value >= low * 0.999 && value <= high * 1.001) found.push(Number(value.toPrecision(2)));
    }
  }
  return found;
}

function scale(low, high, from, to) {
  const span = Math.log(high / low) || 1;
  return (value) => from + ((to - from) * Math.log(value / low)) / span;
}

export function drawCurve(points, chosen, left, outcome, room) {
  const { left: x0, right, top, bottom } = EDGES;
  const width = Math.min(Math.max(room, 300), 720);
  const height = Math.round(width * 0.3) + 140;
  const low = Math.min(...points.map((p) => Math.min(p.low, p.without_privacy))) / 1.15;
  const high = Math.max(...points.map((p) => p.high)) * 1.15;
  const ends = points.map((p) => p.epsilon);
  const x = scale(Math.min(...ends) / 1.1, Math.max(...ends) * 1.1, x0, width - right);
  const y = scale(low, high, height - bottom, top);
  const label = `Expected error of ${outcome} against epsilon; the table below has the numbers.`;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "curve" });
  for (const value of ticks(low, high)) {
    svg.append(shape("line", { x1: x0, x2: width - right, y1: y(value), y2: y(value), class: "grid" }),
      shape("text", { x: x0 - 8, y: y(value) + 4, class: "tick", "text-anchor": "end" }, value));
  }
  for (const value of ticks(Math.min(...ends), Math.max(...ends))) {
    svg.append(shape("text", { x: x(value), y: height - bottom + 18, class: "tick", "text-anchor": "middle" }, value));
  }
  svg.append(
    shape("text", { x: (x0 + width - right) / 2, y: height - 6, class: "name", "text-anchor": "middle" }, "ε"),
    shape("text", { x: 0, y: 0, class: "name", "text-anchor": "middle", transform: `translate(13 ${(top + height - bottom) / 2}) rotate(-90)` },
      "expected error"));
  if (points.length > 1) svg.append(...lines(points, x, y));
  if (left > 0 && left < Math.max(...ends)) {
    const at = Math.max(x(left), x0);
    svg.append(shape("rect", { x: at, y: top, width: width - right - at, height: height - bottom - top, class: "beyond" }),
      shape("text", { x: width - right - 6, y: top + 16, class: "tick", "text-anchor": "end" }, "more than the ledger has left"));
  }
  if (chosen) {
    svg.append(shape("line", { x1: x(chosen.epsilon), x2: x(chosen.epsilon), y1: top, y2: height - bottom, class: "cursor" }),
      shape("circle", { cx: x(chosen.epsilon), cy: y(chosen.rmse), r: 6, class: "dot" }));
  }
  return svg;
}

function lines(points, x, y) {
  const path = (key) => points.map((p) => `${x(p.epsilon)},${y(p[key])}`);
  const band = [...path("low"), ...path("high").reverse()].join(" ");
  return [
    shape("polygon", { points: band, class: "band" }),
    shape("polyline", { points: path("rmse").join(" "), class: "line" }),
    shape("polyline", { points: path("without_privacy").join(" "), class: "floor" }),
  ];
}
