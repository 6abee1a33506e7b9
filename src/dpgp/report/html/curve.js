// A slice through the function: mean, what is unknown about it, and where new observations lie.

const CURVE_POINTS = 201, TABLE_EVERY = 10;

function curveValues(posterior, point, axis) {
  const { inputs } = posterior.model, { low, high } = inputs, levels = levelsOf(inputs, axis);
  const length = levels ? levels.length : CURVE_POINTS;
  return Array.from({ length }, (_, k) => {
    const x = low[axis] + (high[axis] - low[axis]) * k / (length - 1);
    const at = point.slice();
    at[axis] = x;
    return { x, ...posterior.predict(at) };
  });
}

function drawCurve(place, posterior, values, axis, point, yRange, centiles) {
  const { inputs } = posterior.model, { target } = posterior;
  const levels = levelsOf(inputs, axis), room = levels ? 0.5 : 0, name = inputs.names[axis];
  const xRange = [inputs.low[axis] - room, inputs.high[axis] + room];
  const labels = ticks(yRange[0], yRange[1], 5).map(formatter(yRange[1] - yRange[0]));
  const shares = values[0].shares && !levels, classes = posterior.model.targets.map((each) => each.label);
  const left = leftMargin(labels), right = centiles ? 34 : shares ? 14 + classWidth(classes) : 14;
  const names = levels && levelLabels(levels, widthOf(place) - left - right);
  const frame = canvas(place, {
    ratio: 0.62, most: 400, left, right, bottom: 56, more: names ? names.more : 0 });
  const x = linear(...xRange, frame.left, frame.right), y = linear(...yRange, frame.bottom, frame.top);
  yAxis(frame, y, yRange, target.name, true);
  const inside = draw("svg", {
    x: frame.left, y: frame.top, width: frame.right - frame.left, height: frame.bottom - frame.top,
    viewBox: `${frame.left} ${frame.top} ${frame.right - frame.left} ${frame.bottom - frame.top}`,
  });
  inside.append(...(levels ? levelMarks(values, x, y, target) : centiles ? centileLines(values, x, y) : [
    ...(target.shows_observations ? [band(values, x, y, "lower", "upper", "observation")] : []),
    band(values, x, y, "functionLow", "functionHigh", "function"),
    ...(shares ? otherClasses(values, x, y, posterior.number) : []),
    draw("path", { class: "mean", d: path(values.map((v) => [x(v.x), y(v.mean)])) }),
  ]));
  frame.svg.append(inside);
  const density = inputs.density && inputs.density[axis];
  if (density) frame.svg.append(densityStrip(density, (from, to) => ({
    x: x(from), width: x(to) - x(from), y: frame.bottom + 2, height: 9,
  })));
  frame.svg.append(draw("line", {
    class: "axis", x1: frame.left, x2: frame.right, y1: frame.bottom, y2: frame.bottom }));
  if (levels) levelAxis(frame, x, names, name, density ? 12 : 0);
  else xAxis(frame, x, xRange, name, density ? 12 : 0, datesOf(inputs, axis));
  if (centiles && !levels) centileNames(frame, y, target, values[values.length - 1]);
  if (shares) classNames(frame, y, classes, values[values.length - 1].shares, posterior.number);
  marker(frame, x, y, point[axis], posterior.at(point).mean);
  const words = levels ? levelWords(target, levels, values) : curveWords(target, name, values);
  describe(frame.svg, `${levels ? "Levels" : "Curve"} of ${target.name} along ${name}`, words);
  return { ...frame, x, y };
}

// A dash for the mean of every level, over bars for the function and for an observation
function levelMarks(values, x, y, target) {
  const half = 0.3 * Math.min(x(1) - x(0), 60);
  const bar = (v, low, high, kind, width) => draw("rect", {
    class: `band ${kind}`, x: x(v.x) - width, width: 2 * width, y: y(v[high]), height: y(v[low]) - y(v[high]) });
  return values.flatMap((v) => [
    ...(target.shows_observations ? [bar(v, "lower", "upper", "observation", half)] : []),
    bar(v, "functionLow", "functionHigh", "function", half),
    draw("path", { class: "mean", d: path([[x(v.x) - half, y(v.mean)], [x(v.x) + half, y(v.mean)]]) }),
  ]);
}

// One line a centile of new observations, the median thickest
function centileLines(values, x, y) {
  const count = values[0].centiles.length, middle = (count - 1) / 2;
  return values[0].centiles.map((_, k) => draw("path", {
    class: k === middle ? "centile median" : "centile",
    d: path(values.map((v) => [x(v.x), y(v.centiles[k])])) }));
}

