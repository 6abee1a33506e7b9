"""Plans and seeded fits are the same on other processors: those whose kernels this one can run.

OpenBLAS takes the kernels of the processor that OPENBLAS_CORETYPE names, and NumPy leaves out the
instructions that NPY_DISABLE_CPU_FEATURES names.
"""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"
sys.path.insert(0, str(FOLDER))

from compare import differences, kept_figures  # noqa: E402

CASES = ("plans", "one input")
TOLERANCE = 1e-7
"""Of the largest figure of a kind; 1e-9 was seen."""

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "AMD64"), reason="these are processors of one family"
)


def without(*beginnings):
    """Return NumPy's names of those instructions that it would use here."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    used = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)]
    return " ".join(name for name in used if name.startswith(beginnings))


MACHINES = {
    "Haswell": ("Haswell", without("AVX512", "X86_V4")),
    "Sandybridge": ("Sandybridge", without("")),
    "Prescott": ("Prescott", without("")),
}


@pytest.mark.parametrize("name", MACHINES)
def test_plans_and_fits_do_not_depend_on_the_processor(name):
    blas, disabled = MACHINES[name]
    machine = {"OPENBLAS_CORETYPE": blas, "NPY_DISABLE_CPU_FEATURES": disabled}
    result = subprocess.run(
        [sys.executable, str(FOLDER / "machine.py"), *CASES],
        env=os.environ | machine | {"OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    figures = json.loads(result.stdout)
    for case in CASES:
        assert differences(figures[case], kept_figures(case), TOLERANCE) == []
