"""Forecast against realised error of functions of five and ten inputs, apart from the others."""

import argparse
import warnings

from forecast import MANY_CELLS, many_table
from rich.console import Console

from dpgp.privacy.noise import SeededNoiseWarning


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--functions", type=int, default=2, help="how many in each cell")
    warnings.simplefilter("ignore", SeededNoiseWarning)
    Console(width=140).print(many_table(MANY_CELLS, parser.parse_args().functions))


if __name__ == "__main__":
    main()