// A thin line for every other class, beside that of the chosen one
function otherClasses(values, x, y, chosen) {
  return values[0].shares.map((_, k) => k).filter((k) => k !== chosen).map((k) => draw("path", {
    class: "other-class", d: path(values.map((v) => [x(v.x), y(v.shares[k])])) }));
}

const CLASS_LETTERS = 14, CLASS_LINE = 14;

const shortClass = (name) => (name.length > CLASS_LETTERS ? `${name.slice(0, CLASS_LETTERS - 1)}…` : name);

function classWidth(names) {
  return 7 * Math.max(...names.map((name) => shortClass(name).length));
}

// Names of all classes where their lines end, none over another
function classNames(frame, y, names, last, chosen) {
  const order = names.map((_, k) => k).sort((a, b) => last[b] - last[a]);
  let height = -Infinity;
  order.map((k, place) => {
    const room = frame.bottom - CLASS_LINE * (order.length - 1 - place);
    height = Math.max(height + CLASS_LINE, Math.min(y(last[k]), room));
    return [k, height];
  }).forEach(([k, at]) => frame.svg.append(draw("text", {
    class: k === chosen ? "label chosen" : "label", x: frame.right + 4, y: at + 4 }, shortClass(names[k]))));
}

function centileNames(frame, y, target, last) {
  target.centiles.forEach(([level], k) => frame.svg.append(draw("text", {
    class: "label", x: frame.right + 3, y: y(last.centiles[k]) + 4 }, centileName(level))));
}

function centileName(level) { return String(Math.round(1000 * level) / 10); }

function band(values, x, y, low, high, kind) {
  const up = values.map((v) => [x(v.x), y(v[high])]), down = values.map((v) => [x(v.x), y(v[low])]);
  return draw("path", { class: `band ${kind}`, d: `${path([...up, ...down.reverse()])}Z` });
}

function marker(frame, x, y, at, mean) {
  frame.svg.append(
    draw("line", { class: "cursor", x1: x(at), x2: x(at), y1: frame.top, y2: frame.bottom }),
    draw("circle", { class: "cursor-dot", cx: x(at), cy: y(mean), r: 4.5 }),
  );
}

function curveWords(target, name, values) {
  const format = formatter(target.high - target.low), means = values.map((v) => v.mean);
  const [first, last] = [means[0], means[means.length - 1]].map(format);
  return `The ${target.mean_word} goes from ${first} at the lower bound of ${name} to ${last} at the upper, between `
    + `${format(Math.min(...means))} and ${format(Math.max(...means))}. The numbers are in a table.`;
}

function levelWords(target, levels, values) {
  const format = formatter(target.high - target.low), means = values.map((v) => v.mean);
  const at = (mean) => `${format(mean)} at ${levels[means.indexOf(mean)]}`;
  return `The ${target.mean_word} lies between ${at(Math.min(...means))} and ${at(Math.max(...means))}. `
    + "The numbers are in a table.";
}

function cell(tag, value, format) {
  return create(tag, {}, create("data", { value: String(value) }, format(value)));
}

function curveTable(posterior, values, axis, centiles) {
  const { inputs } = posterior.model, { target } = posterior, name = inputs.names[axis];
  const forX = inputFormatter(inputs, axis), every = levelsOf(inputs, axis) ? 1 : TABLE_EVERY;
  const forY = formatter(target.high - target.low);
  const observed = target.shows_observations ? ["observation from", "to"] : [];
  const of = (v) => (centiles ? v.centiles
    : [v.mean, v.functionLow, v.functionHigh, ...(target.shows_observations ? [v.lower, v.upper] : [])]);
  const headings = [name, ...(centiles ? target.centiles.map(([level]) => `${centileName(level)} %`)
    : [target.mean_word, "function from", "to", ...observed])];
  const rows = values.filter((_, k) => k % every === 0).map((v) => {
    const row = create("tr", {}, cell("th", v.x, forX), ...of(v).map((value) => cell("td", value, forY)));
    row.firstChild.setAttribute("scope", "row");
    return row;
  });
  return create("table", {},
    create("caption", {}, centiles ? `${target.name} along ${name}: centiles of new observations`
      : `${target.name} along ${name}: ${target.mean_word}, and 95 % intervals`),
    create("thead", {}, create("tr", {}, ...headings.map((h) => create("th", { scope: "col" }, h)))),
    create("tbody", {}, ...rows));
}
