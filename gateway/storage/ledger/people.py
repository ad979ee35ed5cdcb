"""The people of each session, by the short numbers that stand for them in views.

A number is allotted in the transaction that writes the person's first message, and is never given
to somebody else.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from tape.store import UnitStore
from tape.unit_of_work import Unit

MAX_SESSIONS: Final = 1_000
"""How many sessions' numbers are kept in memory; those of others are read again."""


class PeopleTable:
    """Numbers people; only the intake allots numbers, one message after the other."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store
        self._known: OrderedDict[str, dict[str, int]] = OrderedDict()

    async def number(
        self, session_id: str, people: Iterable[str]
    ) -> tuple[Mapping[str, int], dict[str, int]]:
        """Return a session's numbers, and those of them that are new and must be written.

        If they are not written after all, call `forget`.
        """
        known = await self._of(session_id)
        new: dict[str, int] = {}
        for person in people:
            if person and person not in known:
                new[person] = known[person] = max(known.values(), default=0) + 1
        return known, new

    async def find(self, session_id: str, number: int) -> str | None:
        """Return the id of the person with a number, or None."""
        known = self._known.get(session_id)
        if known is None:  # not kept: another process may hold the session, and allot numbers
            known = await self._read(session_id)
        return next((person for person, own in known.items() if own == number), None)

    def write(self, unit: Unit, session_id: str, new: Mapping[str, int]) -> None:
        """Write new numbers."""
        for person, number in new.items():
            unit.run("ledger.number_person", session_id=session_id, person=person, number=number)

    def know(self, session_id: str, numbers: Mapping[str, int]) -> None:
        """Take in all numbers of a session, which were read when this process claimed it."""
        self._known[session_id] = dict(numbers)

    def forget(self, sessions: Collection[str]) -> None:
        """Forget what is known of some sessions, because a transaction failed."""
        for session_id in sessions:
            self._known.pop(session_id, None)

    async def _of(self, session_id: str) -> dict[str, int]:
        known = self._known.get(session_id)
        if known is None:
            known = self._known[session_id] = await self._read(session_id)
            while len(self._known) > MAX_SESSIONS:
                self._known.popitem(last=False)
        self._known.move_to_end(session_id)
        return known

    async def _read(self, session_id: str) -> dict[str, int]:
        rows = await self._store.select("ledger.people", {"session_id": session_id})
        return {row["person"]: row["number"] for row in rows}
