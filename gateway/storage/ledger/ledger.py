"""The ledger: accepted messages, the turns that took them, and the messages to send.

Guarantees on every store, checked by `tests.contracts.ledger_checks`:

- An event is accepted once per account and key, forever. A batch is accepted as a whole or not at
  all.
- An accepted message stays open until its end is recorded. Open messages are returned in the order
  of acceptance.
- A turn takes only open messages. A unit that violates this, or the fence, changes nothing.
- One process holds a session at a time. The fence is its owner and epoch: a process cannot commit
  to a session that it has lost. A lease that is not renewed ends by the database's clock.
- A send is written once per `idem`, and replaces its draft.
- An unreadable row is marked dead with the reason, and blocks nothing.
- A unit whose outcome is unknown can be run again: its appends have keys, and its statements leave
  the same rows (except for the count of attempts) and return the same outcomes.
- A row has the dates of its joints (in UTC, by the clock of the process that was there) where they
  are known: old rows, and those of programs that know no dates, have none.

Methods that take a `Unit` add statements to it; all others are transactions or reads of their own.
Statements are named, and stand in `sql/`, so no dialect appears in this package.
"""

from __future__ import annotations

import functools
from typing import Final

from gateway.clock import Clock
from gateway.storage.erasures import ErasureTable
from gateway.storage.holding import HoldTable
from gateway.storage.ledger.access import AccessTable
from gateway.storage.ledger.budgets import BudgetTable
from gateway.storage.ledger.cards import CardTable
from gateway.storage.ledger.cursors import CursorTable
from gateway.storage.ledger.inbox import Inbox
from gateway.storage.ledger.leases import LEASE_SECONDS, Leases
from gateway.storage.ledger.outbox import Outbox
from gateway.storage.ledger.people import PeopleTable
from gateway.storage.ledger.usage import UsageTable
from gateway.storage.waiting import WaitingTable
from tape.database.schema import Schema, read_schema
from tape.store import UnitStore

MAX_ATTEMPTS: Final = 5
"""Maximum times that a turn is begun in one process, which has lost its database meanwhile."""

SUSPECT_CRASHES: Final = 2
"""Crashes in a row during a turn after which that turn is suspected of causing them."""

MAX_CRASHES: Final = SUSPECT_CRASHES + 3
"""Crashes in a row after which a turn is given up: three of them as the only suspect that ran."""


@functools.cache
def ledger_schema(dialect: str = "sqlite") -> Schema:
    """Return the tables and statements of the ledger; `postgres` is the other dialect."""
    return read_schema("ledger", "gateway.storage.ledger", dialect)


class Ledger:
    """The parts of a store's ledger, for the process `owner`; `lease` is in seconds."""

    def __init__(
        self, store: UnitStore, clock: Clock, owner: str, lease: float = LEASE_SECONDS
    ) -> None:
        self.store = store
        self.owner = owner
        self.cursors = CursorTable(store, clock)
        self.inbox = Inbox(store, clock, self.cursors)
        self.outbox = Outbox(store, clock)
        self.leases = Leases(store, owner, lease)
        self.usage = UsageTable(store)
        self.cards = CardTable(store)
        self.people = PeopleTable(store)
        self.access = AccessTable(store)
        self.budgets = BudgetTable(store)
        self.erasures = ErasureTable(store, clock)
        self.held = HoldTable(store, clock)
        self.waiting = WaitingTable(store)

    async def chat_names(self) -> dict[str, str]:
        """Map sessions to the names of their chats, as far as they are known."""
        rows = await self.store.select("ledger.chat_names", {}, long=True)
        return {row["session_id"]: row["name"] or "" for row in rows}
