// Predictions from a released posterior: the formulas of dpgp.export.specify, point by point.
// No document, no library; every number is a double.

function unitInputs(inputs, x) {
  // clip to the public box, scale to [-1, 1], warp
  const warped = Float64Array.from(x, (value, d) => {
    const low = inputs.low[d], high = inputs.high[d];
    const clipped = Math.min(Math.max(value, low), high);
    const u = (clipped - (low + high) / 2) / ((high - low) / 2);
    return interpolate(Math.min(Math.max(u, -1), 1), inputs.edges, inputs.values[d]);
  });
  return inputs.categories ? withIndicators(inputs.categories, warped, x) : warped;
}

// ±1 for every level of a category, for two levels one; null is a column of numbers
function withIndicators(categories, warped, x) {
  return Float64Array.from(categories.flatMap((levels, d) => {
    if (!levels) return [warped[d]];
    const all = levels.map((_, k) => 1 - 2 * Math.min(Math.abs(x[d] - k), 1) ** 2);
    return levels.length === 2 ? all.slice(1) : all;
  }));
}

function interpolate(u, edges, values) {
  let j = 0;
  while (j < edges.length - 2 && u >= edges[j + 1]) j += 1;
  const slope = (values[j + 1] - values[j]) / (edges[j + 1] - edges[j]);
  return values[j] + slope * (u - edges[j]);
}

// A row-major matrix of doubles, from text that has the lower half of a symmetric one
function matrix({ rows, columns, symmetric, doubles, multiples, size, unit }) {
  const given = doubles ? doublesOf(doubles) : multiplesOf(multiples, size, unit);
  if (!symmetric) return given;
  const flat = new Float64Array(rows * columns);
  for (let i = 0, k = 0; i < rows; i += 1) {
    for (let j = 0; j <= i; j += 1, k += 1) {
      flat[i * columns + j] = given[k];
      flat[j * columns + i] = given[k];
    }
  }
  return flat;
}

const BASE_64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Bytes in base 64, as many as make whole numbers of a size
function bytesOf(text, size) {
  const count = Math.floor(text.replace(/=+$/, "").length * 3 / 4 / size);
  const bytes = new Uint8Array(size * count), codes = new Uint8Array(128);
  for (let k = 0; k < 64; k += 1) codes[BASE_64.charCodeAt(k)] = k;
  for (let k = 0, i = 0; i < bytes.length; k += 4, i += 3) {
    const [a, b, c, d] = [0, 1, 2, 3].map((step) => codes[text.charCodeAt(k + step)]);
    bytes[i] = (a << 2) | (b >> 4);
    bytes[i + 1] = (b << 4) | (c >> 2);
    bytes[i + 2] = (c << 6) | d;
  }
  return bytes;
}

// Little-endian doubles
function doublesOf(text) {
  const bytes = bytesOf(text, 8), view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 8 }, (_, k) => view.getFloat64(8 * k, true));
}

// Little-endian whole numbers with a sign, times a unit
function multiplesOf(text, size, unit) {
  const bytes = bytesOf(text, size), out = new Float64Array(bytes.length / size);
  for (let k = 0, last = size - 1; k < out.length; k += 1) {
    let whole = (bytes[size * k + last] << 24) >> 24;
    for (let j = last - 1; j >= 0; j -= 1) whole = 256 * whole + bytes[size * k + j];
    out[k] = unit * whole;
  }
  return out;
}

function times(A, v, out) {  // out = A v
  for (let i = 0, k = 0; i < out.length; i += 1) {
    let sum = 0;
    for (let j = 0; j < v.length; j += 1, k += 1) sum += A[k] * v[j];
    out[i] = sum;
  }
  return out;
}

function transposeTimes(A, v, out) {  // out = Aᵀ v
  out.fill(0);
  for (let i = 0, k = 0; i < v.length; i += 1) {
    for (let j = 0; j < out.length; j += 1, k += 1) out[j] += A[k] * v[i];
  }
  return out;
}

function dot(v, w) {
  let sum = 0;
  for (let i = 0; i < v.length; i += 1) sum += v[i] * w[i];
  return sum;
}

// A tree of feature maps -> a function φ of scaled inputs; MAPS has one for each type of tree
function featureMap(tree) {
  return MAPS[tree.type](tree);
}

function kronecker(first, second) {
  const out = new Float64Array(first.length * second.length);
  first.forEach((a, i) => second.forEach((b, j) => { out[i * second.length + j] = a * b; }));
  return out;
}

