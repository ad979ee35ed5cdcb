"""The ballast: a reserve file, deleted when the disk fills up so that open answers can be saved.

New messages are accepted again once the disk has room to recreate the file.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from gateway.logs import get_log
from tape.private_file import open_private

NAME: Final = "ballast"
SIZE: Final = 16 * 1024 * 1024
BLOCK: Final = 1024 * 1024
FREE_FACTOR: Final = 3
"""The file is recreated when the free space is at least this many times its size."""


class Ballast:
    """A reserve file in the home folder, of `size` bytes; 0 disables it."""

    def __init__(self, home: Path, size: int = SIZE) -> None:
        self._path = home / NAME
        self._size = size
        self.given_up = False

    def take(self) -> bool:
        """Create the file if the disk has room, and return whether it exists (or is disabled)."""
        made = not self._size or self._make()
        self.given_up = self.given_up and not made
        return made

    def _make(self) -> bool:
        try:
            if self._path.is_file() and self._path.lstat().st_size == self._size:
                return True
            if shutil.disk_usage(self._path.parent).free < FREE_FACTOR * self._size:
                return False
            descriptor = open_private(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            with os.fdopen(descriptor, "wb") as file:
                # Written in full, because a sparse file would reserve nothing.
                for start in range(0, self._size, BLOCK):
                    file.write(b"\0" * min(BLOCK, self._size - start))
                file.flush()
                os.fsync(file.fileno())
        except OSError as cause:
            get_log().warning("ballast.not_made", why=str(cause))
            with suppress(OSError):
                self._path.unlink()
            return False
        return True

    def give_up(self) -> bool:
        """Delete the file; return whether it existed."""
        if self.given_up or not self._size:
            return False
        self.given_up = True
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
