"""The settings' files: in the instance directory, or where `--env-file` says.

Files of the current folder are never read: whoever wrote them could send a model's key elsewhere.
A gateway that was started with `--env-file` remembers it for its user's other commands.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
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
        env = Path(named).expanduser().absolute()
        if not env.is_file():
            raise SettingsError(f"--env-file: there is no file {env}")
    else:
        home = Path(variables.get(HOME) or DEFAULT_HOME).expanduser().absolute()
        env = (folder or home) / ".env"
    toml = Path(variables.get(CONFIG) or env.parent / "tapeway.toml")
    return SettingsFiles(env, toml)


def with_remembered(variables: Mapping[str, str]) -> dict[str, str]:
    """Add the settings' file with which this user's gateway was last started, if none is named."""
    found = dict(variables)
    if not any(found.get(name) for name in (ENV_FILE, HOME, CONFIG)):
        named = _read_remembered()
        if named and Path(named).is_file():
            found[ENV_FILE] = named
    return found


def remember(variables: Mapping[str, str]) -> None:
    """Remember the settings' file of a gateway that starts, or forget that of an earlier one."""
    path = _remembered()
    named = variables.get(ENV_FILE)
    if named:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "w") as file:
            file.write(str(Path(named).expanduser().absolute()))
    elif not variables.get(HOME):
        path.unlink(missing_ok=True)


def ignored_here(files: SettingsFiles) -> Iterator[str]:
    """Yield a sentence for each settings' file of the current folder that is not used."""
    for name, used in ((".env", files.env), ("tapeway.toml", files.toml)):
        path = Path.cwd() / name
        if not path.is_file() or (used.exists() and path.samefile(used)) or not _is_ours(path):
            continue
        use = "--env-file .env" if name == ".env" else f"{CONFIG}=tapeway.toml"
        yield (
            f"{path} is ignored, because settings come from {used.parent}. If you trust it, use it"
            f" with {use}"
        )


def open_files(home: Path, files: SettingsFiles) -> Iterator[str]:
    """Yield a sentence for the home and each settings' file that other users may open."""
    if is_open_to_others(home):
        yield f"other users of this machine may open the folder {home}: run `chmod 700 {home}`"
    for path in (files.env, files.toml):
        if is_open_to_others(path):
            yield f"other users of this machine may read {path}: run `chmod 600 {path}`"


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
    except OSError:
        return ""
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as file:
        found = os.fstat(descriptor)
        trusted = found.st_uid == os.geteuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return file.read(4096).strip() if trusted else ""
