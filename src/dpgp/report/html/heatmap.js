// The function of two inputs as a map: its mean or its uncertainty, pale where little is known.

const MAP_POINTS = 61;

function mapValues(posterior) {
  const { low, high } = posterior.model.inputs;
  const mean = new Float64Array(MAP_POINTS ** 2), std = new Float64Array(MAP_POINTS ** 2);
  const node = (d, k) => low[d] + (high[d] - low[d]) * k / (MAP_POINTS - 1);
  for (let j = 0; j < MAP_POINTS; j += 1) {
    for (let i = 0; i < MAP_POINTS; i += 1) {
      const at = posterior.at([node(0, i), node(1, j)]);
      mean[j * MAP_POINTS + i] = at.mean;
      std[j * MAP_POINTS + i] = at.std;
    }
  }
  return { mean, std };
}

function drawMap(place, posterior, values, state, colours) {
  const { inputs } = posterior.model, { target } = posterior, { layer } = state;
  const labels = namedTicks([inputs.low[1], inputs.high[1]], 5, datesOf(inputs, 1)).map(([, text]) => text);
  const frame = canvas(place, {
    ratio: 0.8, most: 520, left: leftMargin(labels), right: 78, top: 16, bottom: 46 });
  const x = linear(inputs.low[0], inputs.high[0], frame.left, frame.right);
  const y = linear(inputs.low[1], inputs.high[1], frame.bottom, frame.top);
  const range = layer === "mean" ? extent(values.mean) : [0, extent(values.std)[1]];
  const unsure = target.little_known, pale = state.fade && layer === "mean";
  const image = raster(values, layer, range, colourScale(colours[layer]), frame, pale ? unsure : Infinity);
  frame.svg.append(draw("image", {
    href: image, x: frame.left, y: frame.top, preserveAspectRatio: "none",
    width: frame.right - frame.left, height: frame.bottom - frame.top,
  }));
  const nodeX = linear(0, MAP_POINTS - 1, frame.left, frame.right);
  const nodeY = linear(0, MAP_POINTS - 1, frame.bottom, frame.top);
  const levels = ticks(range[0], range[1], 8);
  levels.forEach((level) => frame.svg.append(draw("path", {
    class: "contour", d: contourPath(values[layer], MAP_POINTS, level, nodeX, nodeY) })));
  if (state.fade) frame.svg.append(draw("path", {
    class: "unsure", d: contourPath(values.std, MAP_POINTS, unsure, nodeX, nodeY) }));
  if (state.dots && posterior.model.atoms) frame.svg.append(atomDots(posterior.model.atoms, x, y));
  mapStrips(frame, inputs, x, y);
  xAxis(frame, x, [inputs.low[0], inputs.high[0]], inputs.names[0], 2, datesOf(inputs, 0));
  yAxis(frame, y, [inputs.low[1], inputs.high[1]], inputs.names[1], false, datesOf(inputs, 1));
  colourBar(frame, range, levels, colourScale(colours[layer]));
  const what = `Map of the ${layer === "mean" ? target.mean_word : "uncertainty"}: ${target.name}`;
  describe(frame.svg, `${what} by ${inputs.names[0]} and ${inputs.names[1]}`, mapWords(values, target));
  return { ...frame, x, y };
}

function extent(values) {
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
}

