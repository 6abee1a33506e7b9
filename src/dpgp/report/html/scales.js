// Axes, numbers for people, and colours. No document.

function niceStep(range, count) {
  const rough = range / count, power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= rough * 0.999);
  return factor * power;
}

function ticks(low, high, count) {
  const step = niceStep(high - low, count), found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

// Places along an axis and what is written there: round numbers, or dates where it has some
function namedTicks(range, count, dates) {
  if (dates) return dates.ticks;
  const format = formatter(range[1] - range[0]);
  return ticks(range[0], range[1], count).map((tick) => [tick, format(tick)]);
}

// A function that writes numbers so that differences of a thousandth of the range are seen
function formatter(range) {
  if (!(range >= 1e-4 && range < 1e7)) return (value) => value.toExponential(3);
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(range) + 1e-9));
  const options = { minimumFractionDigits: 0, maximumFractionDigits: decimals };
  const format = new Intl.NumberFormat("en-GB", options);
  return (value) => format.format(value).replace("-", "−");
}

function shortened(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

const LEVEL_LINES = 3, TURNED_LETTERS = 24, CUTS = [0.5, 0, 1];

// Words in lines of so many letters; a longer word has a line of its own
function wrapped(text, letters) {
  const lines = [];
  for (const word of text.match(/[^\s-]+-*\s*|-+\s*/g) || [text]) {
    const last = lines.length - 1;
    if (last >= 0 && (lines[last] + word).trimEnd().length <= letters) lines[last] += word;
    else lines.push(word);
  }
  return lines.map((line) => line.trimEnd());
}

// Whole names of levels side by side if so many letters of a line suffice, else turned ones
function levelNames(levels, letters, lines) {
  const upright = levels.map((level) => wrapped(level, letters));
  const fits = (line) => line.length <= letters;
  if (upright.every((found) => found.length <= LEVEL_LINES && found.every(fits))) {
    return { texts: upright, turned: false };
  }
  const most = Math.min(Math.max(lines, 1), LEVEL_LINES);
  return { texts: toldApart(levels, most > 1 ? TURNED_LETTERS : 2 * TURNED_LETTERS, most), turned: true };
}

// Levels in lines, cut where they remain different; whole where no cut does
function toldApart(levels, letters, lines) {
  const inLines = (level, cut) => {
    const found = wrapped(level, letters), kept = found.slice(0, lines - 1);
    return [...kept, cutAt(found.slice(lines - 1).join(" "), letters, cut)].filter((line) => line);
  };
  const tried = CUTS.map((cut) => levels.map((level) => inLines(level, cut)));
  const differ = (texts) => new Set(texts.map((text) => text.join(" "))).size === levels.length;
  return tried.find(differ) || levels.map((level) => [level]);
}

function cutAt(text, letters, cut) {
  const all = Array.from(text), tail = Math.round(cut * (letters - 1));
  return all.length <= letters ? text
    : `${all.slice(0, letters - 1 - tail).join("")}…${all.slice(all.length - tail).join("")}`;
}

// How far a slider moves at a time: a round number where the bounds allow it
function sliderStep(low, high) {
  const step = niceStep(high - low, 200);
  const whole = (value) => Math.abs(value / step - Math.round(value / step)) < 1e-9;
  return whole(high - low) ? step : (high - low) / 200;
}

function linear(low, high, from, to) {
  const scale = (value) => from + (to - from) * (value - low) / (high - low);
  scale.invert = (pixel) => low + (high - low) * (pixel - from) / (to - from);
  return scale;
}

function rgb(hex) {
  return [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
}

// A function from [0, 1] to red, green and blue, linear between the given colours
function colourScale(hexes) {
  const stops = hexes.map(rgb);
  return (share) => {
    const position = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
    const k = Math.min(Math.floor(position), stops.length - 2), rest = position - k;
    return stops[k].map((value, c) => value + rest * (stops[k + 1][c] - value));
  };
}

// The levels of a category; null for a column of numbers
function levelsOf(inputs, d) {
  return inputs.categories && inputs.categories[d];
}

// What a column of dates counts days from, and its ticks; null for any other
function datesOf(inputs, d) {
  return inputs.dates && inputs.dates[d];
}

// A function that writes values of an input
function inputFormatter(inputs, d) {
  const levels = levelsOf(inputs, d), dates = datesOf(inputs, d);
  if (levels) return (value) => levels[Math.round(value)];
  return dates ? (value) => dateText(dates, value) : formatter(inputs.high[d] - inputs.low[d]);
}

function dateText(dates, value) {
  const day = new Date(Date.parse(dates.origin) + 864e5 * Math.round(value));
  return day.toISOString().slice(0, 10);
}

// A usual value of an input: the middle of its private density, or the level that is most frequent
function usualValue(inputs, d) {
  const density = inputs.density && inputs.density[d];
  if (levelsOf(inputs, d)) {
    return density ? density.heights.indexOf(Math.max(...density.heights)) : 0;
  }
  return density ? medianOf(density) : (inputs.low[d] + inputs.high[d]) / 2;
}

// Where a private density of one input has its middle
function medianOf(density) {
  const masses = density.heights.map((h, j) => h * (density.edges[j + 1] - density.edges[j]));
  let left = masses.reduce((sum, mass) => sum + mass, 0) / 2;
  for (let j = 0; j < masses.length; j += 1) {
    if (masses[j] >= left) {
      const share = left / masses[j];
      return density.edges[j] + share * (density.edges[j + 1] - density.edges[j]);
    }
    left -= masses[j];
  }
  return density.edges[density.edges.length - 1];
}

// Line segments of the level in a grid of values: marching squares
function contourPath(values, size, level, x, y) {
  const parts = [];
  const cross = (i, j, di, dj) => {
    const a = values[j * size + i], b = values[(j + dj) * size + i + di];
    if ((a > level) === (b > level)) return null;
    const share = (level - a) / (b - a);
    return `${x(i + di * share).toFixed(1)} ${y(j + dj * share).toFixed(1)}`;
  };
  for (let j = 0; j + 1 < size; j += 1) {
    for (let i = 0; i + 1 < size; i += 1) {
      const points = [cross(i, j, 1, 0), cross(i + 1, j, 0, 1), cross(i, j + 1, 1, 0), cross(i, j, 0, 1)]
        .filter((point) => point !== null);
      for (let k = 0; k + 1 < points.length; k += 2) parts.push(`M${points[k]}L${points[k + 1]}`);
    }
  }
  return parts.join("");
}
