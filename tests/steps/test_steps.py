from fractions import Fraction

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp.choices import Missing
from dpgp.domain import Box
from dpgp.options import Options
from dpgp.outcomes import outcome_of
from dpgp.outcomes.labels import class_box, named_classes
from dpgp.privacy.books import Books, BudgetError, share_of_mu
from dpgp.privacy.calibration import gaussian_sigma
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import SimulatedNoise
from dpgp.privacy.parts import dearest
from dpgp.privacy.sensitivity import histogram_sensitivity
from dpgp.private.rows import Rows
from dpgp.private.wall import Wall
from dpgp.regressor import PrivateGPRegressor
from dpgp.steps import (
    KINDS,
    Calibrate,
    CellCounts,
    Count,
    Guard,
    InputHistograms,
    LabelsByPrediction,
    MeasureScale,
    Purse,
    ResidualHistograms,
    Stage,
    kinds_of,
    planned_steps,
)
from dpgp.steps.base import CountQuery, HistogramQuery
from dpgp.steps.known import Known

MU, DELTA = 0.3, 1e-5


def options(columns=2, **changes):
    box = Box.from_bounds((0, 1), columns)
    return Options(5.0, DELTA, box, Box.from_bounds((-1, 1), 1), **changes)


def purse(rows=5000, mu=MU, **changes):
    return Purse(options(**changes), mu, rows)


def known_before(rows=5000, **changes):
    asked = options(**changes)
    return Known.before(asked, MU, planned_steps(Purse(asked, MU, rows)), rows)


def wall(asked, n=5000, seed=0):
    rng = np.random.default_rng(seed)
    rows = Rows(rng.beta(2, 8, (n, asked.columns)), np.zeros((1, n)), np.ones(n, dtype=bool))
    ledger = Books(asked.epsilon, asked.delta, asked.neighbours)
    return Wall(rows, asked, ledger, SimulatedNoise(seed))


@pytest.mark.parametrize("mu", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("rows", [None, 100, 10**6])
@pytest.mark.parametrize("columns", [1, 3, 20])
def test_shares_add_up_to_the_budget_and_no_more(rows, mu, columns):
    steps = planned_steps(purse(rows, mu, columns=columns))
    paid = dearest((step.part, Fraction(step.share)) for step in steps)
    assert float(paid) == pytest.approx(1.0, abs=1e-12)
    assert min(step.share for step in steps) > 0.0
    assert any(step.part for step in steps) == (columns > 1 and (rows or 0) * mu > 60_000)


@pytest.mark.parametrize("labels", [("no", "yes"), ("a", "b", "c")])
def test_labels_are_released_at_once_on_fixed_features_unless_stages_are_asked_for(labels):
    def stages(columns, target=None, **asked):
        box, target = Box.from_bounds((0, 1), columns), target or class_box(named_classes(labels))
        found = Options(5.0, DELTA, box, target, outcome=outcome_of(target, {}), **asked)
        return sum(type(step) is Stage for step in planned_steps(Purse(found, MU, 5000)))

    assert stages(1) == stages(2) == 1
    assert stages(1, stages=(1.0, 1.0, 1.0)) == 3
    assert stages(3) > 3
    assert stages(1, target=Box.from_bounds((-1, 1), 1)) == 6


def test_shares_do_not_depend_on_a_number_of_rows_that_is_private():
    assert planned_steps(purse(None)) == planned_steps(purse(None))
    asked = options(missing=Missing.IGNORE)
    assert not asked.row_count_is_public
    assert Count in map(type, planned_steps(Purse(asked, MU, None)))


@pytest.mark.parametrize(
    ("changes", "absent"), [({"warp": False}, InputHistograms), ({"calibrate": False}, Calibrate)]
)
def test_a_step_that_was_declined_is_not_taken_and_says_so(changes, absent):
    steps = planned_steps(purse(**changes))
    assert absent not in map(type, steps)
    assert "declined" in absent.why([])


def test_steps_come_in_the_order_of_a_fit():
    kinds = [type(step) for step in planned_steps(purse(None, 3.0))]
    many = [type(step) for step in planned_steps(purse(None, 3.0, columns=6))]
    for taken in (kinds, many):
        others = [kind for kind in taken if kind is not ResidualHistograms]
        assert sorted(others, key=KINDS.index) == others
    of_labels = {LabelsByPrediction}  # of yes and no alone
    assert set(kinds) == set(kinds_of(options()))
    assert set(many) == set(KINDS) - of_labels


@pytest.mark.parametrize("columns", [2, 6])
@pytest.mark.parametrize(("stages", "before"), [((1.0,) * 6, 2), ((1.0,) * 3, 2), ((1.0, 2.0), 1)])
def test_the_law_of_residuals_comes_between_stages(columns, stages, before):
    steps = planned_steps(purse(columns=columns, stages=stages))
    place = [type(step) for step in steps].index(ResidualHistograms)
    kinds = [type(step) is Stage for step in steps]
    assert sum(kinds[:place]) == before
    assert sum(kinds[place:]) == len(stages) - before


def test_a_single_stage_needs_no_law():
    assert ResidualHistograms not in map(type, planned_steps(purse(stages=(1.0,))))


@pytest.mark.parametrize("columns", [1, 5])
def test_the_law_of_residuals_is_taken_into_every_target(columns):
    rng = np.random.default_rng(0)
    X, y = rng.uniform(0, 1, (3000, columns)), (rng.random((3000, 2)) < [0.1, 0.5]) * 2.0 - 1.0
    gp = PrivateGPRegressor(
        3.0, 1e-5, bounds=[(0, 1)] * columns, target_bounds=[(-1, 1)] * 2, random_state=0, stages=3
    ).fit(X, y)
    assert "law of residuals" in [release.label for release in gp.certificate_.releases]
    # sds of 0.6 and 1; as if Gaussian, the first would be clipped closer with every stage
    assert all(stages[-1].clip > 0.5 for stages in gp.model_.stages)
    mean, std = gp.model_.predict(X[:50], return_std=True, latent=True)
    assert np.all(np.abs(mean - [-0.8, 0.0]) < 2.5 * std)


def test_without_a_price_everything_is_released_once():
    steps = planned_steps(purse(mu=float("inf")))
    assert [type(step) for step in steps] == [Stage, MeasureScale, Calibrate]


def test_a_wish_for_kernel_features_or_points_changes_no_step():
    assert options(columns=4).learns_metric
    for wish in ({"own_kernels": (RBF(),)}, {"families": ("linear",)}, {"inducing_points": 20}):
        assert planned_steps(purse(columns=4, **wish)) == planned_steps(purse(columns=4))


def test_stages_that_were_asked_for_share_by_their_weights():
    steps = planned_steps(purse(columns=5, stages=(1.0, 3.0)))
    first, second = (step.share for step in steps if type(step) is Stage)
    assert second == pytest.approx(3 * first)


def test_an_input_model_is_bought_where_it_is_more_than_noise():
    kinds = [set(map(type, planned_steps(purse(n, columns=6)))) for n in (100, 10**5)]
    assert InputHistograms not in kinds[0]
    assert {InputHistograms, CellCounts} <= kinds[1]


def test_cells_are_counted_where_there_are_enough_of_them():
    kinds = [set(map(type, planned_steps(purse(n, columns=6)))) for n in (150 / MU, 300 / MU)]
    assert all(InputHistograms in planned for planned in kinds)
    assert [CellCounts in planned for planned in kinds] == [False, True]


def test_many_inputs_have_a_guard_where_noise_does_not_drown_it():
    kinds = [set(map(type, planned_steps(purse(n, columns=6)))) for n in (90 / MU, 200 / MU)]
    assert [Guard in planned for planned in kinds] == [False, True]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not LabelsByPrediction])
