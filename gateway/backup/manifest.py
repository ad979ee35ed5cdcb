"""What a backup says of itself, and the settings in it, which hold no secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import orjson
from pydantic import BaseModel, SecretStr

from gateway.errors import GatewayError
from gateway.redaction import Redactor, secrets_of
from gateway.settings import Settings
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.sqlite import tape_schema

FORMAT: Final = 1
DATABASE: Final = "tapeway.db"
LEDGER: Final = "ledger.db"
TAPES: Final = "tapes"
IMAGES: Final = "media"
SETTINGS: Final = "tapeway.toml"

_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_OF_THIS_HOME: Final = {("home",), ("workspace",), ("tape", "url"), ("http", "token_file")}


class BackupError(GatewayError):
    """A backup cannot be made, or a file cannot be restored; the message says why."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a backup.

    tapeway    the version that made it
    taken_at   everything accepted before this moment is in it
    schemas    the versions of the tables
    counts     how many entries, tapes, messages, sends, open rows and images it has
    host, home the machine and the folder that it was made of
    workspace  the folder after which the tapes are named; `chosen` if a setting names it
    secrets    the names of the settings that are left out
    members    the size and the SHA-256 of each file
    """

    taken_at: str
    host: str
    home: str
    workspace: str
    chosen: bool = False
    secrets: tuple[str, ...] = ()
    format: int = FORMAT
    tapeway: str = field(default_factory=lambda: version("tapeway"))
    schemas: Mapping[str, int] = field(default_factory=lambda: known_schemas())
    counts: Mapping[str, int] = field(default_factory=dict)
    members: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def dump(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2)

    @classmethod
    def load(cls, raw: bytes) -> Manifest:
        """Parse a manifest; raises ValueError, TypeError or KeyError."""
        found = orjson.loads(raw)
        if found["format"] != FORMAT:
            raise BackupError(
                f"the backup was made by Tapeway {found['tapeway']} in a form that this version"
                " does not know: install that version"
            )
        members = {str(name): (int(of[0]), str(of[1])) for name, of in found["members"].items()}
        return cls(**{**found, "members": members, "secrets": tuple(found["secrets"])})

    def require_readable(self) -> None:
        """Raise BackupError if a newer version made the backup."""
        for name, known in known_schemas().items():
            if self.schemas.get(name, 0) > known:
                raise BackupError(
                    f"the backup was made by Tapeway {self.tapeway} ({name} schema"
                    f" {self.schemas[name]}, this version knows {known}): install that version or"
                    " a newer one, and restore it there; nothing was changed"
                )


def known_schemas() -> dict[str, int]:
    """Return the versions of the tables that this version of Tapeway knows."""
    return {schema.name: schema.version for schema in (tape_schema(), ledger_schema())}


def public_settings(settings: Settings) -> str:
    """Return the settings that are no defaults and no secrets, as the text of a tapeway.toml."""
    shown = _public(settings, ())
    if settings.workspace is not None:
        shown["workspace"] = str(settings.workspace_path)
    text = "\n".join(_toml(shown, ()))
    head = "# Restored from a backup: secrets, such as tokens, are not in it.\n"
    return Redactor(secrets_of(settings)).clean(f"{head}{text}\n")


def secret_names(model: BaseModel, path: tuple[str, ...] = ("TAPEWAY",)) -> Iterator[str]:
    """Yield the names of the secrets that are set."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        variable = (*path, name.upper())
        if isinstance(value, SecretStr) and value.get_secret_value():
            yield f"{variable[0]}_{'__'.join(variable[1:])}"
        elif isinstance(value, BaseModel):
            yield from secret_names(value, variable)


def _public(model: BaseModel, path: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, about in type(model).model_fields.items():
        value = getattr(model, name)
        if (*path, name) in _OF_THIS_HOME or isinstance(value, SecretStr):
            continue
        if isinstance(value, BaseModel):
            value = _public(value, (*path, name))
        elif value == about.get_default(call_default_factory=True):
            continue
        elif isinstance(value, Mapping):
            value = {
                str(key): _public(one, (*path, name)) if isinstance(one, BaseModel) else one
                for key, one in value.items()
            }
        if value not in (None, {}):
            found[name] = str(value) if isinstance(value, Path) else value
    return found


def _toml(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a table: a JSON string, number or list is one in TOML as well."""
    plain = {name: value for name, value in table.items() if not isinstance(value, Mapping)}
    if path and plain:
        yield f"\n[{'.'.join(_key(name) for name in path)}]"
    for name, value in plain.items():
        yield f"{_key(name)} = {json.dumps(value, ensure_ascii=False, default=list)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _toml(value, (*path, name))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name, ensure_ascii=False)
