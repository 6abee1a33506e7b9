"""Write the golden figures anew: ``python tests/golden/write.py``, after a change that is meant.

Say in the commit why they changed.
"""

import json
import warnings

from cases import CASES
from compare import kept_file

from dpgp.privacy.noise import SeededNoiseWarning


def main() -> None:
    warnings.simplefilter("ignore", SeededNoiseWarning)
    for name, figures in CASES.items():
        kept_file(name).write_text(json.dumps(figures(), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
