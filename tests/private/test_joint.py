"""Questions in a joint fit: whatever makes them different is in the transcript of the meeting."""

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF

from dpgp.domain import Box
from dpgp.features.inducing import InducingFeatures
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.private.fit import SiteRows
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_count, exact_gram, exact_histograms
from dpgp.sites import Meeting
from dpgp.sites.statements import Agreement, Transcript
from dpgp.steps.base import HistogramQuery

BOX = UnitInputs(Box.from_bounds((-1, 1), 1))
ROWS = Rows(np.linspace(-1, 1, 9)[:, None], np.zeros((1, 9)), np.ones(9, dtype=bool))


def gram(length_scale):
    points = np.array([[-0.5], [0.5]])
    return BoxFeatures(BOX, InducingFeatures(RBF(length_scale), points))


def histogram(scale=1.0, edge=0.5):
    def values(inputs, targets):
        return scale * (inputs.T + 2.0)

    return HistogramQuery(values, 1, np.array([-edge, edge]), np.zeros(1))


QUESTIONS = {
    "count": exact_count,
    "gram": lambda rows: exact_gram(rows, gram(1.0)),
    "gram in a last bit": lambda rows: exact_gram(rows, gram(1.0 + 1e-14)),
    "histogram": lambda rows: exact_histograms(rows, histogram()),
    "histogram of others": lambda rows: exact_histograms(rows, histogram(scale=1.5)),
    "histogram of other bins": lambda rows: exact_histograms(rows, histogram(edge=0.25)),
}


def after(ask, rows=ROWS, *, is_even=True):
    """Return the transcript after a question, and its answer."""
    transcript = Transcript(b"")
    answer = ask(SiteRows(rows, Meeting(Agreement(9, is_even), None, transcript)))
    return transcript.digest, answer


def test_every_question_leaves_a_mark_of_its_own():
    marks = {after(ask)[0] for ask in QUESTIONS.values()} | {Transcript(b"").digest}
    assert len(marks) == len(QUESTIONS) + 1


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=list(QUESTIONS))
def test_a_question_leaves_the_same_mark_whatever_the_rows(ask):
    others = Rows(np.full((4, 1), 0.3), np.full((1, 4), 0.1), np.ones(4, dtype=bool))
    assert after(ask)[0] == after(ask, others)[0]


@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=list(QUESTIONS))
def test_the_answer_is_that_of_our_rows(ask):
    assert np.array_equal(after(ask)[1], ask(ROWS))


def test_where_machines_differ_the_kind_of_a_question_is_its_mark():
    marks = {name: after(ask, is_even=False)[0] for name, ask in QUESTIONS.items()}
    assert marks["gram"] == marks["gram in a last bit"]
    assert len(set(marks.values())) == 3
