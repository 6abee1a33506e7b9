"""Tables that were opened: copies in a private folder that goes with the studio, or named files."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import gettempdir, mkdtemp
from typing import TYPE_CHECKING
from weakref import finalize

from dpgp.cli.fit import read_header
from dpgp.plain_text import made_plain
from dpgp.study.errors import Face, UsageError, said

if TYPE_CHECKING:
    from dpgp.private.files import Header

MOST_BYTES = 2 * 2**30
"""Of one upload; a larger table is named by its path, and not copied."""
PREFIX = "dpgp-tables-"
MADE = "new-"
"""Begins the name of a folder until it is locked, so that nobody takes it for abandoned."""
SUFFIX = ".of-a-studio"
"""Ends its name: others may have folders that begin alike."""
HAS_LOCKS = os.name == "posix"


@dataclass(frozen=True)
class OpenedTable:
    """A table by what may be shown of it: its name and its header."""

    key: str
    name: str
    path: Path
    header: Header

    @property
    def is_copy(self) -> bool:
        """Whether the file came through the page, and lies in the private folder."""
        return self.path.name == self.key

    @property
    def state(self) -> str:
        """Changes whenever the file does."""
        try:
            found = self.path.stat()
        except OSError:
            raise UsageError(f"'{self.name}' is no longer there; choose the file again.") from None
        return f"{self.path} {found.st_size} {found.st_mtime_ns}"


class Desk:
    """All tables of a studio, under keys that nobody can guess."""

    def __init__(self) -> None:
        self._folder = PrivateFolder()
        self._tables: dict[str, OpenedTable] = {}

    @property
    def folder(self) -> Path:
        """Where uploads lie; a new one where somebody has removed it."""
        if not self._folder.path.is_dir():
            self._folder = PrivateFolder()
        return self._folder.path

    def table(self, key: object) -> OpenedTable:
        """Return a table that was opened."""
        if not isinstance(key, str) or key not in self._tables:
            raise UsageError("no table was chosen; choose a file first.")
        return self._tables[key]

    def open_path(self, text: str) -> OpenedTable:
        """Open a file of this machine where it is."""
        path = Path(text.strip()).expanduser()
        if not text.strip() or not path.is_file():
            raise UsageError(f"there is no file '{text.strip()}'; type its whole path.")
        path = path.absolute()
        return self._opened(secrets.token_hex(16), path.name, path)

    async def take(self, name: str, chunks: AsyncIterator[bytes]) -> OpenedTable:
        """Copy an upload into the private folder."""
        key = secrets.token_hex(16)
        path = await self.copy(key, chunks)
        try:
            return self._opened(key, _file_name(name), path)
        except ValueError:
            path.unlink(missing_ok=True)
            raise

    async def copy(self, key: str, chunks: AsyncIterator[bytes]) -> Path:
        """Write what arrives to a file, and nothing of it where it is too much or breaks off."""
        path, size = self.folder / key, 0
        try:
            with path.open("xb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > MOST_BYTES:
                        raise UsageError(
                            f"the file is larger than {MOST_BYTES // 2**30} GB; type its path "
                            "instead, and it is read where it is."
                        )
                    file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def close(self) -> None:
        """Remove all copies."""
        self._folder.remove()

    def _opened(self, key: str, name: str, path: Path) -> OpenedTable:
        try:
            table = OpenedTable(key, name, path, read_header(str(path)))
        except ValueError as error:  # copies have names that mean nothing to anybody
            raise UsageError(said(error, Face.PAGE).replace(str(path), name)) from None
        self._tables[key] = table
        return table


def _file_name(text: str) -> str:
    """Return the last part of whatever a browser calls the file."""
    name = made_plain(PurePosixPath(PureWindowsPath(text).name).name).strip()
    return name[:200] or "table"


class PrivateFolder:
    """A new folder that only its owner can read, and that goes with its process.

    It goes at the end of the process or, where that was killed, at the next start. A process holds
    a lock on its folder, which the system releases however the process ends: a folder whose lock is
    free is nobody's any more. Windows has no such lock, and keeps what the killed leave.
    """

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