// What features multiply k(Z, x) by: a matrix, or L⁻¹/v with LLᵀ = K(Z, Z)/v + jitter·I
function whitening(tree) {
  if (!tree.root) return matrix(tree.projection);
  const { variance } = tree.root;
  return inverseRoot(tree).map((value) => value / variance);
}

function projectionOf({ projection, features }) {
  return features.root ? inverseRoot(features) : matrix(projection);
}

// L⁻¹, lower triangular, made once
function inverseRoot(tree) {
  if (tree.made) return tree.made;
  const { kernel, anchors, root: { variance, jitter } } = tree, n = anchors.length;
  const k = meanGram(kernel, anchors), L = new Float64Array(n * n), inverse = new Float64Array(n * n);
  for (let i = 0; i < n; i += 1) {
    const values = k(anchors[i]), row = L.subarray(i * n, i * n + n);
    for (let j = 0; j <= i; j += 1) {
      let sum = values[j] / variance + (i === j ? jitter : 0);
      for (let p = 0, q = j * n; p < j; p += 1, q += 1) sum -= row[p] * L[q];
      row[j] = i === j ? Math.sqrt(sum) : sum / L[j * n + j];
    }
  }
  // row i of L⁻¹ is (eᵢ - Σ_{p<i} L_ip row p)/L_ii
  for (let i = 0; i < n; i += 1) {
    const row = inverse.subarray(i * n, i * n + n), pivot = L[i * n + i];
    for (let p = 0; p < i; p += 1) {
      const share = L[i * n + p] / pivot;
      for (let j = 0, q = p * n; j <= p; j += 1, q += 1) row[j] -= share * inverse[q];
    }
    row[i] = 1 / pivot;
  }
  tree.made = inverse;
  return inverse;
}

// Mean and central 95 % of a normal law within [0, 1], by sums over where it has its mass
const NORMAL_95 = 1.959963984540054, STEPS = 2000, TAIL = 0.025, SMALLEST_CHANCE = 1e-9;

function chanceWithin(mean, std) {
  if (mean > 0.5) {
    const { mean: m, low, high } = chanceWithin(1 - mean, std);
    return { mean: 1 - m, low: 1 - high, high: 1 - low };
  }
  // below 0 the density falls like exp(mean p / std²)
  const width = mean < 0 ? Math.min(9 * std, 40 * std * std / -mean) : 9 * std;
  const start = Math.max(mean - 9 * std, 0), end = Math.min(Math.max(mean, 0) + width, 1);
  const p = (k) => start + (end - start) * (k + 0.5) / STEPS;
  const log = (x) => -0.5 * ((x - mean) / std) ** 2, most = log(Math.max(mean, start));
  const weights = Float64Array.from({ length: STEPS }, (_, k) => Math.exp(log(p(k)) - most));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let below = 0, first = 0, low = null, high = null;
  weights.forEach((weight, k) => {
    below += weight / total;
    first += weight / total * p(k);
    low ??= below >= TAIL ? p(k) : null;
    high ??= below >= 1 - TAIL ? p(k) : null;
  });
  return { mean: first, low, high };
}

// σ(a + bℓ) with ℓ the log odds of the mean of a normal law within [0, 1]; never 0 nor 1
function probability(mean, std, { level, slope, spread }) {
  const possible = (p) => Math.min(Math.max(p, SMALLEST_CHANCE), 1 - SMALLEST_CHANCE);
  const p = possible(chanceWithin(mean, spread ?? std).mean);
  return possible(1 / (1 + Math.exp(-level - slope * Math.log(p / (1 - p)))));
}

// The probability whose log odds are moved by a shift
function shifted(p, shift) {
  const odds = Math.exp(shift);
  return p * odds / (1 - p + p * odds);
}

// c(x) = exp(φᵀw + φᵀVφ), by which the standard deviation of an observation is multiplied
function localScale({ scale_features }, { local_scale }) {
  if (!scale_features) return () => 1;
  const phi = featureMap(scale_features), V = matrix(local_scale.V);
  const product = new Float64Array(local_scale.w.length);
  return (u) => {
    const at = phi(u);
    return Math.exp(dot(local_scale.w, at) + dot(times(V, at, product), at));
  };
}

