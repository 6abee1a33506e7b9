"""Write girls.csv, the made-up table of README.md: age, weight and height of 2,000 girls.

Nobody in it exists. ``python examples/make_girls.py`` writes it anew, the same every time.
"""

from pathlib import Path

import numpy as np


def make_girls(rows: int = 2000) -> str:
    """Return the table as CSV."""
    random = np.random.default_rng(0)
    age = random.uniform(2, 18, rows)
    weight = random.normal(12 + 2.8 * (age - 2), 2 + 0.5 * age).clip(8)
    height = random.normal(84 + 6.9 * (age - 2) - 0.18 * (age - 2) ** 2 + 0.25 * weight, 5)
    lines = [f"{a:.1f},{w:.1f},{h:.1f}" for a, w, h in zip(age, weight, height, strict=True)]
    return "\n".join(["age,weight_kg,height_cm", *lines]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("girls.csv").write_text(make_girls(), encoding="utf-8")
