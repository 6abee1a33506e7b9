"""From the cells of a table to rows. Messages speak of columns and never of values or rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpgp.categories import Category
from dpgp.choices import Missing
from dpgp.dates import Days
from dpgp.missing_codes import NO_CODES, Codes
from dpgp.options import Options
from dpgp.private.cells import Cells
from dpgp.private.rows import SPELLING, Rows, scaled_rows
from dpgp.private.tables import TableError
from dpgp.study.errors import Words
from dpgp.types import Array

_IGNORE = (
    'pass missing="ignore"',
    "pass --missing ignore",
    "choose “contribute nothing” under incomplete rows",
)
_THESE_ROWS = "to let these rows contribute nothing, or remove them"
_OF_CELLS = Words(*(f"if they are few, {ignore} {_THESE_ROWS}" for ignore in _IGNORE))
_OF_KINDS = {
    kind: Words(*(f"{how}, and if few others are left, {do} {_THESE_ROWS}" for do in _IGNORE))
    for kind, how in SPELLING.items()
}
"""Where nearly all cells are such, ignoring them would leave nothing; nobody counts them here."""
_A_CATEGORY_OR_DATES = Words(
    "name it in `categories` if it holds levels, give dates as its `bounds` if it holds dates",
    "name it with --category if it holds levels, give dates as its bounds if it holds dates, as in "
    "--feature visit:2019-01-01:2024-12-31",
    "choose “predict from it: a category” if it holds levels, type dates as its bounds if it holds "
    "dates",
)
_CLASSES = Words(
    "fit a PrivateGPClassifier if it holds classes",
    "name it with --classes if it holds classes",
    "choose “yes or no”, or several classes, if it holds classes",
)
"""What a column of text may be meant for, as an input and as a target."""
_A_NUMBER = Words("name a column of numbers as weights")


@dataclass(frozen=True)
class RowReader:
    """Reads cells into rows: which columns are inputs, targets, and who a row is of.

    Public, all of it.
    """

    inputs: tuple[str, ...]
    targets: tuple[str, ...]
    unit: str | None
    options: Options
    weight: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns that are read, each once."""
        others = (name for name in (self.unit, self.weight) if name is not None)
        return tuple(dict.fromkeys((*self.inputs, *self.targets, *others)))

    def rows(self, cells: Cells) -> Rows:
        """Return rows whose targets are scaled, as if every one were of another unit."""
        box, columns = self.options.box, len(self.inputs)
        X = np.column_stack(
            [self._input(cells, k, kind) for k, kind in enumerate(box.kinds or [None] * columns)]
        )
        targets = np.stack([self._target(cells, k) for k in range(len(self.targets))])
        return scaled_rows(X, targets, self.options, None, weights=self._weights(cells))

    def _target(self, cells: Cells, k: int) -> Array:
        """Return numbers, or those of classes and NaN for what is none of them."""
        category = self.options.target_box.category(k)
        name, codes = self.targets[k], self.options.missing_codes.of_target(k)
        if category is None:
            return self._complete(cells, name, codes, _CLASSES)
        return cells.levels(name, category)

    def _input(self, cells: Cells, k: int, kind: Category | Days | None) -> Array:
        """Return numbers, or those of levels or dates; codes for missing values are none."""
        name, codes = self.inputs[k], self.options.missing_codes.of_input(k)
        if kind is None:
            return self._complete(cells, name, codes, _A_CATEGORY_OR_DATES)
        if isinstance(kind, Category):
            numbers = cells.levels(name, kind)
        else:
            numbers = cells.days(name, kind, codes)
        if self.options.missing is Missing.ERROR and np.isnan(numbers).any():
            raise TableError(
                f"{cells.where}column '{name}' has cells that are missing or {kind.other_cells}: "
                f"{kind.words}",
                _OF_KINDS[type(kind)],
            )
        return numbers

    def _weights(self, cells: Cells) -> Array | None:
        if self.weight is None:
            return None
        weights = self._complete(cells, self.weight, NO_CODES, _A_NUMBER)
        if self.options.missing is Missing.ERROR and (weights < 0.0).any():
            raise TableError(f"{cells.where}column '{self.weight}' has negative cells", _OF_CELLS)
        return weights

    def _complete(self, cells: Cells, name: str, codes: Codes, otherwise: Words) -> Array:
        numbers = cells.numbers(name, codes, otherwise)
        if self.options.missing is Missing.ERROR and not np.isfinite(numbers).all():
            what = "infinite" if np.isinf(numbers).any() else "missing"
            raise TableError(f"{cells.where}column '{name}' has {what} cells", _OF_CELLS)
        return numbers
