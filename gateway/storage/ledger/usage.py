"""What turns have used: tokens and their cost, one row per turn and model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tape.store import UnitStore
from tape.unit_of_work import Row, Unit

GROUPS: Final = ("day", "chat", "person", "model", "turn")
TOTAL: Final = "total"
MAX_LISTED: Final = 1_000


@dataclass(frozen=True)
class TurnUsage:
    """What a turn used of one model.

    day        the date of the turn's end, in UTC
    person     who asked, as in the access settings: `channel:id`
    input      prompt tokens that were not cached
    cost       in the currency of the prices; None if these are not known
    estimated  the calls whose tokens the server did not report
    """

    turn_id: str
    model: str
    day: str
    session_id: str
    person: str
    name: str
    calls: int
    input: int
    cached: int
    output: int
    cost: float | None
    estimated: int = 0


class UsageTable:
    def __init__(self, store: UnitStore) -> None:
        self._store = store

    def record(self, unit: Unit, usage: TurnUsage) -> None:
        """Record what a turn used; if the turn ends again, its row is replaced."""
        unit.run("ledger.record_usage", **vars(usage))

    async def read(self, by: str, since: str, limit: int = MAX_LISTED) -> list[Row]:
        """Return the usage since a day, summed up by one of GROUPS, or in one row for TOTAL.

        Days and turns are in order, and the limit leaves out the oldest. `cost` is the sum of what
        is known, or None, and `unpriced` counts the calls whose price is not known.
        """
        values = {"by": by, "since": since, "limit": limit}
        rows = await self._store.select("ledger.list_usage", values, long=True)
        return sorted(rows, key=lambda row: row["latest"]) if by in ("day", "turn") else rows