function raster(values, layer, range, colour, frame, unsure) {
  const width = Math.round((frame.right - frame.left) * 1.5);
  const height = Math.round((frame.bottom - frame.top) * 1.5);
  const surface = create("canvas", { width, height }), context = surface.getContext("2d");
  const image = context.createImageData(width, height), size = MAP_POINTS - 1;
  for (let row = 0, k = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1, k += 4) {
      const at = [size * (column + 0.5) / width, size * (1 - (row + 0.5) / height)];
      const shown = colour((bilinear(values[layer], at) - range[0]) / (range[1] - range[0]));
      const pale = bilinear(values.std, at) > unsure ? 0.62 : 0;
      shown.forEach((value, c) => { image.data[k + c] = value + pale * (255 - value); });
      image.data[k + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return surface.toDataURL();
}

function bilinear(values, [u, v]) {
  const i = Math.min(Math.floor(u), MAP_POINTS - 2), j = Math.min(Math.floor(v), MAP_POINTS - 2);
  const a = u - i, b = v - j, k = j * MAP_POINTS + i;
  const below = values[k] * (1 - a) + values[k + 1] * a;
  const above = values[k + MAP_POINTS] * (1 - a) + values[k + MAP_POINTS + 1] * a;
  return below * (1 - b) + above * b;
}

function atomDots(atoms, x, y) {
  const largest = Math.max(...atoms.shares), group = draw("g", { class: "atoms" });
  atoms.points.forEach(([a, b], k) => {
    const share = atoms.shares[k] / largest;
    if (share > 0.002) group.append(draw("circle", { cx: x(a), cy: y(b), r: 1 + 5 * Math.sqrt(share) }));
  });
  return group;
}

function mapStrips(frame, inputs, x, y) {
  if (!inputs.density) return;
  frame.svg.append(
    densityStrip(inputs.density[0], (from, to) => ({
      x: x(from), width: x(to) - x(from), y: frame.top - 11, height: 9 })),
    densityStrip(inputs.density[1], (from, to) => ({
      x: frame.right + 2, width: 9, y: y(to), height: y(from) - y(to) })),
  );
}

function colourBar(frame, range, levels, colour) {
  const y = linear(...range, frame.bottom, frame.top), format = formatter(range[1] - range[0]);
  const left = frame.right + 20, steps = 64, height = (frame.bottom - frame.top) / steps;
  for (let k = 0; k < steps; k += 1) {
    const [r, g, b] = colour((k + 0.5) / steps).map(Math.round);
    frame.svg.append(draw("rect", {
      x: left, width: 12, y: frame.bottom - (k + 1) * height - 0.3, height: height + 0.6,
      fill: `rgb(${r} ${g} ${b})`,
    }));
  }
  levels.forEach((level) => frame.svg.append(
    draw("line", { class: "contour", x1: left, x2: left + 12, y1: y(level), y2: y(level) }),
    draw("text", { class: "label", x: left + 16, y: y(level) + 4 }, format(level)),
  ));
}

function mapWords(values, target) {
  const format = formatter(target.high - target.low);
  const [a, b] = extent(values.mean).map(format), [c, d] = extent(values.std).map(format);
  return `The ${target.mean_word} lies between ${a} and ${b}, its standard deviation between ${c} and ${d}. `
    + "The numbers are in a table.";
}

function mapTable(posterior, values) {
  const { inputs } = posterior.model, { target } = posterior, every = (MAP_POINTS - 1) / 6;
  const at = (d, k) => inputs.low[d] + (inputs.high[d] - inputs.low[d]) * k / (MAP_POINTS - 1);
  const steps = Array.from({ length: 7 }, (_, k) => k * every);
  const forX = [0, 1].map((d) => inputFormatter(inputs, d));
  const forY = formatter(target.high - target.low);
  const heading = (d, k) => `${inputs.names[d]} ${forX[d](at(d, k))}`;
  const rows = steps.slice().reverse().map((j) => create("tr", {},
    create("th", { scope: "row" }, heading(1, j)),
    ...steps.map((i) => create("td", {}, `${forY(values.mean[j * MAP_POINTS + i])} `,
      create("small", {}, `± ${forY(values.std[j * MAP_POINTS + i])}`)))));
  const head = create("tr", {}, create("td"),
    ...steps.map((i) => create("th", { scope: "col" }, heading(0, i))));
  return create("table", {},
    create("caption", {}, `${target.mean_in_words} ± its standard deviation`),
    create("thead", {}, head), create("tbody", {}, ...rows));
}
