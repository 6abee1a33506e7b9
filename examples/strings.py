"""Strings: how active is a stretch of DNA, given the motifs it holds?

Run with ``python examples/strings.py``. The inducing points are motifs from the literature, so they
are public; the sequences and their activities are private.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from comparison import Array, Sample, compare, print_table

from dpgp import NormalizedKernel
from dpgp.kernels.counts import SpectrumKernel
from dpgp.paper import SparsePosterior, dp_gp_inference

EFFECTS = {
    "TATAAA": 0.25,  # TATA box
    "GGGCGG": 0.2,  # GC box
    "CACGTG": -0.25,  # E-box
    "TGACTCA": -0.2,  # AP-1 site
    "CCAATC": 0.0,  # CCAAT box: no effect here, which the model has to find out
    "AGATAA": 0.0,  # GATA site: likewise
}
MOTIFS = tuple(EFFECTS)
KERNEL = NormalizedKernel(SpectrumKernel(4))
NOISE_STD = 0.2
TARGET_BOUND = 1.5


def simulate(n: int, generator: np.random.Generator) -> Sample:
    """Draw sequences of motifs and random spacers; a motif's every occurrence adds its effect."""
    X = [random_sequence(generator) for _ in range(n)]
    truth = np.array([activity(sequence) for sequence in X])
    return Sample(X, truth + NOISE_STD * generator.standard_normal(n), truth)


def random_sequence(generator: np.random.Generator) -> str:
    """Shuffle up to three copies of every motif among as many random spacers of 2 to 5 letters."""
    parts = list(np.repeat(MOTIFS, generator.integers(0, 4, len(MOTIFS))))
    parts += [
        "".join(generator.choice(list("ACGT"), generator.integers(2, 6))) for _ in range(len(parts))
    ]
    generator.shuffle(parts)
    return "".join(parts)


def activity(sequence: str) -> float:
    """Return the true response to a sequence."""
    return sum(effect * sequence.count(motif) for motif, effect in EFFECTS.items())


def fit(
    X: Sequence[str], y: Array, epsilon: float, random_state: int | None = None
) -> SparsePosterior:
    """Fit under (ε, 1e-5)-differential privacy."""
    return dp_gp_inference(
        X,
        y,
        MOTIFS,
        KERNEL,
        noise_std=NOISE_STD,
        target_bound=TARGET_BOUND,
        epsilon=epsilon,
        delta=1e-5,
        random_state=random_state,
    )


def main() -> None:
    """Fit once, predict a new sequence, and compare over repeated data sets."""
    train = simulate(2000, np.random.default_rng(0))
    model = fit(train.X, train.y, epsilon=3.0)
    print(model.certificate)
    new = "ACG".join(["TATAAA", "GGGCGG", "CCAATC", "TATAAA"])
    mean, std = model.predict([new], return_std=True)
    print(f"{new}: {mean[0]:.2f} ± {std[0]:.2f}, truth {activity(new):.2f}\n")
    print_table(compare(simulate, fit))


if __name__ == "__main__":
    main()
