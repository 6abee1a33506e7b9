// Predictions from a released posterior: the formulas of dpgp.export.arithmetic, point by point.
// No document, no library; every number is a double.

function unitInputs(inputs, x) {
  // clip to the public box, scale to [-1, 1], warp
  return Float64Array.from(x, (value, d) => {
    const low = inputs.low[d], high = inputs.high[d];
    const clipped = Math.min(Math.max(value, low), high);
    const u = (clipped - (low + high) / 2) / ((high - low) / 2);
    return interpolate(Math.min(Math.max(u, -1), 1), inputs.edges, inputs.values[d]);
  });
}

function interpolate(u, edges, values) {
  let j = 0;
  while (j < edges.length - 2 && u >= edges[j + 1]) j += 1;
  const slope = (values[j + 1] - values[j]) / (edges[j + 1] - edges[j]);
  return values[j] + slope * (u - edges[j]);
}

const RADIAL = {  // functions of s = Σ (x - z)²/ℓ²
  "RBF": (s) => Math.exp(-0.5 * s),
  "RationalQuadratic": (s, alpha) => Math.pow(1 + s / (2 * alpha), -alpha),
  "Matern0.5": (s) => Math.exp(-Math.sqrt(s)),
  "Matern1.5": (s) => { const t = Math.sqrt(3 * s); return (1 + t) * Math.exp(-t); },
  "Matern2.5": (s) => {
    const t = Math.sqrt(5 * s);
    return (1 + t + t * t / 3) * Math.exp(-t);
  },
};

function draws(tree) {
  if (tree.parts) return draws(tree.parts[0]);
  return (tree.constant_value || tree.sigma_0 || tree.length_scale).length;
}

// A kernel and points Z -> a function that returns K_θ(x, Z), draw after draw of θ, in one buffer
function gram(tree, Z) {
  if (tree.parts) {
    const [first, second] = tree.parts.map((part) => gram(part, Z));
    return (x) => combine(tree.type, first(x), second(x));
  }
  const buffer = new Float64Array(draws(tree) * Z.length);
  if (tree.type === "ConstantKernel") return () => fillRows(buffer, tree.constant_value, Z.length);
  if (tree.type === "DotProduct") return (x) => fillDotProducts(buffer, tree, x, Z);
  return radialGram(tree, Z, buffer);
}

function combine(type, first, second) {
  if (type === "Sum") for (let i = 0; i < first.length; i += 1) first[i] += second[i];
  else for (let i = 0; i < first.length; i += 1) first[i] *= second[i];
  return first;
}

function fillRows(buffer, parameter, columns) {
  parameter.forEach(([value], t) => buffer.fill(value, t * columns, (t + 1) * columns));
  return buffer;
}

function fillDotProducts(buffer, tree, x, Z) {
  const products = Z.map((z) => dot(x, z));
  tree.sigma_0.forEach(([sigma], t) => products.forEach((product, j) => {
    buffer[t * Z.length + j] = sigma * sigma + product;
  }));
  return buffer;
}

function radialGram(tree, Z, buffer) {
  const columns = Z[0].length, squares = new Float64Array(Z.length * columns);
  const weights = tree.length_scale.map((row) => Float64Array.from(
    { length: columns }, (_, d) => 1 / (row[row.length > 1 ? d : 0] ** 2)));
  const radial = RADIAL[tree.type];
  return (x) => {
    Z.forEach((z, j) => z.forEach((value, d) => {
      squares[j * columns + d] = (x[d] - value) ** 2;
    }));
    weights.forEach((weight, t) => {
      const alpha = tree.alpha && tree.alpha[t][0];
      for (let j = 0, i = 0; j < Z.length; j += 1) {
        let s = 0;
        for (let d = 0; d < columns; d += 1, i += 1) s += weight[d] * squares[i];
        buffer[t * Z.length + j] = radial(s, alpha);
      }
    });
    return buffer;
  };
}

