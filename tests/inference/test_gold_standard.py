r"""The approximations of the inference against MCMC over (w, p, θ) given the releases.

The reference model. The rows sit at the positions of the density, :math:`p_g` of them at the g-th,
with the prior of the code, :math:`p \sim N(n/G, P_0)` on the simplex :math:`p \ge 0, \sum p = n`.
:math:`w \sim N(0, C_\theta)`, θ from its prior, and a row at the g-th position has
:math:`y = \phi_g^\top w + \epsilon`, :math:`\epsilon \sim N(0, \sigma^2)`. So

* :math:`\hat B_k \sim N(\sum p_g\phi_g\phi_g^\top, \text{known noise})`,
* all :math:`\hat A_k = \sum\phi\,\mathrm{clip}(y - \phi^\top w_k, R_k)` and
  :math:`\hat c_k = \sum\mathrm{clip}(y - \phi^\top w_k, R_k)^2` are sums over the same rows: jointly
  Gaussian (n is in the hundreds) with the exact means and covariances of clipped Gaussians at every
  position, plus known noise.

Nothing is linearised, no expectation replaces w, B or σ, and stages share their rows.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from dpgp.inference.gram_estimate import density_prior

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
WIDER = 1.2  # than the rough conditional, so that its tails are never too light
GRID = np.linspace(-0.95, 0.95, 21)[:, None]


def clipped_means(t, s, R):
    """E clip(N(t, s²), R) and the mean of its square."""
    a, b = (-R - t) / s, (R - t) / s
    below, above, inside = ndtr(a), ndtr(-b), ndtr(b) - ndtr(a)
    phi_a, phi_b = (np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) for x in (a, b))
    first = R * (above - below) + t * inside + s * (phi_a - phi_b)
    second = R**2 * (above + below) + (t**2 + s**2) * inside
    second += 2 * t * s * (phi_a - phi_b) + s**2 * (a * phi_a - b * phi_b)
    return first, second


@dataclass
class Reference:
    """log p(p, w, θ | releases) of the model above, for many chains at once."""

    model: object
    stages: list

    def __post_init__(self):
        self.F, self.n = self.model.atoms, self.stages[0].n
        self.G, self.d = self.F.shape
        self.inverse_prior = np.linalg.inv(density_prior(self.model.positions, self.n))
        precision = np.array([stage.sigma_b**-2.0 for stage in self.stages])
        self.B_precision = precision.sum()
        self.B_hat = np.tensordot(precision, [s.B for s in self.stages], axes=1) / precision.sum()
        self.data = np.concatenate([np.append(stage.A, stage.c) for stage in self.stages])
        own = [np.append(np.full(self.d, s.sigma_a), s.sigma_c) ** 2 for s in self.stages]
        self.own_noise = np.diag(np.concatenate(own))
        # a row at position g with statistics (r_1, r_1², r_2, r_2², …) adds s @ embedding[g]
        K, m = len(self.stages), len(self.data)
        self.embedding = np.zeros((self.G, 2 * K, m))
        for k in range(K):
            start = k * (self.d + 1)
            self.embedding[:, 2 * k, start : start + self.d] = self.F
            self.embedding[:, 2 * k + 1, start + self.d] = 1.0
        pairs = np.einsum("gai,gbj->gabij", self.embedding, self.embedding)
        self.pairs = pairs.reshape(-1, m * m)

    def unpack(self, states):
        """Return p and θ of the unconstrained coordinates (log ratios of p, θ)."""
        z, theta = states[:, : self.G - 1], states[:, self.G - 1 :]
        z = np.column_stack([z, np.zeros(len(z))])
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return self.n * p / p.sum(axis=1, keepdims=True), theta

    def pack(self, p, theta):
        return np.column_stack([np.log(p[:, :-1] / p[:, -1:]), theta])

    def evaluate(self, states, u, rng):
        """Return u, w = root·u, log target and log q(u | p, θ); u is drawn from q where None."""
        p, theta = self.unpack(states)
        roots, sigma = self._prior_roots(theta), np.exp(theta[:, -1])
        m, L = self._rough_conditional(p, roots, sigma)
        if u is None:
            z = WIDER * rng.normal(size=m.shape)
            u = m + np.linalg.solve(np.swapaxes(L, 1, 2), z[:, :, None])[:, :, 0]
        z = np.einsum("cji,cj->ci", L, u - m) / WIDER
        log_q = _log_root(L) - 0.5 * np.sum(z * z, axis=1)
        w = np.einsum("cij,cj->ci", roots, u)
        # |dp/dz| = Π p_g of the log ratios
        value = np.log(p).sum(axis=1) - 0.5 * np.sum(u * u, axis=1)
        value += self.model.prior.log_density(theta) + self._log_inputs(p)
        return u, w, value + self._log_sums(p, w, sigma), log_q

    def _prior_roots(self, theta):
        """Roots of C_θ for the kernel v·RBF(ℓ), θ = (log v, log ℓ, log σ); w = root·u."""
        v, length = np.exp(theta[:, 0]), np.exp(theta[:, 1])
        Z = self.model.features.anchors
        K = np.exp(-0.5 * ((Z - Z.T) / length[:, None, None]) ** 2) + 1e-9 * np.eye(len(Z))
        return self.model.features.projection @ np.linalg.cholesky(v[:, None, None] * K)

    def _rough_conditional(self, p, roots, sigma):
        """Mean of u and the root of its precision from the A's alone, clipping linearised."""
        B = np.einsum("cg,gi,gj->cij", p, self.F, self.F, optimize=True)
        e = sigma[:, None] * NODES
        clipped = np.stack(
            [e if s.is_unclipped else np.clip(e, -s.clip, s.clip) for s in self.stages]
        )
        slopes = (clipped * e) @ NODE_WEIGHTS / sigma**2
        shared = np.einsum("kcj,lcj,j->ckl", clipped, clipped, NODE_WEIGHTS)
        own = np.kron(np.diag([s.sigma_a**2 for s in self.stages]), np.eye(self.d))
        K, d, chains = len(self.stages), self.d, len(p)
        N = np.einsum("ckl,cij->ckilj", shared, B).reshape(chains, K * d, K * d) + own
        H = np.einsum("kc,cij,cjm->ckim", slopes, B, roots).reshape(chains, K * d, d)
        moved = np.einsum("kc,cij,kj->cki", slopes, B, np.stack([s.w0 for s in self.stages]))
        data = np.concatenate([s.A for s in self.stages]) + moved.reshape(chains, K * d)
        solved = np.linalg.solve(N, np.concatenate([H, data[:, :, None]], axis=2))
        information = np.swapaxes(H, 1, 2) @ solved
        precision = information[:, :, :d] + np.eye(d)
        m = np.linalg.solve(precision, information[:, :, d:])[:, :, 0]
        return m, np.linalg.cholesky(precision)

    def _log_inputs(self, p):
        centred = p - self.n / self.G
        value = -0.5 * np.sum((centred @ self.inverse_prior) * centred, axis=1)
        B = np.einsum("cg,gi,gj->cij", p, self.F, self.F, optimize=True)
        return value - 0.5 * self.B_precision * np.sum((B - self.B_hat) ** 2, axis=(1, 2))

    def _log_sums(self, p, w, sigma):
        means, values = [], []
        for stage in self.stages:
            t, s = (w - stage.w0) @ self.F.T, sigma[:, None]
            residuals = t[:, :, None] + s[:, :, None] * NODES
            if stage.is_unclipped:
                means += [t, t**2 + s**2]
            else:
                means += clipped_means(t, s, stage.clip)
                residuals = np.clip(residuals, -stage.clip, stage.clip)
            values += [residuals, residuals**2]
        values = np.stack(values, axis=2)
        centred = values - (values @ NODE_WEIGHTS)[..., None]
        covariances = (centred * NODE_WEIGHTS) @ np.swapaxes(centred, 2, 3)
        m = len(self.data)
        scaled = (p[:, :, None, None] * covariances).reshape(len(p), -1)
        total = (scaled @ self.pairs).reshape(-1, m, m) + self.own_noise
        mean = np.einsum(
            "cga,gam->cm", p[:, :, None] * np.stack(means, axis=2), self.embedding, optimize=True
        )
        return _log_normal(self.data - mean, total)


