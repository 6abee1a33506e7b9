"""The worker with noise from a seed, so that its model can be compared."""

import sys
from pathlib import Path

from dpgp.privacy import noise
from dpgp.studio.worker import main

if __name__ == "__main__":
    noise.noise_source = lambda _: noise.SimulatedNoise(0)
    main(Path(sys.argv[1]), sys.argv[2])
