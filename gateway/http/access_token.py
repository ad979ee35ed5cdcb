"""The page's access token, from the settings or from a file created on the first start.

Only its owner may open the file: anyone who could read or replace it could log in.
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
from gateway.printing import print_secret
from gateway.settings import Settings

TOKEN_BYTES: Final = 32
MAX_BYTES: Final = 4096
OTHERS_MODE: Final = stat.S_IRWXG | stat.S_IRWXO
NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP)
"""What a file system without hard links says, such as exFAT or a share of Windows."""

REMOVE: Final = "remove it, and the next start creates a new one"


def token_of(settings: Settings) -> str:
    """Return the page's token, or "" without a configured token; creates a missing token file.

    Call this while the home is locked. Raises SettingsError if the file is unusable.
    """
    path = _file(settings)
    if path is None:
        return settings.http.token.get_secret_value()
    found = _read(path)
    if found is None:
        found = _create(path)
        get_log().info("http.token_made", file=str(path), read_it_with="tapeway token")
    return found


def known_token(settings: Settings) -> str:
    """Return the page's token, or "" if there is none or its file is not there yet."""
    path = _file(settings)
    return settings.http.token.get_secret_value() if path is None else _read(path) or ""


def show_token(settings: Settings) -> int:
    token = known_token(settings)
    if not token:
        path = _file(settings)
        raise GatewayError(
            f"there is no token in {path} yet: the gateway creates it when it starts"
            if path
            else "the page needs no token: neither a token nor a token file is set"
        )
    print_secret(token)
    return 0


def _file(settings: Settings) -> Path | None:
    if settings.http.token.get_secret_value() or settings.http.token_file is None:
        return None
    return settings.home_path / settings.http.token_file.expanduser()


def _read(path: Path) -> str | None:
    try:
        # Nonblocking, because the path might lead to a pipe.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as cause:
        if cause.errno == errno.ELOOP:
            raise _unusable(path, "is a symbolic link") from None
        remedy = "make it readable by the user who runs the gateway"
        raise _unusable(path, f"cannot be read ({cause.strerror})", remedy) from cause
    try:
        found = os.fstat(descriptor)
        mode = found.st_mode
        if not stat.S_ISREG(mode):
            raise _unusable(path, "is not a file")
        if found.st_uid not in (os.geteuid(), 0):
            raise _unusable(path, "belongs to another user")
        if mode & OTHERS_MODE:
            raise _unusable(path, "can be opened by other users")
        text = os.read(descriptor, MAX_BYTES).decode("utf-8", "replace").strip()
    finally:
        os.close(descriptor)
    if not text:
        raise _unusable(path, "is empty")
    if not text.isascii() or not text.isprintable() or " " in text:
        raise _unusable(path, "must hold one word of ASCII letters, digits and punctuation")
    return text


def _create(path: Path) -> str:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        _write(new, token)
        try:
            _publish(new, path, token)
        except FileExistsError:  # another process with the same file was faster
            return _read(path) or token
        finally:
            new.unlink()
    except OSError as cause:
        remedy = "create its folder, writable by the user who runs the gateway"
        raise _unusable(path, f"cannot be created ({cause.strerror})", remedy) from cause
    return token


def _write(path: Path, token: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:
        file.write(f"{token}\n".encode())
        file.flush()
        os.fsync(file.fileno())


def _publish(new: Path, path: Path, token: str) -> None:
    """Give the new file its name, whole where the file system can; raises FileExistsError."""
    try:
        os.link(new, path)
    except OSError as cause:
        if cause.errno not in NO_LINKS:
            raise
        _write(path, token)


def _unusable(path: Path, problem: str, remedy: str = REMOVE) -> SettingsError:
    return SettingsError(
        f"TAPEWAY_HTTP__TOKEN_FILE: {path} {problem}: {remedy}; or set TAPEWAY_HTTP__TOKEN instead"
    )
