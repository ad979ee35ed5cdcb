"""Controls: what a process asks of the process that holds a session.

A control stays in the database until the holder has carried it out; if the holder is lost, the next
one carries it out.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from gateway.background import KeyedQueue, Spawn
from gateway.clock import Clock
from gateway.logs import get_log
from gateway.sharing.claims import SessionClaims
from gateway.storage.ledger.rows import run_alone
from tape.entry import dump, load
from tape.errors import SessionLost, StoreUnavailable, TapeError
from tape.store import UnitStore
from tape.unit_of_work import Unit

LOOK_SECONDS: Final = 0.02  # how often the answer is looked for
MAX_ANSWER_SECONDS: Final = 5.0
RETRY_SECONDS: Final = 0.4

CarryOut = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""Carries out what is asked of a session; returns what JSON can hold."""


@dataclass(eq=False)
class Controls:
    """Asks holders, and carries out what others ask of this process: `on` says what it can do."""

    _store: UnitStore
    clock: Clock
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
        """Wait for the answer to a control; None if there is none in time, or no such control."""
        until = self.clock.monotonic() + seconds
        while True:
            rows = await self._store.select("sharing.control_answer", {"id": number})
            if rows and rows[0]["answer"] is not None:
                return load(rows[0]["answer"])["said"]
            if not rows or self.clock.monotonic() >= until:
                return None
            await self.clock.sleep(LOOK_SECONDS)

    async def has(self, number: int) -> bool:
        """Return whether a control is in the database: an answered one is for an hour."""
        return bool(await self._store.select("sharing.control_answer", {"id": number}))

    async def forget_old(self) -> None:
        """Remove what was answered an hour ago."""
        await run_alone(self._store, "sharing.forget_controls")

    async def carry_out(
        self, session_ids: Iterable[str], done: Collection[str] = (), up_to: int = 0
    ) -> None:
        """Carry out what was asked of the holder of these sessions, oldest first.

        Of controls `up_to` a number, operations in `done` are done already: all open rows were read
        with them.
        """
        values = {"sessions": dump(sorted(session_ids))}
        for row in await self._store.select("sharing.open_controls", values):
            said: Any = None
            is_done = row["id"] <= up_to and row["op"] in done
            way = None if is_done else self._ways.get(row["op"])
            try:
                said = await way(row["session_id"], load(row["data"])) if way else None
            except (SessionLost, StoreUnavailable):
                raise  # it stays open: whoever holds the session then does it
            except Exception as cause:
                get_log().error("control.failed", op=row["op"], exc_info=cause)
                said = {"failed": f"{type(cause).__name__}: {cause}"}
            answer = dump({"said": said})
            await run_alone(self._store, "sharing.answer_control", id=row["id"], answer=answer)


@dataclass(eq=False)
class ControlQueue:
    """Carries out, in the background, what others ask of the sessions that this process holds.

    Whoever reads the open rows of a session does `_done` with that.
    """

    _controls: Controls
    _claims: SessionClaims
    _spawn: Spawn
    _done: Collection[str]

    def __post_init__(self) -> None:
        self._sessions: KeyedQueue[str] = KeyedQueue("control", self._spawn)

    def submit(self, session_id: str, read: int = 0) -> None:
        """Carry it out soon; the open rows were read with the controls up to the number `read`."""
        self._sessions.submit(session_id, partial(self._carry_out, session_id, read))

    async def _carry_out(self, session_id: str, read: int) -> None:
        if not self._claims.holds(session_id):
            return  # its next holder does it
        try:
            await self._controls.carry_out([session_id], self._done, read)
        except TapeError as cause:
            get_log().warning("sharing.later", why=cause)
            await self._controls.clock.sleep(RETRY_SECONDS)
            self.submit(session_id, read)
