"""Dates: columns whose public bounds are days of the calendar, each cell read on its own.

A model counts days since an origin, the lower bound. A cell is a date of its library, or a text
that ISO 8601 writes as 2019-01-31, alone or before a time of day. It stands for the day that it
shows, in its own time zone: times of day and zones are dropped. Nothing is guessed: 31/01/2019,
31.1.19 and serial numbers are no dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpgp.categories import clean_text
from dpgp.missing_codes import NO_CODES, Codes
from dpgp.types import Array

HOW_WRITTEN = "as 2019-01-31"

MOST_DAYS = (date.max - date.min).days
"""Days of the calendar."""

_TIME = r"([01]\d|2[0-3]):?[0-5]\d(:?[0-5]\d([.,]\d{1,9})?)?"
_ZONE = r" ?(Z|UTC|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)"
_WRITTEN = re.compile(rf"(\d{{4}}-\d\d-\d\d)([T ]{_TIME}({_ZONE})?)?", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()
_FIRST, _LAST = date.min.toordinal() - _EPOCH, date.max.toordinal() - _EPOCH


@dataclass(frozen=True)
class Days:
    """The numbers of dates: days since an origin."""

    origin: date
    cells: ClassVar[str] = "dates"
    other_cells: ClassVar[str] = "no dates"
    words: ClassVar[str] = f"they are written {HOW_WRITTEN}"

    @property
    def unit(self) -> str:
        """What a number counts."""
        return f"days since {self.origin.isoformat()}"

    def numbers(self, cells: Iterable[Any], codes: Codes = NO_CODES) -> Array:
        """Return the number of every cell, NaN where it is a code or no date; each on its own."""
        missing = _dates_among(codes)
        dates = (None if found in missing else found for found in map(date_of, cells))
        days = (np.nan if found is None else (found - self.origin).days for found in dates)
        return np.fromiter(days, np.float64)

    def of_array(self, dates: NDArray[np.datetime64], codes: Codes = NO_CODES) -> Array:
        """Return the numbers of an array of NumPy's dates, as :meth:`numbers` does, at once."""
        days = dates.astype("datetime64[D]")
        since_epoch = days.astype(np.int64)
        known = ~np.isnat(days) & _shows_days(dates)
        known &= (since_epoch >= _FIRST) & (since_epoch <= _LAST)
        if missing := _dates_among(codes):
            known &= ~np.isin(days, np.array(sorted(missing), "datetime64[D]"))
        return np.where(known, since_epoch + float(_EPOCH - self.origin.toordinal()), np.nan)

    def dates(self, numbers: Array) -> NDArray[np.datetime64]:
        """Return the dates of numbers, which are rounded to days."""
        return np.datetime64(self.origin) + np.rint(numbers).astype("timedelta64[D]")


def date_of(cell: Any) -> date | None:
    """Return the day that one cell shows, whatever holds it; None where it is no date."""
    try:
        if isinstance(cell, str):
            written = _WRITTEN.fullmatch(clean_text(cell))
            return None if written is None else date.fromisoformat(written[1])
        if isinstance(cell, np.datetime64) and _shows_days(cell):
            cell = cell.astype("datetime64[D]").item()  # a number where no calendar has it
        return date.fromordinal(cell.toordinal()) if isinstance(cell, date) else None
    except Exception:  # no day of the calendar, or nothing at all as pandas.NaT
        return None


def _shows_days(dates: Any) -> bool:
    """Return whether NumPy's dates are no years or months, which have no day."""
    return np.datetime_data(dates.dtype)[0] not in ("Y", "M")


def _dates_among(codes: Codes) -> frozenset[date]:
    """Return the codes that are dates; any other code is no date anyway."""
    return frozenset(found for found in map(date_of, codes.texts) if found is not None)
