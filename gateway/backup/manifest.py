"""What a backup says of itself, and the settings in it, which hold no secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import orjson
import tomlkit
from pydantic import BaseModel, SecretStr

from gateway.errors import GatewayError
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import Redactor
from gateway.settings import Settings
from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import Database
from tape.stores.sqlite import tape_schema

FORMAT: Final = 1
DATABASE: Final = "tapeway.db"
LEDGER: Final = "ledger.db"
TAPES: Final = "tapes"
IMAGES: Final = "media"
SETTINGS: Final = "tapeway.toml"
AGENTS: Final = "workspace/AGENTS.md"
_MEMBERS: Final = re.compile(
    rf"{re.escape(DATABASE)}|{re.escape(LEDGER)}|{re.escape(SETTINGS)}|{re.escape(AGENTS)}"
    rf"|(?:{TAPES}|{IMAGES})/(?!\.\.?$)[A-Za-z0-9._%-]{{1,255}}"
)

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

    @property
    def has_chats(self) -> bool:
        """Whether the chats are in it; those of PostgreSQL are not."""
        return bool(self.members.keys() & {DATABASE, LEDGER})

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
        texts = (found[name] for name in ("taken_at", "host", "home", "workspace", "tapeway"))
        if not all(isinstance(text, str) and "\0" not in text for text in texts):
            raise ValueError("a text of it is none")
        members = {str(name): (int(of[0]), str(of[1])) for name, of in found["members"].items()}
        for name in ("schemas", "counts"):
            found[name] = {str(key): int(number) for key, number in found[name].items()}
        secrets = tuple(map(str, found["secrets"]))
        return cls(**{**found, "members": members, "secrets": secrets})

    def require_readable(self) -> None:
        """Raise BackupError if a newer version made the backup, or something is missing in it."""
        for name, known in known_schemas().items():
            if self.schemas.get(name, 0) > known:
                raise BackupError(
                    f"the backup was made by Tapeway {self.tapeway} ({name} schema"
                    f" {self.schemas[name]}, this version knows {known}): install that version or"
                    " a newer one, and restore it there; nothing was changed"
                )
        wanted = int(self.counts.keys() != {"images"})  # the chats of PostgreSQL are not in it
        if len(self.members.keys() & {DATABASE, LEDGER}) != wanted or SETTINGS not in self.members:
            raise BackupError("the backup has not one database and settings: use another one")


def is_member(name: str) -> bool:
    """Return whether a backup may have a file with this name."""
    return _MEMBERS.fullmatch(name) is not None


def known_schemas() -> dict[str, int]:
    """Return the versions of the tables that this version of Tapeway knows."""
    return {schema.name: schema.version for schema in (tape_schema(), ledger_schema())}


def refuse_newer(path: Path, schemas: Mapping[str, int]) -> None:
    """Raise StoreTooNew, which names the version that can read it, for tables of a newer one."""
    if any(schemas.get(name, 0) > known for name, known in known_schemas().items()):
        Database.open_read_only(path, (tape_schema(), ledger_schema())).close()


def public_settings(settings: Settings) -> str:
    """Return the settings that are no defaults and no secrets, as the text of a tapeway.toml."""
    shown = _public(settings, ())
    if settings.workspace is not None:
        shown["workspace"] = str(settings.workspace_path)
    head = "# Restored from a backup: secrets, such as tokens, are not in it.\n\n"
    redactor = Redactor(secrets_of(settings))
    return head + tomlkit.dumps(redactor.value(shown, lines=True))


def secret_names(settings: Settings) -> Iterator[str]:
    """Yield the names of the secrets that are set, and of the file that holds some."""
    yield from _secret_names(settings, ())
    if (file := settings.slack.installations) is not None:
        yield f"the file {file}"


def _secret_names(model: BaseModel, path: tuple[str, ...]) -> Iterator[str]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        own = (*path, name)
        if _is_secret(value):
            in_file = f"{name} of [{'.'.join(path)}]"  # single models stand in tapeway.toml
            yield in_file if own[0] == "models" else "TAPEWAY_" + "__".join(own).upper()
        elif isinstance(value, BaseModel):
            yield from _secret_names(value, own)
        elif isinstance(value, Mapping):
            for key, one in value.items():
                if isinstance(one, BaseModel):
                    yield from _secret_names(one, (*own, str(key)))


def _is_secret(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_is_secret, value.values()))
    return isinstance(value, SecretStr) and bool(value.get_secret_value())


def _public(model: BaseModel, path: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, about in type(model).model_fields.items():
        value = getattr(model, name)
        if (*path, name) in _OF_THIS_HOME:
            continue
        is_set = value != about.get_default(call_default_factory=True)
        shown = _plain(value, (*path, name)) if is_set or isinstance(value, BaseModel) else None
        if shown not in (None, {}):
            found[name] = shown
    return found


def _plain(value: object, path: tuple[str, ...]) -> Any:
    """Return a value as TOML can have it: None, for which it has no word, for a secret."""
    if isinstance(value, BaseModel):
        return _public(value, path)
    if isinstance(value, Mapping):
        shown = {str(key): _plain(one, (*path, str(key))) for key, one in value.items()}
        return {key: one for key, one in shown.items() if one is not None}
    if isinstance(value, list | tuple | frozenset):
        return [one for one in (_plain(item, path) for item in value) if one is not None]
    if isinstance(value, SecretStr):
        return None
    return value if isinstance(value, bool | int | float) or value is None else str(value)
