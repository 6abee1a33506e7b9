"""A studio whose fits are seeded: prints addresses, its page, and what fits that it stops spent."""

import sys
from pathlib import Path

from dpgp.studio.server import serve

if __name__ == "__main__":
    worker = (sys.executable, str(Path(__file__).with_name("seeded_worker.py")))
    stopped = serve(
        lambda address: print(address, flush=True),
        browse=lambda page: print(page.as_uri(), flush=True),
        folder=Path(sys.argv[1]),
        worker=worker,
    )
    for job in stopped:
        print(job.message)
