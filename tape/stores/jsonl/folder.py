"""The folder of a file store: which file holds which tape, and who may write here.

A tape's file is called by its name, where whatever is not a small letter, a digit or one of `._-`
is written as `%` and two hex digits: names differ on every file system, and none leaves the folder.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from tape.errors import AppendRefused, StoreUnavailable

SUFFIX: Final = ".jsonl"
LOCK: Final = "lock"
INDEX: Final = "index.db"
MAX_FILE_NAME: Final = 240
LOCK_WAIT_SECONDS: Final = 0.5
"""Seconds to wait for the lock: a process that was just ended lets go of it in a moment."""

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")


class Folder:
    """A folder that this process holds; make it with `Folder.open`."""

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Make the folder where it is not there, and lock it; raises StoreUnavailable."""
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as cause:
            raise StoreUnavailable(
                f"{path} cannot be opened ({cause.strerror}): check the disk and the permissions of"
                " the folder, or name another in TAPEWAY_TAPE__URL"
            ) from cause
        until = time.monotonic() + LOCK_WAIT_SECONDS
        while not _locked(lock):
            if time.monotonic() >= until:
                os.close(lock)
                raise StoreUnavailable(
                    f"another process writes the tapes of {path}: stop it first, or name another"
                    " folder in TAPEWAY_TAPE__URL"
                )
            time.sleep(0.01)
        return cls(path, lock)

    def file_of(self, tape: str) -> Path:
        """Return the file of a tape; raises AppendRefused where its name cannot be one."""
        try:
            raw = tape.encode()
        except UnicodeEncodeError as cause:
            raise AppendRefused(f"the name of a tape is no text ({cause})") from cause
        name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in raw)
        if len(name) > MAX_FILE_NAME:
            raise AppendRefused("the name of a tape is too long for a file's name")
        return self.path / f"{name}{SUFFIX}"

    def sizes(self) -> dict[str, int]:
        """Return every tape that has a file, and how many bytes; other things are none."""
        found = {}
        with os.scandir(self.path) as items:
            for item in items:
                tape = unquote(item.name.removesuffix(SUFFIX), errors="replace")
                if item.is_file() and self._is_of(tape, item.name):
                    found[tape] = item.stat().st_size
        return found

    def _is_of(self, tape: str, name: str) -> bool:
        try:
            return self.file_of(tape).name == name
        except AppendRefused:
            return False

    def close(self) -> None:
        """Let others in."""
        os.close(self._lock)


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
