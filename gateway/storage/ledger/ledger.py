"""The ledger: what was accepted, which turn took it, what is to be sent.

What it promises, on every store (`gateway.storage.ledger.testing` holds it to that):

- An event is accepted once under its account and key, for ever; a batch is taken whole or not.
- What was accepted is open until its end is written, and comes back in the order of acceptance.
- A turn takes only what is open; a unit that breaks this, or the fence, changes nothing.
- A session is one process's at a time. The fence is its owner and epoch: what a process has lost,
  it cannot commit. A lease that is not renewed ends by the database's clock.
- A send is written once under its `idem`; its draft becomes it, in its place.
- A row that cannot be read is dead, with the reason, and wedges nothing.
- A unit may be made again when nobody knows whether it was: its appends have keys, and its
  statements leave the same rows (the count of attempts apart) and tell the same of them.

Methods that take a `Unit` add their statements to it, so that they stand or fall with what else
is in it; the others are transactions or readings of their own. No SQL and no dialect here: the
statements are named, and stand in `sql/` beside this file.
"""

from __future__ import annotations

import functools
from typing import Final

from gateway.clock import Clock
from gateway.storage.ledger.cursors import CursorTable
from gateway.storage.ledger.inbox import Inbox
from gateway.storage.ledger.leases import LEASE_SECONDS, Leases
from gateway.storage.ledger.outbox import Outbox
from tape.database.schema import Schema, read_schema
from tape.store import UnitStore

MOST_ATTEMPTS: Final = 5
"""Maximum times that a turn may be lost with its process before its message is given up."""


@functools.cache
def ledger_schema() -> Schema:
    """Return the ledger's tables and statements for SQLite."""
    return read_schema("ledger", "gateway.storage.ledger", "sqlite")


class Ledger:
    """The inbox, the outbox, the leases and the cursors over one store; `owner` names this process.

    `lease` is in seconds.
    """

    def __init__(
        self, store: UnitStore, clock: Clock, owner: str, lease: float = LEASE_SECONDS
    ) -> None:
        self.store = store
        self.owner = owner
        self.cursors = CursorTable(store, clock)
        self.inbox = Inbox(store, clock, self.cursors)
        self.outbox = Outbox(store)
        self.leases = Leases(store, owner, lease)
