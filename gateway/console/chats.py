"""The chats of the ledger, and the keys by which addresses name them."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from agent.names import fit
from channels.message import Author, InboundMessage
from tape.entry import load, parse_date
from tape.unit_of_work import Row

WAITS_TOO_LONG: Final = timedelta(minutes=2)
"""How long a message may wait, with none running in its chat, until the chat counts as stalled."""

MAX_KNOWN: Final = 10_000  # maximum chats that are kept as they were read


@dataclass(frozen=True, slots=True)
class ConsoleChat:
    """A chat in which something was said.

    session_id  its session in the ledger
    tape        the name of its tape
    account_id  the channel, or `channel:account`, that the newest message came to
    newest      the newest message, whose text is for nobody: it may be deleted
    heard_at    when that was received, in UTC
    """

    session_id: str
    tape: str
    account_id: str
    newest: InboundMessage
    heard_at: str

    @classmethod
    def read(cls, row: Row) -> ConsoleChat | None:
        """Read a row of `console_chat`; None if this version cannot read its message."""
        try:
            newest = InboundMessage.from_payload(load(row["payload"]))
        except (TypeError, KeyError, ValueError):
            return None
        own = {name: row[name] for name in ("session_id", "tape", "account_id")}
        newest = replace(
            newest,
            text="",
            quote=None,
            forwarded=None,
            excerpts=(),
            omitted=(),
            command="",
            parts=(),
            media=(),
            raw={},
            chat_title=row["given_title"] or newest.chat_title,
            chat_id=row["chat_id"],
        )
        return cls(**own, newest=newest, heard_at=row["received_at"])

    @property
    def key(self) -> str:
        """Its name in addresses."""
        return key_of(self.session_id)

    @property
    def channel(self) -> str:
        return self.account_id.partition(":")[0]

    @property
    def account(self) -> str:
        return self.account_id.partition(":")[2]

    @property
    def is_private(self) -> bool:
        """Whether it is between one person and the agent, or a thread that not everybody reads."""
        return self.newest.chat_kind == "private" or bool(self.newest.parent_id)

    @property
    def title(self) -> str:
        """What people call it, in one line; the platform's id if it has no name."""
        message = self.newest
        name = message.sender.name if message.chat_kind == "private" else message.chat_title
        return fit(name) or fit(message.chat_id)

    def asked_by(self, person: str) -> InboundMessage:
        """Return a message of somebody in this chat, to ask for their role."""
        return replace(self.newest, sender=Author(person, ""), owner=False, invited=False)


class KnownChats:
    """Chats as they were read before, so that only those with something new are read again.

    A row counts as the same while nothing of it changed: an erased name is not kept.
    """

    def __init__(self, most: int = MAX_KNOWN) -> None:
        self._most = most
        self._known: dict[str, tuple[tuple[Any, ...], ConsoleChat | None]] = {}

    def read(self, rows: Sequence[Row]) -> list[ConsoleChat]:
        """Read rows of `console_chat`, without those that this version cannot read."""
        found = (self._read(row) for row in rows)
        return [chat for chat in found if chat is not None]

    def _read(self, row: Row) -> ConsoleChat | None:
        session_id = str(row["session_id"])
        state = tuple(hash(value) for value in row.values())  # a hash holds no words
        known = self._known.get(session_id)
        if known is not None and known[0] == state:
            return known[1]
        chat = ConsoleChat.read(row)
        if known is not None or len(self._known) < self._most:
            self._known[session_id] = state, chat
        return chat


def is_overdue(row: Row, now: datetime) -> bool:
    """Return whether what waits in a chat waits too long; `row` is one of `open_by_chat`."""
    waits = bool(row["waiting"]) and not row["running"]
    return waits and now - parse_date(str(row["oldest"])) > WAITS_TOO_LONG


def key_of(session_id: str) -> str:
    """Return a session's id as text for addresses."""
    return urlsafe_b64encode(session_id.encode()).decode().rstrip("=")


def session_of_key(key: str) -> str:
    """Return the session of a key, or "" for what is none."""
    try:
        found = urlsafe_b64decode(f"{key}{'=' * (-len(key) % 4)}").decode()
    except ValueError:
        return ""
    return found if key_of(found) == key else ""
