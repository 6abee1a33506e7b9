// Predictions from a released posterior: the formulas of dpgp.export.arithmetic, point by point.
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

// Kernels are trees; KERNELS has an object for each type of tree, which these functions help to write.
// gram(tree, Z) is a function that returns K_θ(x, Z), draw after draw of θ, in one buffer;
// diagonal(tree) one that returns k_θ(x, x) for every draw.
function gram(tree, Z) {
  return KERNELS[tree.type].gram(tree, Z);
}

function diagonal(tree) {
  return KERNELS[tree.type].diagonal(tree);
}

function draws(tree) {
  if (tree.parts) return draws(tree.parts[0]);
  return Object.values(tree).find(Array.isArray).length;
}

// A function that returns rows of one value each, whatever x is
function rowsFrom(parameter, columns) {
  const buffer = new Float64Array(parameter.length * columns);
  return () => {
    parameter.forEach(([value], t) => buffer.fill(value, t * columns, (t + 1) * columns));
    return buffer;
  };
}

// A kernel g(s), s = Σ (x - z)²/ℓ², with g(0) = 1
function radialKernel(g) {
  return {
    gram: (tree, Z) => radialGram(g, tree, Z),
    diagonal: (tree) => rowsFrom(tree.length_scale.map(() => [1]), 1),
  };
}

function radialGram(g, tree, Z) {
  const columns = Z[0].length, squares = new Float64Array(Z.length * columns);
  const buffer = new Float64Array(draws(tree) * Z.length);
  const weights = tree.length_scale.map((row) => Float64Array.from(
    { length: columns }, (_, d) => 1 / (row[row.length > 1 ? d : 0] ** 2)));
  return (x) => {
    Z.forEach((z, j) => z.forEach((value, d) => {
      squares[j * columns + d] = (x[d] - value) ** 2;
    }));
    weights.forEach((weight, t) => {
      for (let j = 0, i = 0; j < Z.length; j += 1) {
        let s = 0;
        for (let d = 0; d < columns; d += 1, i += 1) s += weight[d] * squares[i];
        buffer[t * Z.length + j] = g(s, tree, t);
      }
    });
    return buffer;
  };
}

// The same where g(s + t) = g(s) g(t): a product over inputs
function separableKernel(g) {
  return {
    ...radialKernel(g),
    addWeighted: (tree, Z, weights) => (isGrid(Z)
      ? addWeightedGrid(g, tree, Z, weights) : addWeightedRows(gram(tree, Z), weights)),
  };
}

// R^{−1/2} r(x_n)/√D of all inputs side by side, r the smooth bumps around the knots
function additiveBasis(tree) {
  const [[length]] = tree.length_scale;
  return (x) => Float64Array.from(Array.from(x).flatMap((value) => {
    const bumps = tree.knots.map((knot) => Math.exp(-0.5 * ((value - knot) / length) ** 2));
    return tree.whitening.map((row) => dot(row, bumps) / Math.sqrt(x.length));
  }));
}

// Two kernels in one
function pairKernel(combine) {
  const combined = (first, second) => {
    for (let i = 0; i < first.length; i += 1) first[i] = combine(first[i], second[i]);
    return first;
  };
  return {
    gram: (tree, Z) => {
      const [first, second] = tree.parts.map((part) => gram(part, Z));
      return (x) => combined(first(x), second(x));
    },
    diagonal: (tree) => {
      const [first, second] = tree.parts.map(diagonal);
      return (x) => combined(first(x), second(x));
    },
  };
}

// A function of the values of one kernel
function mappedKernel(f) {
  const mapped = (k, tree) => (x) => k(x).map((value) => f(value, tree));
  return {
    gram: (tree, Z) => mapped(gram(tree.parts[0], Z), tree),
    diagonal: (tree) => mapped(diagonal(tree.parts[0]), tree),
  };
}

function multiplied(first, second) {
  return first.map((value, i) => value * second[i]);
}

// A kernel and points Z -> a function that returns K_θ(x, Z), averaged over the draws of θ
function meanGram(tree, Z) {
  const count = draws(tree), mean = new Float64Array(Z.length);
  const add = addWeighted(tree, Z, new Float64Array(count).fill(1 / count));
  return (x) => { mean.fill(0); add(x, mean); return mean; };
}

// A function that adds Σ_t ω_t K_t(x, Z) to a vector, by a short cut where the kernel has one
function addWeighted(tree, Z, weights) {
  const kernel = KERNELS[tree.type];
  if (kernel.addWeighted) return kernel.addWeighted(tree, Z, weights);
  return addWeightedRows(gram(tree, Z), weights);
}

function addWeightedRows(all, weights) {
  return (x, out) => {
    const buffer = all(x);
    for (let t = 0, i = 0; t < weights.length; t += 1) {
      for (let j = 0; j < out.length; j += 1, i += 1) out[j] += weights[t] * buffer[i];
    }
  };
}

function distinct(Z, d) {
  return [...new Set(Z.map((z) => z[d]))];
}

function isGrid(Z) {
  return Z[0].reduce((sum, _, d) => sum + distinct(Z, d).length, 0) < Z.length;
}

// Points of a grid share their coordinates
function addWeightedGrid(g, tree, Z, weights) {
  const axes = Z[0].map((_, d) => Float64Array.from(distinct(Z, d)));
  const index = axes.map((axis, d) => Uint16Array.from(Z, (z) => axis.indexOf(z[d])));
  const factors = axes.map((axis) => new Float64Array(axis.length));
  return (x, out) => {
    for (let t = 0; t < weights.length; t += 1) {
      const lengths = tree.length_scale[t];
      axes.forEach((axis, d) => {
        const precision = 1 / lengths[lengths.length > 1 ? d : 0] ** 2;
        axis.forEach((z, j) => { factors[d][j] = g(precision * (x[d] - z) ** 2, tree, t); });
      });
      addProducts(factors, index, weights[t], out);
    }
  };
}

function addProducts(factors, index, weight, out) {
  const columns = factors.length;
  for (let j = 0; j < out.length; j += 1) {
    let product = weight;
    for (let d = 0; d < columns; d += 1) product *= factors[d][index[d][j]];
    out[j] += product;
  }
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

// P, as it is or as a multiple of that of the features
function projectionOf({ projection, features }) {
  if (typeof projection !== "number") return matrix(projection);
  return matrix(features.projection).map((value) => projection * value);
}

// Mean and central 95 % of a normal law within [0, 1], by sums over where it has its mass
const NORMAL_95 = 1.959963984540054, STEPS = 2000, TAIL = 0.025;

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

class Posterior {
  constructor(model, k) {
    const target = model.targets[k];
    this.model = model;
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

  // Mean within the bounds, as it is, and standard deviations of the function and of an observation
  at(x) {
    const u = unitInputs(this.model.inputs, x), phi = this.phi(u), { scale } = this.target;
    const variance = this.variance(u, phi);
    const raw = this.target.centre + scale * dot(this.m, phi), std = scale * Math.sqrt(variance);
    return {
      raw,
      mean: this.target.link === "chance" ? chanceWithin(raw, std).mean : this.cut(raw),
      std,
      observationStd: this.localScale(u) * scale * Math.sqrt(variance + this.target.noise_variance),
    };
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
    if (this.target.link === "chance") {
      const { low, high } = chanceWithin(raw, function_factor * at.std / NORMAL_95);
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