function diagonal(tree) {
  if (tree.parts) {
    const [first, second] = tree.parts.map(diagonal);
    return (x) => combine(tree.type, first(x), second(x));
  }
  const ones = () => new Float64Array(draws(tree)).fill(1);
  if (tree.type === "ConstantKernel") return () => Float64Array.from(tree.constant_value, ([v]) => v);
  if (tree.type !== "DotProduct") return ones;
  return (x) => {
    const norm = x.reduce((sum, value) => sum + value * value, 0);
    return Float64Array.from(tree.sigma_0, ([sigma]) => sigma * sigma + norm);
  };
}

// A kernel and points Z -> a function that returns K_θ(x, Z), averaged over the draws of θ
function meanGram(tree, Z) {
  const count = draws(tree), mean = new Float64Array(Z.length);
  const add = addWeighted(tree, Z, new Float64Array(count).fill(1 / count));
  return (x) => { mean.fill(0); add(x, mean); return mean; };
}

// A function that adds Σ_t ω_t K_t(x, Z) to a vector. Constants join the weights, sums come apart.
function addWeighted(tree, Z, weights) {
  if (tree.type === "Sum") {
    const [first, second] = tree.parts.map((part) => addWeighted(part, Z, weights));
    return (x, out) => { first(x, out); second(x, out); };
  }
  if (tree.type === "Product") return addWeightedProduct(tree, Z, weights);
  if (tree.type === "ConstantKernel") {
    const sum = dot(weights, tree.constant_value.map(([value]) => value));
    return (x, out) => { for (let j = 0; j < out.length; j += 1) out[j] += sum; };
  }
  if (tree.type === "DotProduct") return addWeightedDotProducts(tree, Z, weights);
  if (tree.type === "RBF" && isGrid(Z)) return addWeightedGrid(tree, Z, weights);
  return addWeightedRows(gram(tree, Z), weights);
}

function addWeightedProduct(tree, Z, weights) {
  const k = tree.parts.findIndex((part) => part.type === "ConstantKernel");
  if (k < 0) return addWeightedRows(gram(tree, Z), weights);
  const constant = tree.parts[k].constant_value;
  return addWeighted(tree.parts[1 - k], Z, weights.map((weight, t) => weight * constant[t][0]));
}

function addWeightedRows(all, weights) {
  return (x, out) => {
    const buffer = all(x);
    for (let t = 0, i = 0; t < weights.length; t += 1) {
      for (let j = 0; j < out.length; j += 1, i += 1) out[j] += weights[t] * buffer[i];
    }
  };
}

// Σ_t ω_t (σ_t² + x·z)
function addWeightedDotProducts(tree, Z, weights) {
  const offset = dot(weights, tree.sigma_0.map(([sigma]) => sigma * sigma));
  const slope = weights.reduce((sum, weight) => sum + weight, 0);
  return (x, out) => { for (let j = 0; j < out.length; j += 1) out[j] += offset + slope * dot(x, Z[j]); };
}

function distinct(Z, d) {
  return [...new Set(Z.map((z) => z[d]))];
}

function isGrid(Z) {
  return Z[0].reduce((sum, _, d) => sum + distinct(Z, d).length, 0) < Z.length;
}

