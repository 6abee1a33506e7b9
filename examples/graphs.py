"""Graphs: how soluble is a molecule, given the groups that it carries?

Run with ``python examples/graphs.py``. The inducing points are five well-known small molecules, so
they are public; the molecules measured and their solubilities are private.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from comparison import Array, Sample, compare, print_table

from dpgp import NormalizedKernel
from dpgp.kernels.counts import Graph, WeisfeilerLehmanKernel
from dpgp.paper import SparsePosterior, dp_gp_inference


def chain(*atoms: str) -> Graph:
    """Return atoms joined one to the next, without hydrogens."""
    return Graph(atoms, tuple((i, i + 1) for i in range(len(atoms) - 1)))


EFFECTS = {
    ("O",): 0.3,  # hydroxyl: an oxygen with one neighbour
    ("O", "C"): -0.3,  # methoxy: an oxygen with two, so that counting atoms is not enough
    ("N",): 0.2,  # amine
    ("Cl",): -0.2,  # chloride
}
MOLECULES = (
    chain("O", "C", "O"),  # methanediol
    chain("C", "O", "C"),  # dimethyl ether
    chain("N", "C", "N"),  # diaminomethane
    chain("Cl", "C", "Cl"),  # dichloromethane
    chain("C", "C", "C"),  # propane
)
KERNEL = NormalizedKernel(WeisfeilerLehmanKernel(iterations=1))
NOISE_STD = 0.2
TARGET_BOUND = 1.5


def simulate(n: int, generator: np.random.Generator) -> Sample:
    """Draw molecules; every group that a molecule carries adds its effect."""
    drawn = [random_molecule(generator) for _ in range(n)]
    truth = np.array([solubility for _, solubility in drawn])
    X = [molecule for molecule, _ in drawn]
    return Sample(X, truth + NOISE_STD * generator.standard_normal(n), truth)


def random_molecule(generator: np.random.Generator) -> tuple[Graph, float]:
    """Hang up to three of every group on a chain or ring of 4 to 8 carbons."""
    carbons, ring = int(generator.integers(4, 9)), generator.random() < 0.5
    copies = generator.integers(0, 4, len(EFFECTS))
    groups = [group for group, n in zip(EFFECTS, copies, strict=True) for _ in range(n)]
    places = generator.integers(0, carbons, len(groups))
    truth = sum(EFFECTS[group] for group in groups)
    return molecule(carbons, ring, zip(groups, places, strict=True)), truth


def molecule(carbons: int, ring: bool, groups: Iterable[tuple[Sequence[str], int]]) -> Graph:
    """Return a chain or ring of carbons with groups attached, each at the carbon given with it."""
    atoms, bonds = ["C"] * carbons, [(i, i + 1) for i in range(carbons - 1)]
    bonds += [(carbons - 1, 0)] if ring else []
    for group, place in groups:
        for atom in group:
            bonds.append((place, len(atoms)))
            place = len(atoms)
            atoms.append(atom)
    return Graph(tuple(atoms), tuple(bonds))


def fit(
    X: Sequence[Graph], y: Array, epsilon: float, random_state: int | None = None
) -> SparsePosterior:
    """Fit under (ε, 1e-5)-differential privacy."""
    return dp_gp_inference(
        X,
        y,
        MOLECULES,
        KERNEL,
        noise_std=NOISE_STD,
        target_bound=TARGET_BOUND,
        epsilon=epsilon,
        delta=1e-5,
        random_state=random_state,
    )


def main() -> None:
    """Fit once, predict two molecules that differ in what hangs on them, and compare."""
    train = simulate(2000, np.random.default_rng(0))
    model = fit(train.X, train.y, epsilon=3.0)
    print(model.certificate)
    alcohol = molecule(5, False, [(("O",), 0), (("O",), 4)])
    ether = molecule(5, False, [(("O", "C"), 0), (("O", "C"), 4)])
    mean, std = model.predict([alcohol, ether], return_std=True)
    print(f"pentane with two hydroxyls: {mean[0]:.2f} ± {std[0]:.2f}, truth 0.60")
    print(f"pentane with two methoxys: {mean[1]:.2f} ± {std[1]:.2f}, truth -0.60\n")
    print_table(compare(simulate, fit))


if __name__ == "__main__":
    main()
