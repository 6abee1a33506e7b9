// The page: one point in the box, moved by sliders or pointer, and the plots through it.

function startPage(root, model) {
  const { inputs, order } = model, columns = inputs.low.length;
  const posteriors = model.targets.map(() => null), maps = model.targets.map(() => null);
  const state = { target: 0, axis: order[0], layer: "mean", fade: true, dots: false, centiles: false,
    point: [] };
  const hasMap = columns === 2 && !inputs.categories, isOne = columns === 1;
  const axes = () => (hasMap ? [0, 1] : [state.axis]);
  const posterior = () => (posteriors[state.target] ??= new Posterior(model, state.target));
  const map = () => (maps[state.target] ??= mapValues(posterior()));

  const sliders = inputs.low.map((_, d) => (levelsOf(inputs, d) ? levelChoice : slider)(
    inputs, d, usualValue(inputs, d), (value) => { state.point[d] = value; pointMoved(); }));
  state.point = sliders.map((one) => one.start);
  const curves = (hasMap ? inputs.low : [0]).map((_, k) => figure(`curve-${k}`));
  const mapFigure = hasMap ? figure("map") : null;
  const readout = create("output", { class: "readout", "aria-live": "polite" });
  let yRange, mapFrame;

  function setPoint(d, value) { state.point[d] = sliders[d].set(value); }

  function pointMoved() {
    const slices = axes().map((axis) => curveValues(posterior(), state.point, axis));
    yRange = rangeOf(posterior().target, slices.flat(), yRange);
    curves.forEach((one, k) => drawSlice(one, axes()[k], slices[k]));
    if (mapFrame) crossHair();
    const at = placeWords(" ", columns <= 2 ? inputs.low.map((_, d) => d) : order);
    const lines = predictionLines(posterior().target, posterior().predict(state.point));
    readout.replaceChildren(create("strong", {}, at), ...lines.map(([words, value]) => create("span", {},
      create("span", {}, `${words} `), create("span", {}, value))));
  }

  function placeWords(is, columnsInOrder) {
    const words = columnsInOrder.map((d) => `${inputs.names[d]}${is}${formatOf(d)(state.point[d])}`);
    const more = words.length - SLIDERS_SHOWN;
    return more <= 0 ? words.join(", ") : `${words.slice(0, SLIDERS_SHOWN).join(", ")} and ${more} more`;
  }

  function formatOf(d) { return inputFormatter(inputs, d); }

  function drawSlice(one, axis, values) {
    const frame = drawCurve(one.place, posterior(), values, axis, state.point, yRange,
      state.centiles);
    one.rows.replaceChildren(curveTable(posterior(), values, axis, state.centiles));
    const where = placeWords(" = ", order.filter((d) => d !== axis));
    const what = `${posterior().target.name} along ${inputs.names[axis]}`;
    one.caption.textContent = where ? `${what}, at ${where}` : what;
    follow(frame, one.place, (px) => {
      const low = inputs.low[axis], share = (frame.x.invert(px) - low) / (inputs.high[axis] - low);
      const v = values[Math.round(Math.min(Math.max(share, 0), 1) * (values.length - 1))];
      return [`${inputs.names[axis]} ${formatOf(axis)(v.x)}`, ...predictionLines(posterior().target, v)];
    }, (px) => { setPoint(axis, frame.x.invert(px)); pointMoved(); });
  }

  function drawWholeMap() {
    if (!mapFigure) return;
    const frame = drawMap(mapFigure.place, posterior(), map(), state, model.colours);
    mapFrame = frame;
    mapFigure.rows.replaceChildren(mapTable(posterior(), map()));
    mapFigure.caption.textContent = mapCaption();
    follow(frame, mapFigure.place, (px, py) => {
      const point = [frame.x.invert(px), frame.y.invert(py)];
      const at = point.map((value, d) => `${inputs.names[d]} ${formatOf(d)(value)}`).join(", ");
      return [at, ...predictionLines(posterior().target, posterior().predict(point))];
    }, (px, py) => { setPoint(0, frame.x.invert(px)); setPoint(1, frame.y.invert(py)); pointMoved(); });
  }

  function mapCaption() {
    const { target } = posterior(), limit = formatter(target.high - target.low)(target.little_known);
    const what = state.layer === "mean" ? target.mean_in_words
      : `Standard deviation of the ${target.mean_word}: ${target.name}`;
    const where = state.layer === "mean" ? "Pale, beyond the dark line" : "Beyond the dark line";
    const half = target.little_known_is ? `, ${target.little_known_is}` : "";
    const little = `${where}: little is known (sd above ${limit}${half}).`;
    return state.fade ? `${what}. ${little}` : `${what}.`;
  }

  function crossHair() {
    mapFrame.svg.querySelectorAll(".cross").forEach((old) => old.remove());
    const [a, b] = [mapFrame.x(state.point[0]), mapFrame.y(state.point[1])];
    const { top, bottom, left, right } = mapFrame;
    const d = `M${a} ${top}V${bottom}M${left} ${b}H${right}`;
    mapFrame.svg.append(draw("g", { class: "cross" },
      draw("path", { class: "halo", d }),
      draw("path", { class: "line", d }),
      draw("circle", { class: "cursor-dot", cx: a, cy: b, r: 4.5 })));
  }

  function redraw() {
    yRange = rangeOf(posterior().target, scattered(posterior()), [Infinity, -Infinity]);
    drawWholeMap();
    pointMoved();
  }

  const controls = create("div", { class: "controls" });
  const several = model.targets[0].link === "classes" ? "Class" : "Target";
  if (model.targets.length > 1) controls.append(choice(several, "target",
    model.targets.map((target, k) => [k, target.name]), (k) => { state.target = k; redraw(); }));
  if (!hasMap && !isOne) controls.append(choice("Along", "axis", order.map((d) => [d, inputs.names[d]]),
    (d) => { state.axis = d; pointMoved(); }));
  controls.append(...sliderGroups(columns <= 2 ? sliders : order.map((d) => sliders[d])), readout);
  if (mapFigure) controls.append(
    radios("Map", "layer", [["mean", "mean"], ["std", "uncertainty of the function"]],
      (layer) => { state.layer = layer; redraw(); }),
    checkbox("mark where little is known", true, (on) => { state.fade = on; redraw(); }),
    ...(model.atoms ? [checkbox("dots where the data are (private estimate)", false,
      (on) => { state.dots = on; redraw(); })] : []));
  if (posterior().target.shows_observations) controls.append(checkbox("centiles of new observations in curves", false,
    (on) => { state.centiles = on; redraw(); }));
  const lead = mapFigure ? mapFigure.node : curves[0].node;
  root.classList.toggle("wide", isOne);
  root.append(legend(Boolean(inputs.density), posterior().target), create("div", { class: "lead-plot" }, lead, controls));
  if (mapFigure) root.append(create("div", { class: "slices" }, ...curves.map((one) => one.node)));
  redraw();
  onWidthChange(root, redraw);
}

