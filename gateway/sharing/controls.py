"""Controls: what a process asks of the process that holds a session.

A control stays in the database until the holder has carried it out; if the holder is lost, the next
one carries it out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gateway.clock import Clock
from gateway.logs import get_log
from gateway.storage.ledger.rows import run_alone
from tape.entry import dump, load
from tape.errors import SessionLost, StoreUnavailable
from tape.store import UnitStore
from tape.unit_of_work import Unit

LOOK_SECONDS: Final = 0.02  # how often the answer is looked for
MAX_ANSWER_SECONDS: Final = 5.0

CarryOut = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Carries out what is asked of a session; returns what JSON can hold."""


@dataclass(eq=False)
class Controls:
    """Asks holders, and carries out what others ask of this process: `on` says what it can do."""

    _store: UnitStore
    _clock: Clock
    _ways: dict[str, CarryOut] = field(default_factory=dict)

    def on(self, op: str, way: CarryOut) -> None:
        """Carry out an operation in this way."""
        self._ways[op] = way

    async def ask(self, session_id: str, op: str, by: str, data: Mapping[str, Any]) -> int:
        """Ask the holder of a session, whoever that is; return the number of the control."""
        unit = Unit()
        step = self.add(unit, session_id, op, by, data)
        return int((await self._store.commit(unit))[step].rows[0]["id"])

    def add(self, unit: Unit, session_id: str, op: str, by: str, data: Mapping[str, Any]) -> int:
        """Ask the holder of a session in a unit of work; the step returns the control's `id`."""
        unit.for_sessions.add(session_id)
        return unit.run(
            "sharing.ask_holder", session_id=session_id, op=op, asked_by=by, data=dump(dict(data))
        )

    async def answer(self, number: int, seconds: float = MAX_ANSWER_SECONDS) -> Any:
        """Wait for the answer to a control; None if there is none in time."""
        until = self._clock.monotonic() + seconds
        while True:
            rows = await self._store.select("sharing.control_answer", {"id": number})
            if rows and rows[0]["answer"] is not None:
                return load(rows[0]["answer"])["said"]
            if self._clock.monotonic() >= until:
                return None
            await self._clock.sleep(LOOK_SECONDS)

    async def carry_out(self, session_ids: Iterable[str], done: Collection[str] = ()) -> None:
        """Carry out what was asked of the holder of these sessions, oldest first.

        Operations in `done` are done already, since all open rows were read just now.
        """
        values = {"sessions": dump(sorted(session_ids))}
        for row in await self._store.select("sharing.open_controls", values):
            said: Any = None
            way = None if row["op"] in done else self._ways.get(row["op"])
            try:
                said = await way(row["session_id"], load(row["data"])) if way else None
            except (SessionLost, StoreUnavailable):
                raise  # it stays open: whoever holds the session then does it
            except Exception as cause:
                get_log().error("control.failed", op=row["op"], exc_info=cause)
                said = {"failed": f"{type(cause).__name__}: {cause}"}
            answer = dump({"said": said})
            await run_alone(self._store, "sharing.answer_control", id=row["id"], answer=answer)
