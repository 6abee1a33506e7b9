"""What arrays hold."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
"""Numbers."""

Integers = NDArray[np.object_]
"""Integers of any size."""
