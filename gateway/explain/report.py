"""A report as dated lines; secrets from the settings are redacted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, Protocol

from gateway.language.language import say
from tape.entry import Entry, load
from tape.query import Query
from tape.unit_of_work import Row

MAX_MATCHES: Final = 50
MAX_TEXT_CHARACTERS: Final = 300  # maximum characters of a text that are shown


class StoreReads(Protocol):
    """The store's read methods that a report uses; the store must contain the ledger."""

    async def query(self, query: Query) -> list[Entry]:
        """Run a query."""
        ...

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        """Run the read statement with this name."""
        ...


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One line of a report.

    at     when it happened (ISO 8601, UTC), or "" if unknown
    about  its subject: seen, addressed, access, lane, changed, turn, view, model, tool, ...
    says   the sentence
    data   the record behind the sentence
    """

    at: str
    about: str
    says: str
    data: Mapping[str, Any] = field(default_factory=dict)


Condition = Literal["ok", "slow", "failed", "open", "ended", "unused"]
"""Of a joint: passed, passed late, failed there, is there now, ends there, did not come there."""


@dataclass(frozen=True, slots=True)
class Duration:
    """How long something took, in milliseconds; None if one of the two dates is not known."""

    what: str
    ms: int | None


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint of a message's way through the gateway, from its channel to its receipt.

    at     when the message came there (ISO 8601, UTC), or "" if that was not recorded
    spans  how long it took to come there, and what took long there
    says   the sentence
    """

    name: str
    condition: Condition
    at: str = ""
    spans: Sequence[Duration] = ()
    says: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One of several candidates; enter `write` to choose it."""

    write: str
    says: str


@dataclass(frozen=True, slots=True)
class Report:
    """A report about a message.

    head     one line that identifies the message, or "" if none was found
    missing  why nothing was found, and what to try
    options  the candidates, if there are several
    joints   the message's way, from its channel to its receipt
    place    the message's ids, status and author, and its text if that may be shown
    """

    asked: str
    head: str = ""
    lines: Sequence[ReportLine] = ()
    missing: str = ""
    options: Sequence[Option] = ()
    joints: Sequence[Joint] = ()
    place: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Report:
        lines = [ReportLine(**line) for line in raw["lines"]]
        options = [Option(**option) for option in raw["options"]]
        joints = tuple(
            Joint(**{**joint, "spans": tuple(Duration(**span) for span in joint["spans"])})
            for joint in raw["joints"]
        )
        return cls(raw["asked"], raw["head"], lines, raw["missing"], options, joints, raw["place"])


def cut(text: str, most: int = MAX_TEXT_CHARACTERS) -> str:
    """Return the beginning of a text, and say how many characters are missing."""
    more = len(text) - most
    if more <= 0:
        return text
    sentence = "{text}... ({more} more character)|{text}... ({more} more characters)"
    return say(sentence, more=more, text=text[:most])


def quoted(text: str, most: int = MAX_TEXT_CHARACTERS) -> str:
    return say('"{text}"', text=cut(text, most))


def payload_of(row: Row) -> dict[str, Any]:
    """Return a row's payload, or {} if the payload is unreadable."""
    try:
        payload = load(row["payload"])
    except ValueError:
        return {}
    return payload if isinstance(payload, dict) else {}


def bounded(value: Any, most: int = 2000) -> Any:
    """Return a JSON value with long strings shortened."""
    if isinstance(value, str):
        return cut(value, most)
    if isinstance(value, Mapping):
        return {key: bounded(inner, most) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [bounded(inner, most) for inner in value[:200]]
    return value
