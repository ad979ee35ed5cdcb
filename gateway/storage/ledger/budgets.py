"""What each person uses per chat and day; the transaction that begins a turn counts it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tape.store import UnitStore
from tape.unit_of_work import Unit

SPEND: Final = "ledger.spend_turn"


@dataclass(frozen=True)
class DayLimits:
    """What a person may use per chat and day; 0 is no limit."""

    turns: int
    tokens: int
    cost: float


@dataclass(frozen=True)
class Spender:
    """A person (`channel:id`) in a chat on a day, in UTC."""

    day: str
    person: str
    session_id: str
    name: str


class BudgetTable:
    def __init__(self, store: UnitStore) -> None:
        self._store = store

    def spend(self, unit: Unit, who: Spender, limits: DayLimits) -> None:
        """Count a turn; the unit fails at SPEND if the budget is used up."""
        unit.run(SPEND, expect=1, **vars(who), **vars(limits))

    def refuse(self, unit: Unit, who: Spender) -> None:
        """Count a question that was refused."""
        unit.run("ledger.refuse_turn", **vars(who))

    async def read(self, who: Spender) -> tuple[int, int]:
        """Return how many of a person's turns began, and how many questions were refused."""
        values = {"day": who.day, "person": who.person, "session_id": who.session_id}
        rows = await self._store.select("ledger.budget", values)
        return (int(rows[0]["turns"]), int(rows[0]["refused"])) if rows else (0, 0)
