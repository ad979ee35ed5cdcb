"""The home folder: one running gateway at most, which local tools find there.

A lock keeps out a second gateway. A file, for its owner only, has the running one's address.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import orjson

from gateway.errors import GatewayError, HomeInUse, SettingsError

LOCK: Final = "gateway.lock"
ADDRESS: Final = "gateway.json"
RESTORING: Final = ".restoring"
"""The folder that a restore unpacks into, which it leaves behind only if it was killed."""

PATIENCE: Final = 0.5
"""Seconds to wait for the lock: a command that checks for a gateway also holds it briefly."""


@dataclass(frozen=True, slots=True)
class Running:
    """The process id, address and access token of a running gateway."""

    pid: int
    url: str
    token: str


@contextmanager
def locked(home: Path, lock: str = LOCK) -> Iterator[None]:
    """Hold a folder's lock; raises HomeInUse with the id of the process that holds it."""
    try:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(home / lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    except OSError as cause:
        raise GatewayError(
            f"the home folder {home} cannot be used ({cause.strerror}): make it writable, or choose"
            " another with TAPEWAY_HOME"
        ) from cause
    try:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as cause:
                if time.monotonic() >= until:
                    raise HomeInUse(home, _pid(descriptor)) from cause
                time.sleep(0.01)
            except OSError as cause:
                raise GatewayError(f"the home folder {home} {no_locks(cause)}") from cause
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def is_locked(home: Path, lock: str = LOCK) -> bool:
    """Return whether a gateway runs in a home folder, without writing anything."""
    try:
        with (home / lock).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def no_locks(cause: OSError) -> str:
    """Return what a file system says that has no locks, with the remedy."""
    return (
        f"is on a file system without working locks ({cause.strerror}), such as a network folder:"
        " put it on a disk of this machine with TAPEWAY_HOME, or mount the folder with locks"
    )


def refuse_half_restored(home: Path) -> None:
    """Raise GatewayError if a restore was cut off: a start would begin with an empty database."""
    if (home / RESTORING).exists():
        raise GatewayError(
            f"a restore into {home} was cut off: delete what it left there, and restore again, or"
            f" delete {home / RESTORING} to start with what is there"
        )


def make_workspace(path: Path) -> None:
    """Create the folder in which the agent works; raises SettingsError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(
            f"TAPEWAY_WORKSPACE: the folder {path} cannot be created ({cause.strerror}): choose"
            " another, for example TAPEWAY_WORKSPACE=/srv/tapeway/workspace"
        ) from cause


def announce(home: Path, running: Running) -> None:
    """Publish this gateway's address and token for its owner's tools."""
    path = home / ADDRESS
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(orjson.dumps(asdict(running)))


def withdraw(home: Path) -> None:
    (home / ADDRESS).unlink(missing_ok=True)


def find_running(home: Path) -> Running | None:
    """Return the gateway that runs in a home folder, or None."""
    if not is_locked(home):
        return None
    try:
        found = Running(**orjson.loads((home / ADDRESS).read_bytes()))
        holder = (home / LOCK).read_text("ascii").strip()
    except (OSError, ValueError, TypeError):
        return None
    # A killed gateway leaves this file behind, and another program may use its port by now.
    return found if holder == str(found.pid) else None


def _pid(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).decode("ascii", "replace")
    return int(text) if text.isdigit() else None
