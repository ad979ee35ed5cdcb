"""The page's token: the one that is set, or one in a file that the first start makes.

The file is for its owner alone and is never reached through a symbolic link: who could read it, or
put another in its place, would be let in as the owner.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path
from typing import Final

from gateway.errors import GatewayError, SettingsError
from gateway.logs import get_log
from gateway.settings import Settings

TOKEN_BYTES: Final = 32
LONGEST: Final = 4096
OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
REMAKE: Final = "remove it, and the next start makes a new one"


def token_of(settings: Settings) -> str:
    """Return the token of the page, made now where its file is missing; empty where none is set.

    Call it while the home is locked. Raises SettingsError where the file cannot be used.
    """
    path = _file(settings)
    if path is None:
        return settings.http.token.get_secret_value()
    found = _look(path)
    if found is None:
        found = _make(path)
        get_log().info("http.token_made", file=str(path), read_it_with="tapeway token")
    return found


def show_token(settings: Settings) -> int:
    """Print the token that the page asks for."""
    path = _file(settings)
    if path is None:
        token = settings.http.token.get_secret_value()
        missing = "the page asks for no token: none is set, nor a file for one"
    else:
        token = _look(path) or ""
        missing = f"there is no token in {path} yet: the gateway makes it when it starts"
    if not token:
        raise GatewayError(missing)
    print(token)
    return 0


def _file(settings: Settings) -> Path | None:
    """Return where the token is; None where it is set, or none is wanted."""
    if settings.http.token.get_secret_value() or settings.http.token_file is None:
        return None
    return settings.home_path / settings.http.token_file.expanduser()


def _look(path: Path) -> str | None:
    """Return the token of a file; None where there is no file."""
    try:
        # Not blocking: what stands there might be a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as cause:
        if cause.errno == errno.ELOOP:
            raise _unfit(path, "is a symbolic link") from None
        remedy = "give it to the user who runs the gateway"
        raise _unfit(path, f"cannot be read ({cause.strerror})", remedy) from cause
    try:
        found = os.fstat(descriptor)
        mode = found.st_mode
        if not stat.S_ISREG(mode):
            raise _unfit(path, "is not a file")
        if found.st_uid not in (os.geteuid(), 0):
            raise _unfit(path, "belongs to somebody else")
        if mode & OTHERS:
            raise _unfit(path, "is open to others than its owner")
        text = os.read(descriptor, LONGEST).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)
    if not text:
        raise _unfit(path, "is empty")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise _unfit(path, "does not hold one word of plain letters, digits and signs")
    return text


def _make(path: Path) -> str:
    """Write a new token, whole or not at all, and return it."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    new = path.with_name(f".{path.name}.new")
    try:
        new.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(new, flags, 0o600), "wb") as file:
            file.write(f"{token}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as cause:
        remedy = "make its folder, and writable for the user who runs the gateway"
        raise _unfit(path, f"cannot be made ({cause.strerror})", remedy) from cause
    return token


def _unfit(path: Path, what: str, remedy: str = REMAKE) -> SettingsError:
    return SettingsError(
        f"TAPEWAY_HTTP__TOKEN_FILE: {path} {what}: {remedy}; or set TAPEWAY_HTTP__TOKEN instead"
    )
