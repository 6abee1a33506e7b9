"""Time and memory of one stage of a fit of many inputs, by the number of its features.

20,000 rows of eight inputs; the noise is drawn by the secure generator, number by number exactly.
"Pass" is what goes over the rows, features to exact sums, "noise" all that follows it until the
release, "learning" what inference makes of the release. Seconds of processor time, of all threads;
memory is the largest that NumPy and Python held at once, rows included, in a second run.
"""

import argparse
import time
import tracemalloc

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from dpgp.domain import Box
from dpgp.features.inducing import ProjectedFeatures
from dpgp.features.inputs import BoxFeatures, UnitInputs
from dpgp.inference.many.dictionary import Dictionary
from dpgp.inference.many.fit import SMALLEST_NORM, MetricFit
from dpgp.inference.many.metric import MetricFamily, first_metric
from dpgp.outcomes import Location
from dpgp.privacy.books import Books
from dpgp.privacy.mechanism import gram_noise
from dpgp.privacy.neighbours import Neighbours
from dpgp.privacy.noise import noise_source
from dpgp.private.rows import Rows
from dpgp.private.sums import exact_gram
from dpgp.private.wall import release_exact_gram

FEATURES = (64, 208, 400, 608, 1008)
ROWS, INPUTS, SYNTHETIC = 20_000, 8, 4096


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--features", type=int, nargs="+", default=FEATURES)
    table = Table(
        "features", "pass, s", "noise, s", "learning, s", "noise of all", "memory, MB",
        title=__doc__.split("\n")[0],
    )  # fmt: skip
    for count in parser.parse_args().features:
        seconds, megabytes = measured(count)
        part = seconds[1] / sum(seconds)
        table.add_row(str(count), *(f"{s:.2f}" for s in seconds), f"{part:.0%}", f"{megabytes:.0f}")
    Console().print(table)


def measured(count):
    """Seconds of the three parts of a stage, and the largest memory."""
    with threadpool_limits(1, user_api="blas"):
        seconds = stage(count)
        tracemalloc.start()
        stage(count)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    return seconds, peak / 1e6


def stage(count):
    rng = np.random.default_rng(0)
    rows = Rows(
        rng.uniform(-1, 1, (ROWS, INPUTS)), rng.uniform(-1, 1, (1, ROWS)), np.ones(ROWS, dtype=bool)
    )
    inputs = UnitInputs(Box.from_bounds((-1, 1), INPUTS))
    synthetic = rng.uniform(-1, 1, (SYNTHETIC, INPUTS))
    family = MetricFamily(first_metric(synthetic), first_metric(synthetic))
    dictionary = Dictionary(family, synthetic[:count], synthetic)
    fit = MetricFit(inputs, dictionary, [Location(0.0, 0.5)], ROWS, 1.0)
    unit = ProjectedFeatures(fit.dictionary.features, np.eye(count), SMALLEST_NORM)
    features = BoxFeatures(inputs, unit)
    books, source = Books(1.0, 1e-6, Neighbours.REPLACE), noise_source(None)
    noise = gram_noise(0.99 * books.mu, 1.0, 1, Neighbours.REPLACE, 1)
    clock = [time.process_time()]
    totals = exact_gram(rows, features, n_jobs=1)
    clock.append(time.process_time())
    release = release_exact_gram(totals, count, noise, label="stage", books=books, source=source)
    clock.append(time.process_time())
    fit.take_stage(release, unit.evaluate(fit.dictionary.synthetic).T, 1.0, renew=False)
    clock.append(time.process_time())
    return np.diff(clock).tolist()


if __name__ == "__main__":
    main()
