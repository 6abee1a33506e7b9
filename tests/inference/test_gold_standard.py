r"""The approximations of the inference against MCMC over (w, p, θ) given the releases.

The reference model. The rows sit at the positions of the density, :math:`p_g` of them at the g-th,
with the prior of the code, :math:`p \sim N(n/G, P_0)` on the simplex :math:`p \ge 0, \sum p = n`.
:math:`w \sim N(0, C_\theta)`, θ from its prior, and a row at the g-th position has
:math:`y = \phi_g^\top w + \epsilon`, :math:`\epsilon \sim N(0, \sigma^2)`. So

* :math:`\hat B_k \sim N(\sum p_g\phi_g\phi_g^\top, \text{known noise})`,
* all :math:`\hat A_k = \sum\phi\,\mathrm{clip}(y - \phi^\top w_k, R_k)` and
  :math:`\hat c_k = \sum\mathrm{clip}(y - \phi^\top w_k, R_k)^2` are sums over the same rows:
  jointly Gaussian (n is in the hundreds) with the exact means and covariances of clipped Gaussians
  at every position, plus known noise.

Nothing is linearised, no expectation replaces w, B or σ, and stages share their rows.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import ndtr
from simulated_stages import model_1d, release, rows_1d

from dpgp.inference.few.gram_estimate import density_prior, density_sd, pool
from dpgp.inference.few.integral import infer

NODES, NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
NODE_WEIGHTS = NODE_WEIGHTS / NODE_WEIGHTS.sum()
WIDER = (1.1, 3.0)  # than the rough conditional: a mixture whose tails are never too light
GRID = np.linspace(-0.95, 0.95, 21)[:, None]


def clipped_means(t, s, R):
    """Of r ~ N(t, s²): E clip(r), E clip(r)², P(|r| < R) and E[r; |r| < R]."""
    a, b = (-R - t) / s, (R - t) / s
    below, above, inside = ndtr(a), ndtr(-b), ndtr(b) - ndtr(a)
    phi_a, phi_b = (np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi) for x in (a, b))
    middle = t * inside + s * (phi_a - phi_b)
    first = R * (above - below) + middle
    second = R**2 * (above + below) + (t**2 + s**2) * inside
    second += 2 * t * s * (phi_a - phi_b) + s**2 * (a * phi_a - b * phi_b)
    return first, second, inside, middle


@dataclass
class Reference:
    """log p(p, w, θ | releases) of the model above, for many chains at once."""

    model: object
    stages: list
    centre: np.ndarray  # where proposals are linearised; the target does not depend on it

    def __post_init__(self):
        self.F, self.n = self.model.atoms, self.stages[0].n
        self.G, self.d = self.F.shape
        # the size of that prior is the code's plug-in estimate
        sd = density_sd(*pool(self.stages), self.model.atoms, self.model.positions, self.n)
        self.inverse_prior = np.linalg.inv(density_prior(self.model.positions, self.n)) / sd**2
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

    def log_density(self, states, u):
        """Return w = root·u and the log of the target density."""
        p, theta = self.unpack(states)
        w = np.einsum("cij,cj->ci", self._prior_roots(theta), u)
        # |dp/dz| = Π p_g of the log ratios
        value = np.log(p).sum(axis=1) - 0.5 * np.sum(u * u, axis=1)
        value += self.model.prior.log_density(theta) + self._log_inputs(p)
        return w, value + self._log_sums(p, w, np.exp(theta[:, -1]))

    def rough_conditional(self, states):
        """Mean of u given (p, θ) and the root of its precision, A linearised in w at the centre."""
        p, theta = self.unpack(states)
        roots, w = self._prior_roots(theta), np.broadcast_to(self.centre, (len(p), self.d))
        means, slopes, covariances = self._row_moments(w, np.exp(theta[:, -1]))
        mean, N = self._sums(p, means, covariances)
        slope = np.einsum("cg,cga,gam,gi->cmi", p, slopes, self.embedding, self.F, optimize=True)
        first = np.arange(len(self.data)) % (self.d + 1) < self.d  # not the second moments
        H, N = (slope @ roots)[:, first], N[:, first][:, :, first]
        data = (self.data - mean)[:, first, None] + slope[:, first] @ self.centre[:, None]
        information = np.swapaxes(H, 1, 2) @ np.linalg.solve(N, np.concatenate([H, data], axis=2))
        precision = information[:, :, :-1] + np.eye(self.d)
        m = np.linalg.solve(precision, information[:, :, -1:])[:, :, 0]
        return m, np.linalg.cholesky(precision)

    def _prior_roots(self, theta):
        """Roots of C_θ for the kernel v·RBF(ℓ), θ = (log v, log ℓ, log σ); w = root·u."""
        v, length = np.exp(theta[:, 0]), np.exp(theta[:, 1])
        Z = self.model.features.anchors
        K = np.exp(-0.5 * ((Z - Z.T) / length[:, None, None]) ** 2) + 1e-9 * np.eye(len(Z))
        return self.model.features.projection @ np.linalg.cholesky(v[:, None, None] * K)

    def _log_inputs(self, p):
        centred = p - self.n / self.G
        value = -0.5 * np.sum((centred @ self.inverse_prior) * centred, axis=1)
        B = np.einsum("cg,gi,gj->cij", p, self.F, self.F, optimize=True)
        return value - 0.5 * self.B_precision * np.sum((B - self.B_hat) ** 2, axis=(1, 2))

    def _log_sums(self, p, w, sigma):
        means, _, covariances = self._row_moments(w, sigma)
        mean, covariance = self._sums(p, means, covariances)
        return _log_normal(self.data - mean, covariance)

    def _row_moments(self, w, sigma):
        """Means, slopes in φᵀw, and covariances of (r_1, r_1², r_2, …) at every position."""
        means, slopes, values = [], [], []
        for stage in self.stages:
            t, s = (w - stage.w0) @ self.F.T, sigma[:, None]
            R = np.inf if stage.is_unclipped else stage.clip
            residuals = np.clip(t[:, :, None] + s[:, :, None] * NODES, -R, R)
            values += [residuals, residuals**2]
            if stage.is_unclipped:
                means += [t, t**2 + s**2]
                slopes += [np.ones_like(t), 2 * t]
            else:
                first, second, inside, middle = clipped_means(t, s, R)
                means += [first, second]
                slopes += [inside, 2 * middle]
        values = np.stack(values, axis=2)
        centred = values - (values @ NODE_WEIGHTS)[..., None]
        covariances = (centred * NODE_WEIGHTS) @ np.swapaxes(centred, 2, 3)
        return np.stack(means, axis=2), np.stack(slopes, axis=2), covariances

    def _sums(self, p, means, covariances):
        """Mean and covariance of all released sums over p_g rows at every position."""
        m = len(self.data)
        scaled = (p[:, :, None, None] * covariances).reshape(len(p), -1)
        total = (scaled @ self.pairs).reshape(-1, m, m) + self.own_noise
        mean = np.einsum("cg,cga,gam->cm", p, means, self.embedding, optimize=True)
        return mean, total


def _log_normal(x, covariance):
    L = np.linalg.cholesky(covariance)
    z = np.linalg.solve(L, x[:, :, None])[:, :, 0]
    return -0.5 * np.sum(z * z, axis=1) - _log_root(L)


def _log_root(L):
    return np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)


def draw_wide(m, L, rng):
    z = rng.normal(size=m.shape) * rng.choice(WIDER, len(m))[:, None]
    return m + np.linalg.solve(np.swapaxes(L, 1, 2), z[:, :, None])[:, :, 0]


def log_wide(u, m, L):
    squares = np.sum(np.einsum("cji,cj->ci", L, u - m) ** 2, axis=1)
    parts = [-0.5 * squares / wider**2 - m.shape[1] * np.log(wider) for wider in WIDER]
    return _log_root(L) + np.logaddexp(*parts)


def sample(reference, states, burn_in, steps, rng, thin=5):
    """Metropolis along differences of other chains (ter Braak 2006), half of them at a time.

    (p, θ, w) move together; now and then (p, θ) move and w is drawn from its rough conditional.
    """
    halves, dimension = np.split(np.arange(len(states)), 2), states.shape[1]
    u = draw_wide(*reference.rough_conditional(states), rng)
    w, target = reference.log_density(states, u)
    kept = []

    def ahead(x, moving, others, length):
        first = rng.integers(len(others), size=len(moving))
        second = (first + rng.integers(1, len(others), size=len(moving))) % len(others)
        length = length * np.exp(rng.normal(0, 0.4, (len(moving), 1)))
        jitter = rng.normal(0, 1e-5, (len(moving), x.shape[1]))
        return x[moving] + length * (x[others[first]] - x[others[second]]) + jitter

    def accept(moving, new, new_u, correction):
        new_w, new_target = reference.log_density(new, new_u)
        took = np.log(rng.random(len(moving))) < new_target - target[moving] + correction
        at = moving[took]
        states[at], u[at], w[at] = new[took], new_u[took], new_w[took]
        target[at] = new_target[took]

    for step in range(burn_in + steps):
        for moving, others in (halves, halves[::-1]):
            if step % 2 == 0:
                new = ahead(states, moving, others, 1.7 / np.sqrt(dimension))
                q_old, q_new = (reference.rough_conditional(x) for x in (states[moving], new))
                new_u = draw_wide(*q_new, rng)
                accept(moving, new, new_u, log_wide(u[moving], *q_old) - log_wide(new_u, *q_new))
            else:
                together = np.hstack([states, u])
                length = 1.0 if step % 10 == 1 else 1.7 / np.sqrt(together.shape[1])
                new = ahead(together, moving, others, length)
                accept(moving, new[:, :dimension], new[:, dimension:], 0.0)
        if step >= burn_in and step % thin == 0:
            kept.append(np.column_stack([states, w]))
    return np.stack(kept)


def overdispersed_start(reference, state, chains, rng):
    """Start from the approximation under test, spread out."""
    density = state.gram.density
    p = rng.multivariate_normal(density.weights, 1.5 * density.weights_covariance, chains)
    p = np.maximum(p, 0.1 * reference.n / reference.G)
    theta = rng.multivariate_normal(state.proposal.mean, 1.3 * state.proposal.covariance, chains)
    return reference.pack(p, theta)


def convergence(samples):
    """Largest R-hat and smallest effective sample size of quantities (draws, chains, which)."""
    within = samples.var(axis=0, ddof=1).mean(axis=0)
    of_means = samples.mean(axis=0).var(axis=0, ddof=1)
    r_hat = np.sqrt(1 - 1 / len(samples) + of_means / within)
    return r_hat.max(), (samples.shape[1] * (within + of_means) / of_means).min()


@dataclass(frozen=True)
class Case:
    """Rows, features and stages; noise and clipping (in residual sds) of every stage."""

    d: int
    n: int
    sigmas: tuple
    kappa: float = 1.0
    seed: int = 0
    steps: int = 4000
    quiet: float = 1.0
    largest_shift: float = 0.25

    def approximation(self):
        model, rng = model_1d(self.d, positions=11), np.random.default_rng(100 + self.seed)
        X, y = rows_1d(self.n, seed=self.seed)
        phi, stages, state = model.features.evaluate(X), [], None
        for sigma in self.sigmas:
            clip, w0 = 1.0, None
            if state is not None:
                moments = state.moments
                spread = np.sum(state.gram.B * moments.V) / self.n
                clip, w0 = self.kappa * np.sqrt(moments.noise**2 + spread), moments.w
            stages.append(release(phi, y, sigma, rng, clip, w0, self.quiet))
            state = infer(model, stages, state, sweeps=4 if state is None else 2)
        return model, stages, state, rng


CASES = {
    "one stage": Case(6, 600, (5.0,), seed=2),
    "one stage, more features and noise": Case(8, 1000, (15.0,), seed=3),
    # noise 20 times smaller on A than on B: A then speaks about B too, which `infer` does not hear
    "one stage, the error of B dominates": Case(
        6, 1000, (30.0,), seed=4, steps=16000, quiet=0.05, largest_shift=0.6
    ),
    "two stages": Case(5, 1000, (8.0, 4.0), seed=1),
    "two stages, fewer rows, wider clip": Case(6, 600, (8.0, 4.0), kappa=1.5, steps=20000),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_the_approximation_agrees_with_mcmc(case):
    model, stages, state, rng = case.approximation()
    reference = Reference(model, stages, state.moments.w)
    start = overdispersed_start(reference, state, 64, rng)
    chains = sample(reference, start, burn_in=2000, steps=case.steps, rng=rng)
    phi = model.features.evaluate(GRID)
    f, theta = chains[:, :, -case.d :] @ phi, chains[:, :, reference.G - 1 : -case.d]
    samples = np.concatenate([f, theta], axis=2)
    r_hat, effective = convergence(samples)
    assert r_hat < 1.12
    assert effective > 250
    mean = samples.mean(axis=(0, 1))
    sd = samples.reshape(-1, samples.shape[2]).std(axis=0)

    points = state.points
    theta_mean = points.weights @ points.thetas
    ours = np.append(state.moments.w @ phi, theta_mean)
    variances = points.weights @ (points.thetas - theta_mean) ** 2
    ours_sd = np.sqrt(np.append(np.sum(phi * (state.moments.V @ phi), axis=0), variances))
    shift, ratio = (ours - mean) / sd, ours_sd / sd
    # f at the grid and (log v, log ℓ): a quarter of a standard deviation, a third in width
    assert np.abs(shift[:-1]).max() < case.largest_shift
    assert ratio[:-1].min() > 0.75
    assert ratio[:-1].max() < 1.35
    # log σ: the Gaussian second moments leave a longer tail of small σ than there is
    assert abs(shift[-1]) < 0.4
    assert 0.75 < ratio[-1] < 1.75
