"""Formulas in the arithmetic of any array library: what libraries spell differently.

Kernels and feature maps write their formula once, with a :class:`Library` to compute it in: NumPy,
TensorFlow, torch, or placeholders that become an ONNX graph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

TINY = 1e-300
"""Keeps 0/0 from happening: below anything that is computed."""

SMALLEST_SQUARE = 1e-36
"""Added to squared distances before their root, so that it has a derivative at 0."""


@dataclass(frozen=True)
class Library:
    """The functions that array libraries spell differently; operators they share."""

    array: Callable[[Any], Any]
    exp: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    einsum: Callable[..., Any]
    stack_rows: Callable[[Any], Any]
    clip: Callable[[Any, Any, Any], Any]
    reshape: Callable[[Any, Any], Any]


NUMPY = Library(
    array=np.asarray,
    exp=np.exp,
    sqrt=np.sqrt,
    sin=np.sin,
    einsum=partial(np.einsum, optimize=True),  # contractions by BLAS
    stack_rows=np.concatenate,
    clip=np.clip,
    reshape=np.reshape,
)


def transposed(Y: Any, library: Library) -> Any:
    """Return the transpose of a matrix."""
    return library.einsum("md->dm", Y)
