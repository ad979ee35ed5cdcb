"""What is told: lines in order, each with its time; nothing in them is anybody's secret."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from pydantic import BaseModel, SecretStr

from tape.entry import Entry
from tape.query import Query
from tape.unit_of_work import Row

HIDDEN: Final = "[secret]"
SHORTEST_SECRET: Final = 6
LONGEST: Final = 300
"""So many characters of a text are shown."""


class StoreReads(Protocol):
    """A store with the ledger, as far as it is read."""

    async def query(self, query: Query) -> list[Entry]:
        """Answer a query."""
        ...

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named reading statement."""
        ...


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One thing that is told.

    at     when it happened, ISO 8601 in UTC; empty where that was not written down
    about  what it is about: seen, addressed, access, lane, changed, turn, view, model, tool, ...
    says   the sentence
    data   what it rests on
    """

    at: str
    about: str
    says: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Option:
    """One of several messages that may be meant; `write` names it alone."""

    write: str
    says: str


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to a question for a message.

    head     the message in one line; empty where none was found
    missing  why nothing was found, and what to try
    options  what may be meant, where it is several things
    """

    asked: str
    head: str = ""
    lines: Sequence[ReportLine] = ()
    missing: str = ""
    options: Sequence[Option] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the story as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Report:
        """Read what `to_json` gave."""
        return cls(
            raw["asked"],
            raw["head"],
            [ReportLine(**line) for line in raw["lines"]],
            raw["missing"],
            [Option(**option) for option in raw["options"]],
        )


def cut(text: str, most: int = LONGEST) -> str:
    """Return the beginning of a text, and how much more there is."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most} more characters)"


def quoted(text: str, most: int = LONGEST) -> str:
    """Return somebody's words as a quotation."""
    return f'"{cut(text, most)}"'


def bounded(value: Any, most: int = 2000) -> Any:
    """Return a value whose texts are cut."""
    if isinstance(value, str):
        return cut(value, most)
    if isinstance(value, Mapping):
        return {key: bounded(inner, most) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [bounded(inner, most) for inner in value[:200]]
    return value


def secrets_of(settings: BaseModel) -> list[str]:
    """Return every secret among settings, the longest first."""
    found: list[str] = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            found += secrets_of(value)
        elif isinstance(value, SecretStr):
            found.append(value.get_secret_value())
    return sorted({text for text in found if len(text) >= SHORTEST_SECRET}, key=len, reverse=True)


def without_secrets(value: Any, secrets: Iterable[str]) -> Any:
    """Return a value of JSON in whose texts no secret stands."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, HIDDEN)
        return value
    if isinstance(value, Mapping):
        return {
            without_secrets(key, secrets): without_secrets(inner, secrets)
            for key, inner in value.items()
        }
    if isinstance(value, (list, tuple)):
        return [without_secrets(inner, secrets) for inner in value]
    return value
