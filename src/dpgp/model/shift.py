r"""How far an outcome's link is moved, to add up over the private model of the inputs.

The mean of a normal law within [0, 1] is above that of the normal law wherever that is near 0, and
the average over people with it. With places :math:`x_g` of shares :math:`w_g` and the law
:math:`N(\bar m, \bar s^2)` of the average of f the shift is that for which
:math:`\sum_g w_g\,p(x_g)` is the mean of that law within the bounds. It is computed from released
numbers alone and costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpgp.model.input_model import InputDensity

if TYPE_CHECKING:
    from dpgp.model.fitted import FittedModel


def shifts_of(model: FittedModel) -> tuple[float, ...]:
    """Return the shift of every target; none where the kind of outcome has no such link."""
    if not model.outcome.link_is_shifted or model.density is None:
        return ()
    return tuple(_shift(model, k, model.density) for k in range(model.n_targets))


def _shift(model: FittedModel, target: int, density: InputDensity) -> float:
    U, shares = model.inputs(density.points), density.weights / density.weights.sum()
    mean, std = model.belief(target, U)
    variance = float(shares @ model.posteriors[target].covariance(U) @ shares)
    error = float(model.options.target_box.half_width[target]) * np.sqrt(max(variance, 0.0))
    return model.outcome.shift(mean, std, shares, float(shares @ mean), error)
