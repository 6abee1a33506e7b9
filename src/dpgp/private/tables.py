"""What is said of tables, wherever they are read; needs none of the libraries that read them."""

from __future__ import annotations

from dpgp.plain_text import clean_name as clean_name
from dpgp.study.errors import RefusedError

STANDARD_INPUT = "-"

NOT_UTF_8 = "the file is not UTF-8 text; save it as 'CSV UTF-8' or as Parquet."
NOT_A_LINE_A_ROW = (
    "the file is not CSV with a line for every row: a cell holds a line break, a stray quotation "
    "mark or a NUL; enclose cells with quotation marks in such, double those inside, and remove "
    "line breaks, or save the table as Parquet."
)
UNEQUAL_LINES = (
    "some lines have more or fewer cells than the first, which names the columns; put cells that "
    "hold the delimiter into quotation marks, and remove blank lines."
)
CHANGED = "the table changed while it was read; leave it alone until the fit is done."
DAMAGED = "the file is damaged, or cut short; write it again."


class TableError(RefusedError):
    """A table that cannot be used; the message names the remedy."""

    code = "table"


class ClusterError(RuntimeError):
    """A cluster that could not do its part; what was not summed was not released."""