def test_every_kind_explains_itself(kind):
    planned = [*planned_steps(purse(None, 3.0)), *planned_steps(purse(None, 3.0, columns=6))]
    steps = [step for step in planned if type(step) is kind]
    assert kind.why(steps) != kind.why([])
    assert all(step.label and step.activity for step in steps)


def test_a_count_is_never_below_two():
    known = known_before(None, neighbours=Neighbours.ADD_REMOVE)
    Count(0.02).learn(known, np.array([-12.5]))
    assert known.n == 2.0


def test_crowded_stretches_of_an_input_get_more_room():
    known, step = known_before(), InputHistograms(0.05)
    step.learn(known, wall(known.options).release(step.query(known), 0.05, step.label))
    low = known.inputs(np.array([[0.05, 0.05], [0.35, 0.35]]))
    high = known.inputs(np.array([[0.65, 0.65], [0.95, 0.95]]))
    assert np.all(np.diff(low, axis=0) > 1.2 * np.diff(high, axis=0))


def test_before_any_release_inputs_are_not_warped():
    assert known_before().inputs.warp is None


@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_noise_of_a_histogram_is_the_one_its_sensitivity_asks_for(neighbours):
    asked = options(neighbours=neighbours, per_person=True, max_rows_per_unit=3)
    shared = wall(asked)
    query = HistogramQuery(
        lambda inputs, targets: np.zeros((2, len(inputs))), 2, np.arange(1.0, 4.0), np.zeros(2)
    )
    drawn = shared.release(query, 0.1, "histograms").noise_std
    sensitivity = histogram_sensitivity(2, neighbours, 3)
    assert drawn == gaussian_sigma(sensitivity, share_of_mu(shared.books.mu, 0.1))


def test_no_release_exceeds_what_is_left():
    shared = wall(options())
    shared.release(CountQuery(), 0.7, "count")
    with pytest.raises(BudgetError):
        shared.release(CountQuery(), 0.4, "count")