// Of classes that have an order: what thresholds cut a logistic law about one function into
function inOrder(shares, cuts) {
  if (cuts.some((cut) => cut === null)) return shares;
  const sum = (values) => values.reduce((one, other) => one + other, 0);
  let trust = 0, odds = 0;
  cuts.slice(0, -1).forEach(([offset, , slope], k) => {
    const low = sum(shares.slice(0, k + 1)), high = sum(shares.slice(k + 1));
    trust += low * high;
    odds += low * high * slope * (Math.log(high / low) - offset);
  });
  const pull = odds / trust;
  const below = cuts.map(([, threshold], k) => k < cuts.length - 1 ? 1 / (1 + Math.exp(pull - threshold)) : 1);
  const parts = below.map((p, k) => Math.max(p - (k ? below[k - 1] : 0), SMALLEST_CHANCE));
  return parts.map((part) => part / sum(parts));
}

class Posterior {
  constructor(model, k) {
    const target = model.targets[k];
    this.model = model;
    this.number = k;
    this.target = target;
    this.phi = featureMap(model.features);
    this.m = Float64Array.from(target.m);
    const anchors = model.anchors ?? model.features.anchors;
    this.Q = matrix(target.Q);
    this.P = projectionOf(model);
    this.k_zx = meanGram(target.kernel, anchors);
    this.k_xx = diagonal(target.kernel);
    this.d = new Float64Array(target.m.length);
    this.a = new Float64Array(anchors.length);
    this.localScale = localScale(model, target);
  }

  // The public bounds of the target are centre ± scale
  cut(value) {
    const { centre, scale } = this.target;
    return Math.min(Math.max(value, centre - scale), centre + scale);
  }

  // Mean within the bounds, as it is, and standard deviations of the function and of an observation;
  // of one of several classes also the probabilities of all, which add up to one
  at(x) {
    const own = this.byItself(x);
    if (this.target.link !== "classes") return own;
    const parts = this.classes.map((one) =>
      one.target.odds.weight * (one === this ? own : one.byItself(x)).mean);
    const whole = parts.reduce((sum, part) => sum + part, 0);
    const shares = inOrder(parts.map((part) => part / whole), this.classes.map((one) => one.target.odds.cut));
    return { ...own, mean: shares[this.number], shares };
  }

  byItself(x) {
    const u = unitInputs(this.model.inputs, x), phi = this.phi(u), { scale } = this.target;
    const variance = this.variance(u, phi);
    const raw = this.target.centre + scale * dot(this.m, phi), std = scale * Math.sqrt(variance);
    return {
      raw,
      mean: this.isChance ? probability(raw, std, this.target.odds) : this.cut(raw),
      std,
      observationStd: this.localScale(u) * scale * Math.sqrt(variance + this.target.noise_variance),
    };
  }

  get isChance() { return this.target.link !== "bounds"; }

  get classes() {
    return this.all ??= this.model.targets.map((_, k) => (k === this.number ? this : new Posterior(this.model, k)));
  }

  // φᵀQφ - 2 aᵀk(Z, x) + k(x, x) with a = Pᵀφ(x): what is known, and what the features miss
  variance(u, phi) {
    const a = transposeTimes(this.P, phi, this.a), k = this.k_zx(u);
    const k_xx = this.k_xx(u).reduce((sum, value) => sum + value, 0) / draws(this.target.kernel);
    return Math.max(dot(times(this.Q, phi, this.d), phi) - 2 * dot(k, a) + k_xx, 0);
  }

  // The same with 95 % intervals for the function and for a new observation, and centiles of such
  // observations, all within the bounds
  predict(x) {
    const { raw, ...at } = this.at(x), { function_factor, interval_ends, centiles } = this.target;
    if (this.isChance) {
      const half = function_factor * at.std, within = chanceWithin(raw, half / NORMAL_95);
      const ends = [within.low, within.high].map((p) => shifted(p, this.target.odds.shift));
      const low = Math.min(ends[0], at.mean, Math.max(raw - half, 0));
      const high = Math.max(ends[1], at.mean, Math.min(raw + half, 1));
      return { ...at, functionLow: low, functionHigh: high, lower: low, upper: high, centiles: [] };
    }
    const whole = this.target.whole ? (value) => Math.floor(value + 0.5) : (value) => value;
    const observed = (factor) => whole(this.cut(at.mean + factor * at.observationStd));
    return {
      ...at,
      functionLow: this.cut(raw - function_factor * at.std),
      functionHigh: this.cut(raw + function_factor * at.std),
      lower: observed(interval_ends[0]),
      upper: observed(interval_ends[1]),
      centiles: centiles.map(([, factor]) => observed(factor)),
    };
  }
}
