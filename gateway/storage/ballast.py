"""The ballast: a file that holds disk space, to be given up when the disk is full.

With what it frees, answers under way can still be written down; nothing new is taken on until the
disk has room for it again.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.logs import get_log

NAME: Final = "ballast"
SIZE: Final = 16 * 1024 * 1024
BLOCK: Final = 1024 * 1024
ROOM: Final = 3
"""The disk has room again when so many times the ballast is free."""


class Ballast:
    """One file in the home folder; `size` in bytes, 0 for none."""

    def __init__(self, home: Path, size: int = SIZE) -> None:
        self._path = home / NAME
        self._size = size
        self.given_up = False

    def take(self) -> bool:
        """Make the file where the disk has room for it; tells whether there is one now."""
        if not self._size:
            self.given_up = False
            return True
        try:
            if self._path.exists() and self._path.stat().st_size == self._size:
                self.given_up = False
                return True
            if shutil.disk_usage(self._path.parent).free < ROOM * self._size:
                return False
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                for start in range(0, self._size, BLOCK):  # a hole in a file holds no space
                    file.write(b"\0" * min(BLOCK, self._size - start))
                file.flush()
                os.fsync(file.fileno())
        except OSError as cause:
            get_log().warning("ballast.not_made", why=str(cause))
            with suppress(OSError):
                self._path.unlink()
            return False
        self.given_up = False
        return True

    def give_up(self) -> bool:
        """Free the space; tells whether there was any to free."""
        if self.given_up or not self._size:
            return False
        self.given_up = True
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
