// Kernels are trees, and what is known of them is their structure: their formulas g(s) stand in
// FORMULAS, written from the trace of dpgp.kernels.
// gram(tree, Z) is a function that returns K_θ(x, Z), draw after draw of θ, in one buffer;
// diagonal(tree) one that returns k_θ(x, x) for every draw.
function kernelOf(tree) {
  return KERNELS[tree.type] ?? radialKernel(FORMULAS[tree.type]);
}

function gram(tree, Z) {
  return kernelOf(tree).gram(tree, Z);
}

function diagonal(tree) {
  return kernelOf(tree).diagonal(tree);
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
  return { gram: (tree, Z) => radialGram(g, tree, Z), diagonal: onesFor };
}

function onesFor(tree) {
  return rowsFrom(tree.length_scale.map(() => [1]), 1);
}

// The same with s = ‖ψ(x) - ψ(z)‖² for every θ, ψ a map of the tree
function mappedDistanceKernel(g, mapOf) {
  return {
    gram: (tree, Z) => {
      const map = mapOf(tree), all = Z.map(map), buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const a = map(x);
        const s = all.map((b) => a.reduce((sum, value, d) => sum + (value - b[d]) ** 2, 0));
        for (let t = 0, i = 0; t < draws(tree); t += 1) {
          for (let j = 0; j < s.length; j += 1, i += 1) buffer[i] = g(s[j], tree, t);
        }
        return buffer;
      };
    },
    diagonal: onesFor,
  };
}

// Lᵀx, for the metric LLᵀ
function metricMap({ root }) {
  return (x) => Float64Array.from(
    root[0], (_, j) => root.reduce((sum, row, i) => sum + row[j] * x[i], 0));
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

// h_n(x_n) of all inputs: linear between knots, constant beyond them
function brokenLines({ knots, heights }) {
  return (x) => Float64Array.from(knots, (knot, n) => knot.slice(1).reduce((sum, end, j) => {
    const step = end - knot[j], within = Math.min(Math.max(x[n] - knot[j], 0), step);
    return sum + (heights[n][j + 1] - heights[n][j]) / step * within;
  }, heights[n][0]));
}

// A kernel b(x)·b(z) of given functions b, the same for every θ
function basisKernel(basisOf) {
  return {
    gram: (tree, Z) => {
      const basis = basisOf(tree), all = Z.map((z) => basis(z));
      const buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const a = basis(x);
        all.forEach((b, j) => {
          const value = dot(a, b);
          for (let t = 0; t < draws(tree); t += 1) buffer[t * Z.length + j] = value;
        });
        return buffer;
      };
    },
    diagonal: (tree) => {
      const basis = basisOf(tree);
      return (x) => { const a = basis(x); return new Float64Array(draws(tree)).fill(dot(a, a)); };
    },
  };
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
  const kernel = kernelOf(tree);
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

const KERNELS = {
  RBF: separableKernel(FORMULAS.RBF),
  Materninf: separableKernel(FORMULAS.Materninf),
  ExpSineSquared: mappedDistanceKernel(FORMULAS.ExpSineSquared, () => (x) => x),
  MetricRBF: mappedDistanceKernel(FORMULAS.MetricRBF, metricMap),
  ConstantKernel: {
    gram: (tree, Z) => rowsFrom(tree.constant_value, Z.length),
    diagonal: (tree) => rowsFrom(tree.constant_value, 1),
    addWeighted: (tree, Z, weights) => {
      const sum = dot(weights, tree.constant_value.map(([value]) => value));
      return (x, out) => { for (let j = 0; j < out.length; j += 1) out[j] += sum; };
    },
  },
  WhiteKernel: {
    gram: (tree, Z) => rowsFrom(tree.noise_level.map(() => [0]), Z.length),
    diagonal: (tree) => rowsFrom(tree.noise_level, 1),
  },
  DotProduct: {
    gram: (tree, Z) => {
      const buffer = new Float64Array(draws(tree) * Z.length);
      return (x) => {
        const products = Z.map((z) => dot(x, z));
        tree.sigma_0.forEach(([sigma], t) => products.forEach((product, j) => {
          buffer[t * Z.length + j] = sigma * sigma + product;
        }));
        return buffer;
      };
    },
    diagonal: (tree) => (x) => Float64Array.from(tree.sigma_0, ([s]) => s * s + dot(x, x)),
    addWeighted: (tree, Z, weights) => {  // Σ_t ω_t (σ_t² + x·z)
      const offset = dot(weights, tree.sigma_0.map(([sigma]) => sigma * sigma));
      const slope = weights.reduce((sum, weight) => sum + weight, 0);
      return (x, out) => {
        for (let j = 0; j < out.length; j += 1) out[j] += offset + slope * dot(x, Z[j]);
      };
    },
  },
  AdditiveRBF: basisKernel(additiveBasis),
  BrokenLines: basisKernel(brokenLines),
  Sum: {
    ...pairKernel((first, second) => first + second),
    addWeighted: (tree, Z, weights) => {
      const [first, second] = tree.parts.map((part) => addWeighted(part, Z, weights));
      return (x, out) => { first(x, out); second(x, out); };
    },
  },
  Product: {
    ...pairKernel((first, second) => first * second),
    addWeighted: (tree, Z, weights) => {  // a constant joins the weights
      const k = tree.parts.findIndex((part) => part.type === "ConstantKernel");
      if (k < 0) return addWeightedRows(gram(tree, Z), weights);
      const values = tree.parts[k].constant_value;
      return addWeighted(tree.parts[1 - k], Z, weights.map((weight, t) => weight * values[t][0]));
    },
  },
  Exponentiation: mappedKernel((value, tree) => Math.pow(value, tree.exponent)),
  NormalizedKernel: {
    gram: (tree, Z) => {
      const part = tree.parts[0], k = gram(part, Z), k_xx = diagonal(part);
      const k_zz = Z.map((z) => Float64Array.from(k_xx(Float64Array.from(z))));
      return (x) => {
        const values = k(x), variances = k_xx(x);
        variances.forEach((v, t) => Z.forEach((z, j) => {
          const i = t * Z.length + j, square = v * k_zz[j][t];
          values[i] = square > 0 ? values[i] / Math.sqrt(square) : 0;
        }));
        return values;
      };
    },
    diagonal: (tree) => {
      const k_xx = diagonal(tree.parts[0]);
      return (x) => k_xx(x).map((value) => (value > 0 ? 1 : 0));
    },
  },
  ProductKernel: {
    gram: (tree, Z) => {
      const parts = tree.parts.map((part, n) => gram(part, Z.map((z) => [z[n]])));
      return (x) => parts.map((k, n) => k(x.subarray(n, n + 1))).reduce(multiplied);
    },
    diagonal: (tree) => {
      const parts = tree.parts.map(diagonal);
      return (x) => parts.map((k, n) => k(x.subarray(n, n + 1))).reduce(multiplied);
    },
  },
};