def _log_normal(x, covariance):
    L = np.linalg.cholesky(covariance)
    z = np.linalg.solve(L, x[:, :, None])[:, :, 0]
    return -0.5 * np.sum(z * z, axis=1) - _log_root(L)


def _log_root(L):
    return np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)


def sample(reference, states, burn_in, steps, thin, rng):
    """Metropolis along differences of other chains (ter Braak 2006), half of them at a time.

    In turn (p, θ) moves and w is proposed anew from its rough conditional q, and w moves alone.
    """
    halves = np.split(np.arange(len(states)), 2)
    u, w, target, log_q = reference.evaluate(states, None, rng)
    kept = []

    def step_of(x, moving, others, far):
        first = rng.integers(len(others), size=len(moving))
        second = (first + rng.integers(1, len(others), size=len(moving))) % len(others)
        length = 1.0 if far else 2.38 / np.sqrt(2 * x.shape[1])
        length = length * np.exp(rng.normal(0, 0.3, (len(moving), 1)))
        jitter = rng.normal(0, 1e-5, (len(moving), x.shape[1]))
        return x[moving] + length * (x[others[first]] - x[others[second]]) + jitter

    def accept(moving, new_states, proposed, log_ratio):
        took = np.log(rng.random(len(moving))) < log_ratio
        states[moving[took]] = new_states[took]
        for old, new in zip((u, w, target, log_q), proposed, strict=True):
            old[moving[took]] = new[took]

    for step in range(burn_in + steps):
        for moving, others in (halves, halves[::-1]):
            new = step_of(states, moving, others, step % 10 == 0)
            proposed = reference.evaluate(new, None, rng)
            ratio = proposed[2] - proposed[3] - target[moving] + log_q[moving]
            accept(moving, new, proposed, ratio)
            new_u = step_of(u, moving, others, False)
            proposed = reference.evaluate(states[moving], new_u, rng)
            accept(moving, states[moving], proposed, proposed[2] - target[moving])
        if step >= burn_in and step % thin == 0:
            kept.append(np.column_stack([states, w]))
    return np.stack(kept)


def diagnostics(samples):
    """Largest R-hat, and smallest effective sample size, of quantities (draws, chains, which)."""
    within = samples.var(axis=0, ddof=1).mean(axis=0)
    of_means = samples.mean(axis=0).var(axis=0, ddof=1)
    r_hat = np.sqrt(1 - 1 / len(samples) + of_means / within)
    return r_hat.max(), (samples.shape[1] * (within + of_means) / of_means).min()
