"""The ledger's rows as values, and functions that build and read ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from uuid import uuid4

from channels.message import InboundMessage, OutboundMessage
from gateway.logs import get_log
from tape.entry import load
from tape.erasing import ERASED
from tape.store import UnitStore
from tape.unit_of_work import Outcome, Row, Unit

T = TypeVar("T")


def account_id(channel: str, account: str = "") -> str:
    """Return the id of a channel's account: `channel`, or `channel:account`."""
    return f"{channel}:{account}" if account else channel


async def run_alone(store: UnitStore, statement: str, **values: Any) -> Outcome:
    """Run a statement in a transaction of its own."""
    unit = Unit()
    unit.run(statement, **values)
    (outcome,) = await store.commit(unit)
    return outcome


async def run_in_session(
    store: UnitStore, session_id: str, statement: str, values: Mapping[str, Any]
) -> Outcome:
    """Run a statement that changes open work of a session; raises SessionLost."""
    unit = Unit(works_on={session_id})
    unit.run(statement, **values)
    (outcome,) = await store.commit(unit)
    return outcome


def new_turn_id() -> str:
    return f"t-{uuid4().hex[:20]}"


def idem_key(turn_id: str, part: int) -> str:
    return f"{turn_id}:{part}"


@dataclass(frozen=True, slots=True)
class InboxRow:
    """A message in the inbox."""

    id: int
    account_id: str
    session_id: str | None
    entry_id: int | None
    lane: str | None
    turn_id: str | None
    status: str
    attempts: int
    message: InboundMessage
    crashes: int = 0  # crashes in a row in which its turn was running
    received_at: str = ""  # when it was accepted, in UTC
    folded: bool = False  # whether it was emptied of its content
    resumed: bool = False  # whether it was held after a restore, until somebody let it go on
    replayed: bool = False
    """Whether an earlier process accepted the message and this process takes it in; not stored."""
    original: InboxRow | None = None
    """The message that this edit changes, if it is taken in as a question; not stored."""
    replaces: InboxRow | None = None
    """The waiting question or command that this edit makes another one of; not stored."""
    line: str = ""
    """The session in whose line it waits to be placed, if it has none yet; not stored."""

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> InboxRow:
        """Read a row from `open_inbox` or from the table itself."""
        names = ("id", "account_id", "session_id", "entry_id", "lane", "turn_id", "status")
        values = {name: row[name] for name in (*names, "attempts", "crashes")}
        message = InboundMessage.from_payload(load(row["payload"]))
        folded, resumed = bool(row.get("folded")), row.get("held_as") == "resumed"
        received_at = row.get("received_at", "")
        return cls(
            **values, message=message, received_at=received_at, folded=folded, resumed=resumed
        )


@dataclass(frozen=True, slots=True)
class KnownMessage:
    """A message of a person or of ours that the ledger has, by the platform's id.

    session_id  the session of its tape, or "" if it is about to be written
    lane        its lane
    entry_id    the entry of a person's message, or 0
    turn_id     the turn that took a person's message, or that ours is from
    is_answer   whether it is a whole answer of ours, or a piece of one
    said        the text of our message, until the row is folded
    is_erased   whether ours was erased
    """

    session_id: str
    lane: str | None
    entry_id: int = 0
    turn_id: str = ""
    is_answer: bool = False
    said: str = ""
    is_erased: bool = False

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> KnownMessage:
        """Read a row of the inbox or of the outbox."""
        place = (str(row["session_id"] or ""), row["lane"])
        entry, turn = int(row.get("entry_id") or 0), str(row["turn_id"] or "")
        sent = load(row["payload"]) if "payload" in row else {}
        is_answer, said = sent.get("kind") == "answer", str(sent.get("text", ""))
        is_erased = str(row.get("why") or "").startswith(ERASED)
        return cls(*place, entry, turn, is_answer, said, is_erased)


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """A message in the outbox."""

    id: int
    session_id: str
    turn_id: str
    lane: str | None
    status: str
    attempts: int
    message: OutboundMessage
    platform_id: str | None = None
    drafted: bool = False  # whether a draft was opened for this message

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> OutboxRow:
        """Read a row from `open_outbox` whose status is not `draft`."""
        names = ("id", "session_id", "turn_id", "lane", "status", "attempts", "platform_id")
        message = OutboundMessage.from_payload(load(row["payload"]))
        return cls(
            **{name: row[name] for name in names},
            message=with_place(message, row["platform_id"]),
            drafted=row["op"] == "place",
        )


def with_place(message: OutboundMessage, platform_id: str | None) -> OutboundMessage:
    """Return the message, set to replace its draft if it has one."""
    return replace(message, edits=platform_id) if platform_id else message


async def readable(
    store: UnitStore, rows: Sequence[Row], read: Callable[[Row], T], bury: str
) -> list[T]:
    """Return the readable rows; each unreadable row is marked as dead, with the reason."""
    found: list[T] = []
    for row in rows:
        try:
            found.append(read(row))
        except (TypeError, LookupError, ValueError, AttributeError) as cause:
            why = f"this version cannot read it ({type(cause).__name__}: {cause})"
            get_log().error("ledger.unreadable", row=row["id"], statement=bury, why=why)
            await run_alone(store, bury, id=row["id"], why=why)
    return found
