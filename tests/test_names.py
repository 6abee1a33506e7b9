"""A class name has one meaning, in the product and in its laboratory."""

import re
from collections import Counter
from pathlib import Path

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