// Predictions all over the box: their range lets axes stay where they are when sliders move
function scattered(posterior) {
  const { inputs } = posterior.model, { low, high } = inputs;
  const steps = low.map((_, d) => 1 / (1 + d + Math.sqrt(2 + d)));
  const whole = (value, d) => (levelsOf(inputs, d) ? Math.round(value) : value);
  return Array.from({ length: 160 }, (_, k) => posterior.predict(
    low.map((a, d) => whole(a + (high[d] - a) * ((0.5 + k * steps[d]) % 1), d))));
}

// The range of intervals, and of what was seen before, within the target's bounds
function rangeOf(target, values, before) {
  if (target.link === "classes") return [target.low, target.high];  // other classes may be anywhere
  const margin = 0.02 * (target.high - target.low);
  const least = Math.min(before[0], ...values.map((v) => Math.min(v.lower, v.functionLow) - margin));
  const most = Math.max(before[1], ...values.map((v) => Math.max(v.upper, v.functionHigh) + margin));
  return [Math.max(least, target.low), Math.min(most, target.high)];
}

// Words under the pointer; a press moves the point
function follow(frame, place, words, press) {
  const { left, right, top, bottom } = frame;
  const within = ([px, py]) => px >= left && px <= right && py >= top && py <= bottom + 12;
  frame.svg.addEventListener("pointermove", (event) => {
    const at = pointerIn(frame.svg, event), box = place.getBoundingClientRect();
    if (!within(at)) hideTip(place);
    else if (event.buttons & 1) { hideTip(place); press(...at); }
    else showTip(place, event.clientX - box.left, event.clientY - box.top, words(...at));
  });
  frame.svg.addEventListener("pointerleave", () => hideTip(place));
  frame.svg.addEventListener("pointerdown", (event) => {
    const at = pointerIn(frame.svg, event);
    if (within(at)) { hideTip(place); press(...at); }
  });
}

function onWidthChange(root, redraw) {
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width || matchMedia("print").matches) return;
    width = root.clientWidth;
    redraw();
  }).observe(root);
}

const numbers = document.getElementById("model");
if (numbers) startPage(document.getElementById("plots"), JSON.parse(numbers.textContent));
