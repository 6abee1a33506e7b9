"""What a fit ends with."""

from __future__ import annotations

from dataclasses import dataclass

from dpgp.types import Array


@dataclass(frozen=True)
class Moments:
    """What is believed of the weights and the noise: mean, covariance, root mean square of σ."""

    w: Array
    V: Array
    noise: float
