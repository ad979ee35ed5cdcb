"""Files that only their owner may read; links in their place are never followed."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

OTHERS_MODE: Final = 0o077
_FLAGS: Final = os.O_NOFOLLOW | os.O_CLOEXEC


def open_private(path: Path, flags: int) -> int:
    """Open or create a file for its owner only; raises OSError for a link."""
    descriptor = os.open(path, flags | _FLAGS, 0o600)
    with suppress(OSError):  # a file of another user
        if os.fstat(descriptor).st_mode & OTHERS_MODE:
            os.fchmod(descriptor, 0o600)
    return descriptor


def make_private(path: Path) -> None:
    """Create an empty file unless it exists; raises OSError for a link.

    An existing file is not opened: closing it would release the locks that SQLite holds on it.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600))
    except FileExistsError:
        if path.is_symlink():
            raise OSError(f"{path} is a symbolic link: name the file that it leads to") from None


def narrow(path: Path) -> None:
    """Make a file that others may use private; SQLite must not have it open in this process."""
    with suppress(OSError):  # gone meanwhile, a link, or a file of another user
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _FLAGS)
        try:
            mode = os.fstat(descriptor).st_mode
            if stat.S_ISREG(mode) and mode & OTHERS_MODE:
                os.fchmod(descriptor, 0o600)
        finally:
            os.close(descriptor)


def is_open_to_others(path: Path) -> bool:
    """Return whether other users of the machine may open a file or folder."""
    try:
        return bool(path.stat().st_mode & OTHERS_MODE)
    except OSError:
        return False


def sync_folder(folder: Path) -> None:
    """Have the disk keep the names of files that were made or renamed in a folder; OSError."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
