"""Numbers that somebody chose have their reason beside them, and stand on a page."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
MODULE = '''\
SHARE = 0.05  # of the budget

# By hand, on simulations
FEW, MANY = 8, 32
LENGTHS = np.array([0.1, 0.5])  # in half-widths
"""As docs/method.md says."""

BARE = 2.0**20
NAMES = ("a", "b")
DERIVED = (LENGTHS[1:] + LENGTHS[:-1]) / 2
IS_FAST = True


class Toy:
    weight: ClassVar[float] = 3e-1
    """Of the |target|."""


class Colour(IntEnum):
    RED = 1
'''


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(DOCS / "constants.py"))


def test_the_page_is_what_the_code_says(script):
    page = (DOCS / "constants.md").read_text(encoding="utf-8")
    assert page == script["page"](), "run python docs/constants.py"


def test_every_number_of_a_fit_has_its_reason(script):
    assert script["without_reason"]() == []
    found = [
        constant for constant in script["constants"]() if constant.package in script["OF_A_FIT"]
    ]
    assert {constant.package for constant in found} == set(script["OF_A_FIT"])


@pytest.fixture
def toy(script, tmp_path):
    (tmp_path / "steps").mkdir()
    (tmp_path / "steps" / "toy.py").write_text(MODULE, encoding="utf-8")
    return {constant.name: constant for constant in script["constants"](tmp_path)}


def test_reasons_stand_beside_below_and_above(toy):
    assert {name: (constant.value, constant.reason) for name, constant in toy.items()} == {
        "SHARE": ("0.05", "Of the budget."),
        "FEW, MANY": ("8, 32", "By hand, on simulations."),
        "LENGTHS": (
            "np.array([0.1, 0.5])",
            "In half-widths. As docs/method.md says. By hand, on simulations.",
        ),
        "BARE": ("2.0**20", ""),
        "Toy.weight": ("3e-1", "Of the |target|."),
    }


def test_a_row_of_the_page_has_links_and_keeps_its_columns(script, toy):
    assert script["_rows"]([toy["LENGTHS"], toy["Toy.weight"]]) == (
        "| `steps.toy.LENGTHS` | `np.array([0.1, 0.5])` | In half-widths. As [method](method.md) "
        "says. By hand, on simulations. |\n"
        "| `steps.toy.Toy.weight` | `3e-1` | Of the \\|target\\|. |\n"
    )
