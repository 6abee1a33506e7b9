"""A folder that goes with its process: at its end, or, where it was killed, at the next start.

A process holds a lock on its folder, which the system releases however the process ends: a folder
whose lock is free is nobody's any more. Windows has no such lock, and keeps what the killed leave.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from weakref import finalize

PREFIX = "dpgp-tables-"
MADE = "new-"
"""Begins the name of a folder until it is locked, so that nobody takes it for abandoned."""
SUFFIX = ".of-a-studio"
"""Ends its name: others may have folders that begin alike."""
HAS_LOCKS = os.name == "posix"


class PrivateFolder:
    """A new folder that only its owner can read; folders of processes that are no more go first."""

    def __init__(self) -> None:
        sweep()
        made = Path(mkdtemp(prefix=MADE + PREFIX, suffix=SUFFIX))
        lock = _locked(made) if HAS_LOCKS else None
        self.path = made.rename(made.with_name(made.name.removeprefix(MADE)))
        self.remove = finalize(self, _remove, self.path, lock)  # at the latest when Python ends


def sweep() -> None:
    """Remove folders of this user whose process is no more."""
    for folder in Path(gettempdir()).glob(f"{PREFIX}*{SUFFIX}") if HAS_LOCKS else ():
        with suppress(OSError):  # another user's, in use, or gone by now
            _remove(folder, _locked(folder))


def _locked(folder: Path) -> int:
    """Return the lock of a folder of this user, no link to one; an OSError where it is taken."""
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            raise PermissionError
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)
