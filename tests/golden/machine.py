"""Print some golden figures as JSON, to be run as if on another processor."""

import json
import sys
import warnings

from cases import CASES

from dpgp.privacy.noise import SeededNoiseWarning

if __name__ == "__main__":
    warnings.simplefilter("ignore", SeededNoiseWarning)
    print(json.dumps({name: CASES[name]() for name in sys.argv[1:]}))
