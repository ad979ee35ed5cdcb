"""Check the home folder, the workspace and the disk: permissions, free space, and its speed."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from anyio import to_thread

from channels.checkup import CheckResult
from gateway.doctor import troubles
from gateway.doctor.results import ill, noted, well
from gateway.doctor.subject import Subject
from gateway.settings.files import open_files
from tape.private_file import is_open_to_others

FILES: Final = "files"
DISK: Final = "disk"
MEGABYTE: Final = 1_000_000
LOW_BYTES: Final = 500 * MEGABYTE
MIN_FSYNCS: Final = 20.0  # per second
FSYNC_SECONDS: Final = 0.5
MAX_FSYNCS: Final = 100
BLOCK: Final = bytes(4096)


async def check_files(subject: Subject) -> list[CheckResult]:
    home, found = subject.home, list(_open_files(subject))
    nearest = _nearest(subject.settings.workspace_path)
    says = f"{subject.settings.workspace_path}: "
    if not nearest.is_dir():
        found.append(ill(FILES, troubles.WORKSPACE_UNUSABLE, f"{says}Not a directory: {nearest}"))
    elif not os.access(nearest, os.W_OK | os.X_OK):
        why = f"{nearest} is not writable"
        found.append(ill(FILES, troubles.WORKSPACE_UNUSABLE, says + why))
    return found or [well(FILES, f"only this user may open {home}" if home.exists() else "no home")]


def _open_files(subject: Subject) -> Iterator[CheckResult]:
    if is_open_to_others(subject.home) and not stat.S_ISREG(subject.home.stat().st_mode):
        says = f"{subject.home}: run `chmod 700 {subject.home}`"
        yield ill(FILES, troubles.HOME_OPEN, says, "warning")
    if subject.files is not None:
        # The home has been looked at; here it stands for no file.
        for sentence in open_files(subject.home / "no-such-folder", subject.files):
            yield ill(FILES, troubles.SETTINGS_OPEN, sentence, "warning")


async def check_disk(subject: Subject) -> list[CheckResult]:
    return [await to_thread.run_sync(_look, subject.home, abandon_on_cancel=True)]


def _look(home: Path) -> CheckResult:
    folder = _nearest(home)
    if not folder.is_dir():
        return ill(DISK, troubles.HOME_UNUSABLE, f"{home}: Not a directory: {folder}")
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    facts: dict[str, Any] = {"free_bytes": free}
    says = f"{free // MEGABYTE} MB free at {folder}"
    if folder != home:
        if not os.access(folder, os.W_OK | os.X_OK) or found.f_flag & os.ST_RDONLY:
            says = f"{home} does not exist, and {folder} is not writable"
            return ill(DISK, troubles.HOME_UNUSABLE, says, **facts)
        return noted(DISK, f"{says}; the home folder {home} does not exist yet", **facts)
    try:
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
