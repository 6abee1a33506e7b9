"""Plans and seeded fits give the figures they gave before.

``python tests/golden/write.py`` writes them anew, after a change that is meant.
"""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"
sys.path.insert(0, str(FOLDER))

from cases import CASES  # noqa: E402
from compare import differences, kept_figures  # noqa: E402

TOLERANCE = 1e-6
"""Of the largest figure of a kind; processors differ by 1e-9 (tests/test_machines.py)."""


@pytest.mark.parametrize("name", CASES)
def test_figures_are_those_of_before(name):
    assert differences(CASES[name](), kept_figures(name), TOLERANCE) == []


def test_differences_are_seen():
    kept = {"mean": [1.0, -4.0], "features": 3, "releases": ["a"]}
    assert differences(kept, kept, 0.0) == []
    assert differences({**kept, "mean": [1.0 + 3e-6, -4.0]}, kept, 1e-6) == []
    for change in (
        {"mean": [1.0 + 5e-6, -4.0]},
        {"mean": [1.0, float("nan")]},
        {"mean": [1.0]},
        {"features": 4},
        {"releases": ["b"]},
        {"more": 1},
    ):
        assert len(differences({**kept, **change}, kept, 1e-6)) == 1
