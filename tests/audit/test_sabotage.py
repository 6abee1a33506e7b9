"""Broken on purpose: each of seven classic mistakes is found by an attack."""

import dataclasses

import numpy as np
import pytest

from dpgp.audit import replay, run
from dpgp.audit.attacks import attack, worst_cases
from dpgp.audit.replay import DivergedError, compare_fits, compare_steps
from dpgp.audit.run import Effort
from dpgp.audit.tables import CASES
from dpgp.domain import Box
from dpgp.features.inputs import Residuals
from dpgp.privacy import exact_sums
from dpgp.privacy.books import Books
from dpgp.privacy.noise import SecureNoise
from dpgp.private import rows as ready_rows
from dpgp.private import sums, units


def replayed(name, effort=None, seed=0):
    """What the audit says of a case."""
    effort = effort or Effort(step_pairs=60, fit_pairs=0, runs=0)
    return run._replayed(name, CASES[name], effort, np.random.default_rng(seed))


def test_noise_halved(monkeypatch):
    draw = SecureNoise.draw
    monkeypatch.setattr(SecureNoise, "draw", lambda self, scale, n: draw(self, scale / 2, n))
    for target in worst_cases().values():
        assert not attack(target, SecureNoise(), 3000).holds


def test_clip_removed(monkeypatch):
    def unclipped(self, inputs, targets, features, phi):
        return targets.copy()

    def rounded(values):
        values *= exact_sums.UNIT
        np.clip(values, -(2.0**50), 2.0**50, out=values)
        np.rint(values, out=values)

    monkeypatch.setattr(Residuals, "of", unclipped)
    monkeypatch.setattr(sums, "round_targets", rounded)
    assert not replayed("a line").holds


def test_features_longer_than_one(monkeypatch):
    """The other clip: that of the features' norm, with features that do not keep it."""

    def rounded(psi):
        psi *= 3.0 * exact_sums.UNIT
        np.rint(psi, out=psi)

    monkeypatch.setattr(sums, "round_columns", rounded)
    assert not replayed("a grid").holds


def test_budget_counted_once_for_two_stages(monkeypatch):
    reserve = Books.reserve

    def forgetful(self, release):
        if release.label != "stage 2":
            reserve(self, release)

    monkeypatch.setattr(Books, "reserve", forgetful)
    with pytest.raises(DivergedError, match="more numbers leave the wall than are booked"):
        compare_fits(CASES["a line"], 1, np.random.default_rng(0))


def test_domain_read_from_the_data(monkeypatch):
    fit_rows = replay.fit_rows

    def curious(rows, options, source):
        inputs = np.clip(rows.inputs, -1e3, 1e3)
        box = Box(inputs.min(axis=0), inputs.max(axis=0) + 1e-9)
        return fit_rows(rows, dataclasses.replace(options, box=box), source)

    monkeypatch.setattr(replay, "fit_rows", curious)
    effort = Effort(step_pairs=1, fit_pairs=3, runs=0)
    assert not replayed("a line", effort).holds


def test_nan_injected(monkeypatch):
    def all_of_them(missing, *values):
        return np.ones(len(values[0]), dtype=bool)

    monkeypatch.setattr(ready_rows, "usable_rows", all_of_them)
    monkeypatch.setattr(exact_sums, "_fit", lambda squares: ~(squares > exact_sums.UNIT**2))
    assert not replayed("missing values").holds


def test_nan_alone_does_no_harm(monkeypatch):
    """A second guard holds where the first one fails: what is no number becomes zero."""

    def all_of_them(missing, *values):
        return np.ones(len(values[0]), dtype=bool)

    monkeypatch.setattr(ready_rows, "usable_rows", all_of_them)
    case = dataclasses.replace(CASES["missing values"])
    with np.errstate(all="ignore"):
        found = compare_steps(case, 40, np.random.default_rng(0))
    assert all(comparison.holds for comparison in found)


def test_unit_ids_merged(monkeypatch):
    unit_codes = units.unit_codes

    def merging(units, rows):
        keys = [u if u.startswith("new") else f"q{int(u[1:]) // 2}" for u in units]
        return unit_codes(keys, rows)

    monkeypatch.setattr(units, "unit_codes", merging)
    assert not replayed("people", Effort(step_pairs=160, fit_pairs=0, runs=0)).holds


def test_seeded_noise_in_release_mode(monkeypatch):
    generator = np.random.default_rng(0)

    def seeded(self, scale, count):
        return np.rint(generator.normal(0.0, scale, count)).astype(int).tolist()

    monkeypatch.setattr(SecureNoise, "draw", seeded)
    assert not run._fresh().holds
