"""The settings' files: in the instance directory, or where `--env-file` says.

Files of the current folder are never read: whoever wrote them could send a model's key elsewhere.
A gateway that was started with `--env-file` remembers it for its user's other commands.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.errors import SettingsError
from tape.private_file import is_open_to_others, open_private

ENV_FILE: Final = "TAPEWAY_ENV_FILE"
CONFIG: Final = "TAPEWAY_CONFIG"
HOME: Final = "TAPEWAY_HOME"
SECRETS: Final = "TAPEWAY_SECRETS"
DEFAULT_HOME: Final = "~/.tapeway"
REMEMBERED: Final = "env-file"  # in the default instance directory


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    env: Path
    toml: Path


def settings_files(variables: Mapping[str, str], folder: Path | None = None) -> SettingsFiles:
    """Return where the settings' files are; raises SettingsError if the named one is missing."""
    named = variables.get(ENV_FILE)
    if named:
        env = _absolute(named, "--env-file")
        if not _is_file(env):
            raise SettingsError(f"--env-file: there is no file {env} that this user may open")
    else:
        env = (folder or _absolute(variables.get(HOME) or DEFAULT_HOME, HOME)) / ".env"
    toml = Path(variables.get(CONFIG) or env.parent / "tapeway.toml")
    return SettingsFiles(env, toml)


def with_remembered(variables: Mapping[str, str]) -> dict[str, str]:
    """Add the settings' file with which this user's gateway was last started, if none is named."""
    found = dict(variables)
    if not any(found.get(name) for name in (ENV_FILE, HOME, CONFIG)):
        named = _read_remembered()
        if named and _is_file(Path(named)):
            found[ENV_FILE] = named
    return found


def remember(variables: Mapping[str, str]) -> None:
    """Remember the settings' file of a gateway that starts, or forget that of an earlier one."""
    named = variables.get(ENV_FILE)
    # A user without a home, or with one that is read-only, has no other commands to help.
    with suppress(OSError, RuntimeError):
        path = _remembered()
        if named:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
                file.write(str(Path(named).expanduser().absolute()))
        elif not variables.get(HOME):
            path.unlink(missing_ok=True)


def ignored(files: SettingsFiles, home: Path) -> Iterator[str]:
    """Yield a sentence for each settings' file of the current folder or the home not in use."""
    for name, used in ((".env", files.env), ("tapeway.toml", files.toml)):
        use = "--env-file .env" if name == ".env" else f"{CONFIG}=tapeway.toml"
        hints = {home / name: f"Move what you need into {used}"}
        hints[Path.cwd() / name] = f"If you trust it, use it with {use}"
        for path, hint in hints.items():
            if not _is_file(path) or (_is_file(used) and path.samefile(used)) or not _is_ours(path):
                continue
            yield f"{path} is ignored, because settings come from {used.parent}. {hint}"


def open_files(home: Path, files: SettingsFiles) -> Iterator[str]:
    """Yield a sentence for the home and each settings' file that other users may open."""
    if is_open_to_others(home):
        yield f"other users of this machine may open the folder {home}: run `chmod 700 {home}`"
    for path in (files.env, files.toml):
        if is_open_to_others(path):
            yield f"other users of this machine may read {path}: run `chmod 600 {path}`"


def _absolute(path: str, name: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as cause:
        raise SettingsError(f"{name}: {path} has an unknown user's home: write it out") from cause


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # in a folder that this user may not enter
        return False


def _is_ours(path: Path) -> bool:
    """Return whether a file has settings of Tapeway, since any project may have a `.env`."""
    try:
        return path.name != ".env" or b"TAPEWAY_" in path.read_bytes()
    except OSError:
        return False


def _remembered() -> Path:
    return Path(DEFAULT_HOME).expanduser() / REMEMBERED


def _read_remembered() -> str:
    try:
        descriptor = os.open(_remembered(), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, RuntimeError):  # a user without a home
        return ""
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        found = os.fstat(descriptor)
        trusted = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return file.read(4096).strip() if trusted else ""