// An RBF is a product over inputs, and points of a grid share their coordinates
function addWeightedGrid(tree, Z, weights) {
  const axes = Z[0].map((_, d) => Float64Array.from(distinct(Z, d)));
  const index = axes.map((axis, d) => Uint16Array.from(Z, (z) => axis.indexOf(z[d])));
  const factors = axes.map((axis) => new Float64Array(axis.length));
  return (x, out) => {
    for (let t = 0; t < weights.length; t += 1) {
      const lengths = tree.length_scale[t];
      axes.forEach((axis, d) => {
        const precision = 0.5 / lengths[lengths.length > 1 ? d : 0] ** 2;
        axis.forEach((z, j) => { factors[d][j] = Math.exp(-precision * (x[d] - z) ** 2); });
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

// Row-major matrices of doubles
function matrix(rows) {
  const flat = new Float64Array(rows.length * rows[0].length);
  rows.forEach((row, i) => flat.set(row, i * row.length));
  return flat;
}

function fromLowerTriangle(rows) {
  const n = rows.length, flat = new Float64Array(n * n);
  rows.forEach((row, i) => row.forEach((value, j) => {
    flat[i * n + j] = value;
    flat[j * n + i] = value;
  }));
  return flat;
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

// A tree of feature maps -> a function φ of scaled inputs
function featureMap(tree) {
  if (tree.type === "inducing") {
    const k = meanGram(tree.kernel, tree.anchors), P = matrix(tree.projection);
    const out = new Float64Array(tree.projection.length);
    return (u) => times(P, k(u), out);
  }
  if (tree.type === "grid") {
    const factors = tree.factors.map(featureMap);
    return (u) => factors.map((map, d) => map(u.subarray(d, d + 1))).reduce(kronecker);
  }
  if (tree.type === "linear") {
    return (u) => Float64Array.of(tree.constant, ...u.map((value) => tree.slope * value));
  }
  if (tree.type === "column") {
    const inner = featureMap(tree.inner);
    return (u) => inner(u.subarray(tree.column, tree.column + 1));
  }
  const maps = tree.maps.map(featureMap);
  return (u) => Float64Array.from(maps.flatMap(
    (map, i) => Array.from(map(u), (value) => tree.roots[i] * value)));
}

function kronecker(first, second) {
  const out = new Float64Array(first.length * second.length);
  first.forEach((a, i) => second.forEach((b, j) => { out[i * second.length + j] = a * b; }));
  return out;
}

class Posterior {
  constructor(model, k) {
    const target = model.targets[k];
    this.model = model;
    this.target = target;
    this.phi = featureMap(model.features);
    this.m = Float64Array.from(target.m);
    this.S = fromLowerTriangle(target.S);
    this.P = matrix(model.projection);
    this.K_zz = fromLowerTriangle(target.K_zz);
    this.k_zx = meanGram(target.kernel, model.anchors);
    this.k_xx = diagonal(target.kernel);
    this.d = new Float64Array(target.m.length);
    this.a = new Float64Array(model.anchors.length);
    this.b = new Float64Array(model.anchors.length);
  }

  // The public bounds of the target are centre ± scale
  cut(value) {
    const { centre, scale } = this.target;
    return Math.min(Math.max(value, centre - scale), centre + scale);
  }

  // Mean within the bounds, as it is, and standard deviations of the function and of an observation
  at(x) {
    const u = unitInputs(this.model.inputs, x), phi = this.phi(u), { scale } = this.target;
    const seen = Math.max(dot(times(this.S, phi, this.d), phi), 0);
    const variance = seen + this.missingVariance(u, phi);
    const raw = this.target.centre + scale * dot(this.m, phi);
    return {
      raw,
      mean: this.cut(raw),
      std: scale * Math.sqrt(variance),
      observationStd: scale * Math.sqrt(variance + this.target.noise_variance),
    };
  }

  // k(x, x) - 2 aᵀk(Z, x) + aᵀK(Z, Z)a with a = Pᵀφ(x), averaged over θ
  missingVariance(u, phi) {
    const a = transposeTimes(this.P, phi, this.a), k = this.k_zx(u), Ka = times(this.K_zz, a, this.b);
    const k_xx = this.k_xx(u).reduce((sum, value) => sum + value, 0) / draws(this.target.kernel);
    return Math.max(k_xx - 2 * dot(k, a) + dot(Ka, a), 0);
  }

  // The same with 95 % intervals for the function and for a new observation, all within the bounds
  predict(x) {
    const { raw, ...at } = this.at(x), { function_factor, interval_factor } = this.target;
    return {
      ...at,
      functionLow: this.cut(raw - function_factor * at.std),
      functionHigh: this.cut(raw + function_factor * at.std),
      lower: this.cut(at.mean - interval_factor * at.observationStd),
      upper: this.cut(at.mean + interval_factor * at.observationStd),
    };
  }
}
