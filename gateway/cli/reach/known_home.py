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
_MENTIONS_HOME: Final = re.compile(rb"^\s*(export\s+)?[\"']?(tapeway_)?home\b", re.I | re.M)


@dataclass(frozen=True, slots=True)
class KnownHome:
    """Stands in for the settings where a command needs only its home."""

    home_path: Path


def running_of(variables: Mapping[str, str]) -> tuple[KnownHome, Running] | None:
    """Return the running gateway and its home, or None if only the settings can say."""
    path = _home(variables)
    found = find_running(path) if path else None
    return (KnownHome(path), found) if path and found else None


def _home(variables: Mapping[str, str]) -> Path | None:
    """Return the home if no source of the settings could name another; see `gateway.settings`."""
    if named := variables.get("TAPEWAY_HOME"):
        return Path(named).expanduser().absolute()
    default = Path(DEFAULT_HOME).expanduser().absolute()
    try:
        env = default / ".env"
        named = variables.get("TAPEWAY_ENV_FILE")
        if named:
            env = Path(named).expanduser().absolute()
        elif not variables.get("TAPEWAY_CONFIG") and (default / REMEMBERED).exists():
            env = Path((default / REMEMBERED).read_text().strip())
        toml = Path(variables.get("TAPEWAY_CONFIG") or env.parent / "tapeway.toml")
        secret = Path(variables.get("TAPEWAY_SECRETS", "/run/secrets")) / "TAPEWAY_HOME"
        unknown = (named and not env.is_file()) or secret.exists()
        return None if unknown or _mentions_home(env) or _mentions_home(toml) else default
    except (OSError, ValueError):
        return None


def _mentions_home(path: Path) -> bool:
    try:
        return bool(_MENTIONS_HOME.search(path.read_bytes()))
    except FileNotFoundError:
        return False
