"""Find the running gateway without loading the settings, which takes longer than most commands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gateway.home import Running, find_running

DEFAULT_HOME: Final = "~/.tapeway"
REMEMBERED: Final = "env-file"
HOME: Final = "TAPEWAY_HOME"
CLONE: Final = Path(__file__).resolve().parents[3]
_MENTIONS_HOME: Final = re.compile(rb"^\s*(export\s+)?[\"']?(tapeway_)?home\b", re.I | re.M)


@dataclass(frozen=True, slots=True)
class KnownHome:
    """Stands in for the settings where a command needs only its home."""

    home_path: Path


def running_of(variables: Mapping[str, str]) -> tuple[KnownHome, Running] | None:
    """Return the running gateway and its home, or None if only the settings can say."""
    path = home_of(variables)
    found = find_running(path) if path else None
    return (KnownHome(path), found) if path and found else None


def home_of(variables: Mapping[str, str]) -> Path | None:
    """Return the home, or None if only the settings can say; see `gateway.settings`."""
    try:
        for name, named in variables.items():
            if named and name.upper() == HOME:
                return _absolute(named)
        default = _absolute(DEFAULT_HOME)
        named = variables.get("TAPEWAY_ENV_FILE", "")
        if not named and not variables.get("TAPEWAY_CONFIG") and (default / REMEMBERED).exists():
            named = (default / REMEMBERED).read_text().strip()
        folders = {default, *([CLONE] if Path.cwd() == CLONE else [])}
        files = {folder / name for folder in folders for name in (".env", "tapeway.toml")}
        if named:
            files |= {_absolute(named), _absolute(named).parent / "tapeway.toml"}
        if config := variables.get("TAPEWAY_CONFIG"):
            files.add(Path(config))
        secrets = _absolute(variables.get("TAPEWAY_SECRETS") or "/run/secrets")
        secret = any(path.name.upper() == HOME for path in secrets.glob("*"))
        unknown = secret or (named and not _absolute(named).is_file())
        return None if unknown or any(map(_mentions_home, files)) else default
    except (OSError, ValueError, RuntimeError):
        return None


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()


def _mentions_home(path: Path) -> bool:
    try:
        return bool(_MENTIONS_HOME.search(path.read_bytes()))
    except FileNotFoundError:
        return False
