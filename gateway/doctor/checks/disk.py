"""Check the home folder, the workspace and the disk: permissions, free space, and its speed."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

from anyio import to_thread

from channels.checkup import CheckResult
from gateway.doctor import troubles
from gateway.doctor.results import ill, noted, well
from gateway.doctor.subject import Subject
from gateway.home import no_locks
from gateway.wording import megabytes
from tape.private_file import is_open_to_others

FILES: Final = "files"
DISK: Final = "disk"
LOW_BYTES: Final = 500_000_000
MIN_FSYNCS: Final = 20.0  # per second
FSYNC_SECONDS: Final = 0.5
MAX_FSYNCS: Final = 100
BLOCK: Final = bytes(4096)


async def check_files(subject: Subject) -> list[CheckResult]:
    home, workspace = subject.home, subject.settings.workspace_path
    found = (
        []
        if (why := _unusable(workspace)) is None
        else [ill(FILES, troubles.WORKSPACE_UNUSABLE, f"{workspace}: {why}")]
    )
    if is_open_to_others(home):
        says = f"{home}: run `chmod 700 {home}`"
        found.append(ill(FILES, troubles.HOME_OPEN, says, "warning"))
    for path in subject.files.paths() if subject.files else ():
        if is_open_to_others(path):
            says = f"{path}: run `chmod 600 {path}`"
            found.append(ill(FILES, troubles.SETTINGS_OPEN, says, "warning"))
    return found or [well(FILES, f"no other user may open {home}")]


def _unusable(folder: Path) -> str | None:
    """Return why a folder cannot be created or written, or None."""
    try:
        nearest = _nearest(folder)
    except OSError as cause:
        return cause.strerror
    if not nearest.is_dir():
        return f"Not a directory: {nearest}"
    return None if os.access(nearest, os.W_OK | os.X_OK) else f"{nearest} is not writable"


async def check_disk(subject: Subject) -> list[CheckResult]:
    try:
        return [await to_thread.run_sync(_look, subject.home, abandon_on_cancel=True)]
    except OSError as cause:
        return [ill(DISK, troubles.HOME_UNUSABLE, f"{subject.home}: {cause.strerror}")]


def _look(home: Path) -> CheckResult:
    folder = _nearest(home)
    why = None if folder == home and home.is_dir() else _unusable(home)
    if why is not None:
        return ill(DISK, troubles.HOME_UNUSABLE, f"{home}: {why}")
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    facts: dict[str, Any] = {"free_bytes": free}
    says = f"{megabytes(free)} free at {folder}"
    if folder != home:
        return noted(DISK, f"{says}; the home folder {home} does not exist yet", **facts)
    try:
        if why := _without_locks(home):
            return ill(DISK, troubles.HOME_WITHOUT_LOCKS, f"{home} {why}", **facts)
        rate = fsync_rate(home)
    except OSError as cause:
        full = cause.errno in (errno.ENOSPC, errno.EDQUOT)
        trouble = troubles.DISK_FULL if full else troubles.HOME_UNUSABLE
        return ill(DISK, trouble, f"{says}: writing a file failed: {cause.strerror}", **facts)
    facts["fsyncs_per_second"] = round(rate)
    says = f"{says}, {rate:.0f} confirmed writes a second"
    if rate < MIN_FSYNCS:
        return ill(DISK, troubles.DISK_SLOW, says, "warning", **facts)
    if free < LOW_BYTES:
        return ill(DISK, troubles.DISK_LOW, says, "warning", **facts)
    return well(DISK, says, **facts)


def _without_locks(folder: Path) -> str:
    """Return why a file of its own cannot be locked in a folder, "" if it can."""
    with TemporaryFile(dir=folder) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # as SQLite does
        except OSError as cause:
            return no_locks(cause)
    return ""


def fsync_rate(folder: Path) -> float:
    """Return how many small writes to a file of its own the disk confirms per second."""
    path = folder / f"doctor-{secrets.token_hex(4)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        path.unlink()  # whatever happens, nothing is left behind
        started = time.monotonic()
        count, seconds = 0, 0.0
        while count < MAX_FSYNCS and seconds < FSYNC_SECONDS:
            if os.write(descriptor, BLOCK) < len(BLOCK):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(descriptor)
            count, seconds = count + 1, time.monotonic() - started
        return count / max(seconds, 1e-6)
    finally:
        os.close(descriptor)


def _nearest(path: Path) -> Path:
    """Return a path, or the nearest of its parents that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
