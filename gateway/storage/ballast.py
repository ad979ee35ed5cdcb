"""The ballast: a reserve file that is deleted when the disk fills up, to save open answers.

Nothing new is accepted until the disk has room for the file again.
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
FREE_FACTOR: Final = 3
"""Free space, in multiples of the ballast, at which the disk counts as having room again."""


class Ballast:
    """A file in the instance directory; `size` is in bytes, 0 for none."""

    def __init__(self, home: Path, size: int = SIZE) -> None:
        self._path = home / NAME
        self._size = size
        self.given_up = False

    def take(self) -> bool:
        """Create the file if the disk has room for it, and return whether it exists."""
        made = not self._size or self._make()
        self.given_up = self.given_up and not made
        return made

    def _make(self) -> bool:
        try:
            if self._path.exists() and self._path.stat().st_size == self._size:
                return True
            if shutil.disk_usage(self._path.parent).free < FREE_FACTOR * self._size:
                return False
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "wb") as file:
                # Written in full: a sparse file would reserve nothing.
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
        """Delete the file, and return whether there was one."""
        if self.given_up or not self._size:
            return False
        self.given_up = True
        try:
            self._path.unlink()
        except OSError:
            return False
        return True
