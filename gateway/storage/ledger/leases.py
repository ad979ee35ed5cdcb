"""Leases: record which process works on which session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gateway.storage.ledger.rows import run_alone
from tape.entry import dump
from tape.store import UnitStore
from tape.unit_of_work import Unit

LEASE_SECONDS: Final = 60.0
"""Seconds after which a process loses a session if it does not renew the lease."""


class Leases:
    """The leases of one process, `owner`."""

    def __init__(self, store: UnitStore, owner: str, seconds: float = LEASE_SECONDS) -> None:
        self._store = store
        self._owner = owner
        self._seconds = seconds

    def claim(self, unit: Unit, session_id: str, tape: str) -> int:
        """Claim a session; the outcome has its `epoch`. Fails while another process holds it."""
        unit.works_on.add(session_id)
        values = {"session_id": session_id, "tape": tape, "seconds": self._seconds}
        return unit.run("ledger.claim_session", expect=1, owner=self._owner, **values)

    async def renew(self, session_ids: Iterable[str]) -> None:
        """Renew our leases, except for sessions that another process has claimed."""
        values = {"sessions": dump(sorted(session_ids)), "seconds": self._seconds}
        await run_alone(self._store, "ledger.renew_leases", owner=self._owner, **values)

    async def end_others(self) -> None:
        """End the leases of all other processes, which are known to have ended."""
        await run_alone(self._store, "ledger.end_leases", owner=self._owner)

    def fence(self, unit: Unit, session_id: str, epoch: int) -> None:
        """Make the unit fail if another process holds the session."""
        unit.run("ledger.fence", expect=1, session_id=session_id, owner=self._owner, epoch=epoch)
