"""Centile charts: one line a centile, labels that can be read, a panel an input."""

import matplotlib as mpl
import numpy as np
import pytest
from report_models import fitted

from dpgp.model.predictions import CENTILES
from dpgp.report.model_plot import _apart, centiles_along, typical_inputs

mpl.use("Agg")


def test_one_line_a_centile_with_its_number():
    model = fitted("one input")
    axis = model.plot(centiles=True)
    assert len(axis.lines) == len(CENTILES)
    assert [text.get_text() for text in axis.texts] == [f"{100 * p:g}" for p in CENTILES]
    x, y = axis.lines[0].get_data()
    expected = model.predict_quantile(np.asarray(x)[:, None], CENTILES[0])[0]
    np.testing.assert_allclose(y, expected)


def test_one_panel_an_input_with_the_others_held():
    model = fitted("two inputs")
    axes = model.plot(centiles=True)
    assert len(axes) == 2
    others = typical_inputs(model)
    chart = centiles_along(model, 0, 1, others)
    assert chart.values.shape == (len(CENTILES), len(chart.x))
    assert (np.diff(chart.values, axis=0) >= 0).all()
    np.testing.assert_allclose(axes[1].lines[3].get_ydata(), chart.values[3])


@pytest.mark.parametrize("ends", [[0.0, 1.0, 2.0], [0.0, 0.01, 0.02, 5.0], [1.0] * 7])
def test_numbers_do_not_lie_over_each_other(ends):
    heights = _apart(np.array(ends), 0.5)
    assert (np.diff(heights) >= 0.5 - 1e-12).all()
    assert np.abs(heights - ends).max() <= 0.5 * len(ends)
