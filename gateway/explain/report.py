"""The report model: dated lines in order, with the secrets of the settings redacted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Protocol

from pydantic import BaseModel, SecretStr

from tape.entry import Entry
from tape.query import Query
from tape.unit_of_work import Row

HIDDEN: Final = "[secret]"
MIN_SECRET_CHARACTERS: Final = 6
MAX_TEXT_CHARACTERS: Final = 300
"""Maximum characters shown of a text."""


class StoreReads(Protocol):
    """The reads that a report needs from a store with the ledger."""

    async def query(self, query: Query) -> list[Entry]:
        """Run a query."""
        ...

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run a named read statement."""
        ...


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of a report.

    at     when it happened, ISO 8601 in UTC, or "" if that is not recorded
    about  its subject: seen, addressed, access, lane, changed, turn, view, model, tool, ...
    says   the sentence
    data   the record behind it
    """

    at: str
    about: str
    says: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Option:
    """One of several candidates; `write` identifies it."""

    write: str
    says: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report about a message.

    head     the message in one line, or "" if none was found
    missing  why nothing was found, and what to try
    options  the candidates, if there are several
    """

    asked: str
    head: str = ""
    lines: Sequence[ReportLine] = ()
    missing: str = ""
    options: Sequence[Option] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Report:
        """Read the result of `to_json`."""
        return cls(
            raw["asked"],
            raw["head"],
            [ReportLine(**line) for line in raw["lines"]],
            raw["missing"],
            [Option(**option) for option in raw["options"]],
        )


def cut(text: str, most: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a text's beginning, and how much is missing."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most} more characters)"


def quoted(text: str, most: int = MAX_TEXT_CHARACTERS) -> str:
    """Return a text in quotes, shortened."""
    return f'"{cut(text, most)}"'


def bounded(value: Any, most: int = 2000) -> Any:
    """Return a JSON value with its texts shortened."""
    if isinstance(value, str):
        return cut(value, most)
    if isinstance(value, Mapping):
        return {key: bounded(inner, most) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [bounded(inner, most) for inner in value[:200]]
    return value


def secrets_of(settings: BaseModel) -> list[str]:
    """Return every secret in the settings, longest first."""
    found: list[str] = []
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, BaseModel):
            found += secrets_of(value)
        elif isinstance(value, SecretStr):
            found.append(value.get_secret_value())
    return sorted(
        {text for text in found if len(text) >= MIN_SECRET_CHARACTERS}, key=len, reverse=True
    )


def without_secrets(value: Any, secrets: Iterable[str]) -> Any:
    """Return a JSON value with secrets redacted."""
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
