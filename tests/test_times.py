"""Dates and times are no numbers: refused before anything is spent."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpgp import PrivateGPRegressor, estimator

ROWS = 20
X = np.linspace(0.0, 1.0, ROWS)[:, None]
DAYS = np.datetime64("2020-01-01") + np.arange(ROWS)
LENGTHS = DAYS - DAYS[0]

TARGETS = {
    "array of dates": DAYS,
    "array of lengths": LENGTHS,
    "list": list(DAYS),
    "pandas": pd.Series(DAYS),
    "pandas with time zone": pd.Series(DAYS).dt.tz_localize("UTC"),
    "pandas lengths": pd.Series(LENGTHS),
    "pandas frame": pd.DataFrame({"y": DAYS, "z": X[:, 0]}),
    "polars": pl.Series(DAYS.astype("datetime64[us]")),
    "polars dates": pl.Series([date(2020, 1, 1)] * ROWS),
    "polars lengths": pl.Series(LENGTHS.astype("timedelta64[us]")),
}
INPUTS = {
    "array": DAYS[:, None],
    "pandas": pd.DataFrame({"x": X[:, 0], "day": DAYS}),
    "polars": pl.DataFrame({"x": X[:, 0], "day": DAYS.astype("datetime64[us]")}),
}


@pytest.fixture
def fit(monkeypatch):
    """Fit, and fail where a row would be touched."""

    class SpentError(Exception):
        pass

    def spend(*_, **__):
        raise SpentError

    monkeypatch.setattr(estimator, "fit_alone_or_jointly", spend)

    def fit(X, y, missing="error"):
        PrivateGPRegressor(bounds=(0, 1), target_bounds=(0, 1), missing=missing).fit(X, y)

    fit.spent = SpentError
    return fit


@pytest.mark.parametrize("missing", ["error", "ignore"])
@pytest.mark.parametrize("y", TARGETS.values(), ids=TARGETS)
def test_targets_in_time_are_refused(fit, y, missing):
    with pytest.raises(ValueError, match="`y` holds dates or times; make them numbers"):
        fit(X, y, missing)


@pytest.mark.parametrize("dated", INPUTS.values(), ids=INPUTS)
def test_inputs_in_time_are_refused(fit, dated):
    with pytest.raises(ValueError, match="`X` holds dates or times"):
        fit(dated, X[:, 0])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_may_be_called_after_time(fit, frame):
    with pytest.raises(fit.spent):
        fit(frame({"date": X[:, 0]}), X[:, 0])
