"""The folder of a file store: a file for each tape, and the lock of the process that writes.

A file is named after its tape; bytes other than lowercase letters, digits and `._-` become `%` and
two hex digits, so that no two tapes share a file on any file system, and no name leads elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
import time
from collections import deque
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from tape.errors import AppendRefused, StoreUnavailable, StoreUnusable
from tape.private_file import open_private

SUFFIX: Final = ".jsonl"
LOCK: Final = "lock"
INDEX: Final = "index.db"
MAX_FILE_NAME: Final = 240  # characters of a file's name, without the suffix
LOCK_WAIT_SECONDS: Final = 0.5
"""Seconds to wait for the lock, which a process that was just killed will soon release."""

_PLAIN: Final = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789._-")


class Folder:
    """A folder that this process has locked; create it with `Folder.open`.

    `notes` says what was cut off the ends of files since then. `rewriting` is held while a file and
    its index do not match, and during reads.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.notes: deque[str] = deque(maxlen=100)
        self.rewriting = threading.RLock()
        self._lock = lock

    @classmethod
    def open(cls, path: Path) -> Folder:
        """Create the folder if it is missing, and lock it; raises StoreUnavailable."""
        try:
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = open_private(path / LOCK, os.O_RDWR | os.O_CREAT)
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
                    f"another process uses the tapes of {path}: stop it first, or name another"
                    " folder in TAPEWAY_TAPE__URL"
                )
            time.sleep(0.01)
        return cls(path, lock)

    def file_of(self, tape: str) -> Path:
        """Return a tape's file; raises AppendRefused if the tape's name is too long or not text."""
        try:
            raw = tape.encode()
        except UnicodeEncodeError as cause:
            raise AppendRefused(f"the tape's name is not valid text ({cause})") from cause
        name = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in raw)
        if len(name) > MAX_FILE_NAME:
            raise AppendRefused(
                f"the tape's name is too long for a file: use at most {MAX_FILE_NAME} characters"
            )
        return self.path / f"{name}{SUFFIX}"

    def sizes(self) -> dict[str, int]:
        """Map each tape to the size of its file in bytes; other files are ignored."""
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
        os.close(self._lock)


def copy_end(path: Path, copy: Path, start: int = 0) -> None:
    """Copy a file from an offset on to a new file, and sync that."""
    made = open_private(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    with os.fdopen(made, "wb") as new, path.open("rb") as file:
        file.seek(start)
        shutil.copyfileobj(file, new, 1024 * 1024)
        new.flush()
        os.fsync(new.fileno())


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as cause:
        raise StoreUnusable(
            f"the folder of the tapes is on a file system without working locks ({cause.strerror}):"
            " put it on a disk of this machine with TAPEWAY_TAPE__URL, or mount it with locks"
        ) from cause
    return True
