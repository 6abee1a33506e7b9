"""A small fit that spends from a ledger, and processes that do so until somebody kills them."""

import os
import sys
import time

import numpy as np

import dpgp
from dpgp.privacy.noise import SecureNoise

X = np.linspace(0.0, 1.0, 40)[:, None]
Y = X[:, 0] ** 2


def regressor(ledger, **options):
    defaults = {"bounds": (0, 1), "target_bounds": (0, 1), "features": "linear", "stages": 1}
    small = {"warp": False, "calibrate": False, "n_jobs": 1, "epsilon": 0.1, "delta": 1e-6}
    return dpgp.PrivateGPRegressor(ledger=ledger, **(defaults | small | options))


def fit_for_ever(path, report):
    """Fit again and again, and write a byte to a pipe before every draw of noise."""
    draw = SecureNoise.draw

    def reported(self, scale, count):
        os.write(report, b"d")
        return draw(self, scale, count)

    SecureNoise.draw = reported
    while True:
        os.write(report, b"f")
        regressor(path).fit(X, Y)


def killed_fits(path, kills, seed):
    """Fork a process that fits, kill it at a random point; return what it had written, each time.

    Runs in a process of its own: a fork of one that has many threads would not be safe.
    """
    rng = np.random.default_rng(seed)
    regressor(path).fit(X, Y)  # everything is imported before the first fork
    reports = []
    for _ in range(kills):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            fit_for_ever(path, writer)
        os.close(writer)
        os.read(reader, 1)  # the first fit begins
        time.sleep(rng.uniform(0.0, 0.35))
        os.kill(child, 9)
        os.waitpid(child, 0)
        reports.append(b"f" + _rest(reader))
        os.close(reader)
    return reports


def _rest(reader):
    parts = []
    while part := os.read(reader, 4096):
        parts.append(part)
    return b"".join(parts)


if __name__ == "__main__":
    path, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for line in killed_fits(path, kills, seed):
        print(line.decode())
