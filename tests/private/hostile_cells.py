"""Cells that nobody expects, and columns of people who write theirs in several types."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
from hypothesis import strategies as st

CANARY = "Zq7X"
LONG = 987654321987654321
RECOGNISED = (CANARY, "9876", "1987", "zz")
"""What of a hostile cell no message may repeat."""

WEST = datetime.timezone(-datetime.timedelta(hours=8))

OBJECTS = (
    *(None, b"zz", b"", b"7", bytearray(b"z"), True, False, object, {"a": 1}, {7}),
    *([], [1.0], (2.0,), [[3.0]], 1 + 0j, 1j),
    *(Decimal(text) for text in ("1.5", "7", "NaN", "sNaN", "Infinity", "1e999999")),
    *(datetime.date(1987, 6, 5), datetime.datetime(1987, 6, 5, 4)),
    *(datetime.timedelta(9876), datetime.time(9, 8)),
    *(datetime.datetime(1987, 6, 5, 23, tzinfo=WEST), pd.Timestamp("1987-06-05 23:00", tz=WEST)),
    *(datetime.date.min, datetime.date.max, datetime.datetime.max, pd.Period("1987-06")),
    *(pd.NA, pd.NaT, pd.Timestamp("1987-06-05"), pd.Timedelta(9876), pd.Interval(0, 9876)),
)

NUMBERS = (
    *(float("nan"), float("inf"), -np.inf, -0.0, 1e308, 5e-324),
    *(2**53, 2**53 + 1, -(2**63), 2**64, 10**30, 10**400, LONG, float(LONG)),
)

SCALARS = (
    *(np.int8(7), np.uint64(2**63 + 1), np.bool_(True), np.complex64(1)),
    *(np.float16(0.1), np.float32(0.1), np.float64(0.1), np.longdouble(0.1), np.float32("nan")),
    *(np.str_(CANARY), np.bytes_(b"zz"), np.datetime64("1987-06-05"), np.datetime64("NaT")),
    *(np.datetime64("1987"), np.datetime64("1987-06-05T23", "h"), np.datetime64(2**62, "s")),
    *(np.timedelta64(7, "D"), np.timedelta64(7, "ns"), np.ma.masked),
    *(np.array(7.0), np.array([7.0]), np.array(CANARY)),
)

TEXTS = (
    *("", " ", ".", "NA", "nan", "nan(1)", "-nan", "inf", "Infinity", "none", "#N/A"),
    *("unknown", "x", "True", "true", "0", "0.0", "1987-06-05", "=1+1", "'", CANARY * 50),
    *("1", " 1", "1.0", "+1", "1e3", "1e400", "1e-400", "1_000", "0x10", "07", "7", " 7", "7.0"),
    *("2019-02-29", "19-02-28", "28/02/2019", "02/03/2019", "01.02.19", "20190228", "2019-2-8"),
    *("2019-02-28T23:30-05:00", "2019-02-28 23:59:59.9Z", "2019-02-28T24:00", "2019-02-28T"),
    *("0000-01-01", "9999-12-31", "\ufeff2019-02-28", "２０１９-02-28", "2019-W09-4", "43524"),
    *("1,5", "1.5", "1.234,5", "１２", "٣", "−1", "1\u00a0000"),
    *(f"\ufeff{CANARY}", "\ufeff1", "\ufeff", "\0", f"{CANARY}\0", "\x0b", "\x0c", "\x1c"),
    *('"', f'"{CANARY}', f'{CANARY}"', '""', f'"{CANARY}"', ",", f"{CANARY},{CANARY}", ";"),
    *("\t", "\n", f"{CANARY}\n", f"{CANARY}\r", "\r\n", "\x85", "\u2028"),
    *("\u202e1", "e\u0301", "é", "\ud800", "ſ", "K", "İ"),
)

_DRAWN = st.text(max_size=6) | st.text("0123456789.,+-eEnaif() \ufeff\"'\n", max_size=6)
CELLS = (
    st.sampled_from((*OBJECTS, *NUMBERS, *SCALARS, *TEXTS))
    | _DRAWN
    | _DRAWN.map(lambda text: text + CANARY)
    | st.binary(max_size=4)
    | st.floats()
    | st.integers()
    | st.decimals()
    | st.datetimes()
)

CODES = (
    *((), (0, "x"), (1000.0, 2**53, "unknown"), ("0.1", "é", "inf"), (5e-324, "0", "'")),
    ("9999-12-31", "1987-06-05", "28/02/2019"),
)
"""Codes for missing values: hostile cells, and nobody's of the people below."""

NOBODY = {"text": ("zoe", "yan"), "number": (999, 998)}
"""Identifiers of two hostile rows where their cells are in another column."""

PEOPLE = {
    "age": (
        [21.5, 34.0, 47.25, 60.0, 73.125],
        [21, 34, 47, 60, 73],
        ["21.5", " 34", "47.25", "６０", "73"],
        [datetime.date(2019, month, 28) for month in range(1, 6)],
        [datetime.datetime(2019, month, 28, 23, 59) for month in range(1, 6)],
        [pd.Timestamp(2019, month, 28, 23, tz="Europe/Helsinki") for month in range(1, 6)],
        ["2019-01-28", " 2019-02-28", "2019-03-28T10:00", "2019-04-28 10:00Z", "2019-05-28"],
    ),
    "sex": (
        ["f", "m", "f", "m", "f"],
        [0, 1, 0, 1, 0],
        [False, True, False, True, False],
        ["0", "1", "0", "1", "0"],
    ),
    "outcome": ([1.5, 3.25, 5.0, 7.75, 9.0], [1, 3, 5, 7, 9]),
    "label": (
        ["no", "yes", "no", "yes", "no"],
        [0, 1, 0, 1, 0],
        [True, False, True, False, True],
        [0.0, 1.0, 0.0, 1.0, 0.0],
        [2**60 + 1, 2**60 + 2, 2**60 + 1, 2**60 + 2, 2**60 + 1],
    ),
    "weight": ([0.5, 1.0, 2.25, 0.0, 7.5], [1, 2, 3, 0, 9]),
    "who": (
        ["ann", "bob", "cyd", "dan", "eve"],
        [101, 102, 103, 104, 105],
        [2**60 + k for k in range(1, 6)],
    ),
}
"""Cells of five people, each in several types."""
