import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp.domain import Box
from dpgp.options import FAMILIES, Options
from dpgp.planning.design import (
    Layout,
    affordable,
    asked_features,
    choose,
    choose_design,
    choose_kappa,
    compare,
    default_functions,
    density_positions,
    layouts,
)
from dpgp.planning.forecast import Errors
from dpgp.planning.setting import Setting
from dpgp.privacy.books import mu_of_guarantee
from dpgp.steps import Purse, planned_steps


def setting(n, columns, epsilon=1.0):
    return Setting(n, columns, mu_of_guarantee(epsilon, 1e-6))


def steps(n, columns, epsilon=1.0):
    asked = Options(epsilon, 1e-6, Box.from_bounds((0, 1), columns), Box.from_bounds((0, 1), 1))
    return planned_steps(Purse(asked, mu_of_guarantee(epsilon, 1e-6), n))


def design(n, columns, epsilon=1.0, **options):
    return choose_design(setting(n, columns, epsilon), steps(n, columns, epsilon), **options)


SIGNALS = [(300, 1, 0.3, 8), (1500, 1, 3.0, 20), (1_000_000, 1, 10.0, 30), (300, 2, 0.3, 16)]


@pytest.mark.parametrize(("n", "columns", "epsilon", "features"), SIGNALS)
def test_little_signal_means_few_features(n, columns, epsilon, features):
    assert design(n, columns, epsilon).features.dimension == features


@pytest.mark.parametrize(("n", "columns", "epsilon", "features"), SIGNALS)
def test_these_choices_are_clear(n, columns, epsilon, features):
    public = setting(n, columns, epsilon)
    options, taken = affordable(public), steps(n, columns, epsilon)
    forecasts = compare(public, taken, 2.0, default_functions(columns), options)
    for factor in (0.93, 1.07):  # of the error of any layout
        for k in range(len(options)):
            moved = list(forecasts)
            moved[k] = replace(moved[k], rmse=factor * moved[k].rmse)
            assert choose(options, moved, columns).features(columns).dimension == features


def test_wishes_are_kept():
    assert design(1000, 2, inducing_points=6).features.dimension == 36
    assert design(1000, 2, family=("linear",)).features.dimension == 3
    points = np.zeros((1, 2))
    assert np.array_equal(design(1000, 2, inducing_points=points).features.anchors, points)


def test_wishes_of_many_inputs_are_kept():
    def asked(**wishes):
        box, target_box = Box.from_bounds((0, 1), 5), Box.from_bounds((0, 1), 1)
        return asked_features(Options.parse(box=box, target_box=target_box, **wishes))

    assert asked() is None
    assert asked(inducing_points=17) is None
    assert asked(features="joint", inducing_points=17).dimension == 17
    assert asked(features="grid").dimension == 32


def test_every_family_can_be_built():
    for name in FAMILIES:
        assert Layout((name,), 2, 1.0).features(2).dimension > 0


def test_the_kernel_matters():
    wiggly = design(3000, 1, 1.0, kernel=RBF(0.07, "fixed"))
    smooth = design(300, 1, 0.3, kernel=RBF(1.0, "fixed"))
    assert wiggly.features.dimension > smooth.features.dimension


def test_the_first_layout_yields_only_to_a_clear_gain():
    options = layouts(2)
    one = np.ones(3)

    def of(*sizes):
        return [Errors(size * one, one, one, 0.0 * one) for size in sizes]

    assert choose(options, of(1.0, 0.97, 2.0), 2) == options[0]
    assert choose(options, of(1.0, 0.7, 0.8), 2) == options[1]
    assert choose(layouts(1), of(1.0, 0.9, 2.0, 2.0), 1) == layouts(1)[0]  # more features
    assert choose(layouts(1), of(1.0, 0.7, 2.0, 2.0), 1) == layouts(1)[1]


def test_errors_that_rounding_tells_apart_are_equal():
    def of(*sizes):
        return [Errors(size * np.ones(3), np.ones(3), np.ones(3), np.zeros(3)) for size in sizes]

    options = layouts(2)
    assert choose(options, of(1.0, 0.5, 0.5 * (1 - 1e-9)), 2) == options[1]
    assert choose(options, of(1.0, 0.5 * (1 + 1e-9), 0.5), 2) == options[1]
    on_the_edge = math.exp(-0.05)
    assert choose(options, of(1.0, on_the_edge * (1 - 1e-9), 2.0), 2) == options[0]


def test_no_more_features_than_rows():
    assert all(layout.features(2).dimension <= 30 for layout in affordable(setting(30, 2)))
    assert len(affordable(setting(2, 2))) == 1


def test_no_noise_keeps_the_rule_of_thumb():
    assert choose_design(Setting(100, 1, math.inf), ()).layout == layouts(1)[0]


def test_clipping_is_harder_where_noise_matters_more():
    kappas = [choose_kappa(n, 0.3, 10.0) for n in (300, 3000, 300_000)]
    assert kappas == sorted(kappas)
    assert kappas[0] < kappas[-1]


@pytest.mark.parametrize(("columns", "atoms"), [(1, 121), (2, 441)])
def test_atoms_of_a_density_lie_in_the_cube(columns, atoms):
    positions = density_positions(columns)
    assert positions.shape == (atoms, columns)
    assert np.abs(positions).max() <= 1.0
