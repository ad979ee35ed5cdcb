"""The flags of `tapeway init`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from gateway.errors import SettingsError


@dataclass(frozen=True, slots=True)
class InitOptions:
    """What is given by flags; None is asked for on a terminal."""

    provider: str | None = None
    model: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    telegram_token: str | None = None
    discord_token: str | None = None
    slack_bot_token: str | None = None
    slack_app_token: str | None = None
    home: str | None = None
    yes: bool = False
    save_anyway: bool = False

    def given(self) -> list[str]:
        """Return the names of the settings' flags that are given."""
        found = (one.name for one in fields(self) if one.name not in ("yes", "save_anyway"))
        return [flag(name) for name in found if getattr(self, name) is not None]

    def secret(self, name: str) -> str | None:
        """Return a secret's flag; `@FILE` stands for the file's text. Raises SettingsError."""
        value: str | None = getattr(self, name)
        if value is None or not value.startswith("@"):
            return value
        try:
            return Path(value[1:]).expanduser().read_text("utf-8-sig").strip()
        except (OSError, ValueError) as cause:
            raise SettingsError(f"{flag(name)}: cannot read {value[1:]} ({cause})") from cause


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")
