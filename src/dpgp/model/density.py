"""A private density of the inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InputDensity:
    """About how many rows lie near each point of the box."""

    points: Array
    weights: Array
