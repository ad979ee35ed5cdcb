"""The settings' files: those of the home folder, and over them those that `--env-file` names.

Files of the current folder are never read: whoever wrote them could send a model's key elsewhere.
Only `make run` names those of its own clone. A gateway that was started with `--env-file` remembers
it for its user's other commands.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from dotenv import dotenv_values

from gateway.errors import SettingsError
from tape.private_file import is_open_to_others, open_private

ENV_FILE: Final = "TAPEWAY_ENV_FILE"
CONFIG: Final = "TAPEWAY_CONFIG"
HOME: Final = "TAPEWAY_HOME"
SECRETS: Final = "TAPEWAY_SECRETS"
DEFAULT_HOME: Final = "~/.tapeway"
REMEMBERED: Final = "env-file"  # in the default home folder
CLONE: Final = Path(__file__).resolve().parents[2]
"""The folder that this code comes from: a clone, unless Tapeway is installed as a package."""


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    """The home folder's files, and those that are named, which win setting by setting."""

    env: Path
    toml: Path
    over: SettingsFiles | None = None

    def paths(self) -> list[Path]:
        """Return all files, the one that wins first; not all of them need exist."""
        return [*(self.over.paths() if self.over else ()), self.env, self.toml]

    def existing(self) -> list[Path]:
        return [path for path in self.paths() if _is_file(path)]


def settings_files(variables: Mapping[str, str], folder: Path | None = None) -> SettingsFiles:
    """Return where the settings' files are; raises SettingsError if the named one is missing."""
    named, config = variables.get(ENV_FILE), variables.get(CONFIG)
    over = None
    if named:
        env = _absolute(named, "--env-file")
        if not _has_settings(env):
            raise SettingsError(f"--env-file: there is no file {env} that this user may open")
        over = SettingsFiles(env, Path(config or env.parent / "tapeway.toml"))
    inside = _home_in(over) if over else ""
    home = folder or _absolute(variables.get(HOME) or inside or DEFAULT_HOME, HOME)
    own = SettingsFiles(home / ".env", home / "tapeway.toml")
    if over is None:
        return replace(own, toml=Path(config)) if config else own
    shared = {os.path.realpath(path) for path in own.paths()}
    return over if shared & {*map(os.path.realpath, over.paths())} else replace(own, over=over)


def with_remembered(variables: Mapping[str, str]) -> dict[str, str]:
    """Add the settings' file with which this user's gateway was last started, if none is named.

    Before the first start, this is the file with which `make run` would start it here.
    """
    found = dict(variables)
    if not any(found.get(name) for name in (ENV_FILE, HOME, CONFIG)):
        named = [Path(one) for one in (_read_remembered(),) if one]
        named += [CLONE / ".env"] if _is_here(CLONE) else []
        used = next((path for path in named if _has_settings(path)), None)
        if used:
            found[ENV_FILE] = str(used)
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
        trusted = "Start with `make run`, which uses it"
        hints[Path.cwd() / name] = (
            trusted if _is_here(CLONE) else f"If you trust it, use it with {use}"
        )
        for path, hint in hints.items():
            in_use = any(path.samefile(one) for one in files.existing()) if _is_file(path) else True
            if in_use or not _is_ours(path):
                continue
            yield f"{path} is ignored, because settings come from {used.parent}. {hint}"


def combined(files: SettingsFiles) -> str:
    """Return a sentence that names the files if some lie over the home folder's, otherwise ""."""
    ours = [path for path in files.existing() if _is_ours(path)]
    named = [path for path in ours if files.over and path in files.over.paths()]
    own = [path for path in ours if path not in named]
    if not named or not own:
        return ""
    over, under = (" and ".join(map(str, paths)) for paths in (named, own))
    return f"settings come from {over}, and those that are not set there from {under}"


def open_files(home: Path, files: SettingsFiles) -> Iterator[str]:
    """Yield a sentence for the home and each settings' file that other users may open."""
    if is_open_to_others(home):
        yield f"other users of this machine may open the folder {home}: run `chmod 700 {home}`"
    for path in files.paths():
        if is_open_to_others(path):
            yield f"other users of this machine may read {path}: run `chmod 600 {path}`"


def _has_settings(env: Path) -> bool:
    """Return whether a named file exists; a folder with a `tapeway.toml` alone will do, too."""
    return _is_file(env) or (env.name == ".env" and _is_file(env.with_name("tapeway.toml")))


def _home_in(files: SettingsFiles) -> str:
    """Return the home folder that settings' files name, or ""."""
    with suppress(OSError, ValueError):  # who loads them says what is wrong
        if _is_file(files.env):
            found = dotenv_values(files.env, encoding="utf-8-sig")
            named = next((one for name, one in found.items() if name.upper() == HOME), None)
            if named:
                return named
        if _is_file(files.toml):
            return str(tomllib.loads(files.toml.read_text("utf-8-sig")).get("home", ""))
    return ""


def _is_here(folder: Path) -> bool:
    try:
        return Path.cwd() == folder
    except FileNotFoundError:  # the current folder was removed
        return False


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
