"""The rules of access, and the chats that want to be opened."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Final, Literal

from channels.message import InboundMessage
from tape.entry import dump, load
from tape.store import UnitStore
from tape.unit_of_work import Row, Unit

RuleRole = Literal["owner", "admin", "member", "none"]
MARKER: Final = "*"
"""The account and chat of the row that says that the groups of an upgrade were looked up."""


@dataclass(frozen=True, slots=True)
class AccessRule:
    """What one id may do.

    account_id    a channel, for all its accounts, or `channel:account`
    id            the platform's id of a person, a chat, a server or a workspace
    role          of a chat or server: `member` opens it; `none` closes it
    name          what people call it, for lists only
    server_id     the server of a chat, if it has one
    private_chat  where an owner can be written to, if known
    granted_by    who set the rule: `channel:id`, or `terminal`
    """

    account_id: str
    id: str
    role: RuleRole
    name: str = ""
    server_id: str = ""
    private_chat: str = ""
    granted_by: str = ""
    granted_at: str = ""


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A chat that wants to be opened; see the table for its states."""

    account_id: str
    chat_id: str
    title: str
    server_id: str
    asked_by: str
    state: Literal["sent", "listed", "former"]
    day: str


class AccessTable:
    """The rules and requests of all channels."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store

    async def rules(self) -> list[AccessRule]:
        rows = await self._store.select("ledger.access_rules", {})
        return [AccessRule(**row) for row in rows]

    def grant(self, unit: Unit, rule: AccessRule) -> None:
        """Set a rule, in the place of an earlier one for the same id."""
        unit.run("ledger.grant_access", **asdict(rule))

    def request(self, unit: Unit, request: AccessRequest) -> None:
        """Record a request; if the chat has one, the whole unit changes nothing."""
        unit.run("ledger.request_access", expect=1, **asdict(request))

    async def requested(self, account_id: str, chat_id: str) -> AccessRequest | None:
        values = {"account_id": account_id, "chat_id": chat_id}
        rows = await self._store.select("ledger.access_request", values)
        return AccessRequest(**rows[0]) if rows else None

    async def requests(self) -> list[AccessRequest]:
        """Return every request, oldest first, whether or not its chat is open by now."""
        rows = await self._store.select("ledger.access_requests", {})
        return [AccessRequest(**row) for row in rows if row["account_id"] != MARKER]

    async def requests_on(self, account_id: str, day: str) -> int:
        """Return how many chats of an account wanted to be opened on a day."""
        values = {"account_id": account_id, "day": day}
        return int((await self._store.select("ledger.count_requests", values))[0]["count"])

    async def former_groups(self, people: Collection[str]) -> list[Row]:
        """Return the groups in which any of these people (`channel:id`) were answered."""
        values = {"people": dump(sorted(people))}
        return await self._store.select("ledger.former_groups", values, long=True)

    async def newest_message(self, channel: str, chat_id: str) -> InboundMessage | None:
        """Return the newest message of a chat, in any account of a channel."""
        values = {"channel": channel, "chat_id": chat_id}
        rows = await self._store.select("ledger.chat_of_id", values, long=True)
        return InboundMessage.from_payload(load(rows[0]["payload"])) if rows else None
