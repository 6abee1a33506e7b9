"""A class name has one meaning, in the product and in its laboratory."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import dpgp
import dpgp.ledger
import dpgp.sites

ROOT = Path(__file__).parents[1]
SAME_MEANING = {"EffectiveKernel"}  # ours, and the same kernel for GPflow and GPyTorch


def test_no_class_name_is_defined_twice():
    modules = [*ROOT.glob("src/**/*.py"), *ROOT.glob("experiments/src/**/*.py")]
    names = Counter(
        name
        for module in modules
        for name in re.findall(r"^class ([A-Za-z]\w*)", module.read_text("utf-8"), re.MULTILINE)
    )
    assert {name for name, count in names.items() if count > 1} == SAME_MEANING


@pytest.mark.parametrize("package", [dpgp, dpgp.ledger, dpgp.sites])
def test_dir_lists_the_public_names_before_any_of_them_is_used(package):
    code = f"import {package.__name__} as it; print(set(it.__all__) - set(dir(it)))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
    assert all(hasattr(package, name) for name in dir(package))
