"""A store that outlives its gateways: what a gateway that is killed had not written is not there.

A kill is acted out at one moment of one transaction: from then on nothing of that gateway reaches
its store, and the stage takes nothing of it (`Stage.cut_off`), whatever its tasks still do until
they are cancelled. A database that is away is acted out here, too.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, Literal

import anyio

from tape.database.schema import Schema
from tape.entry import Entry, NewEntry, to_line
from tape.errors import StoreUnavailable, TapeError
from tape.query import Query
from tape.store import Now, SharedStore, TapeInfo, UnitStore, utc_now
from tape.stores.memory import MemoryStore
from tape.tails import Tails
from tape.unit_of_work import Append, Framing, Outcome, Prepare, Row, Run, Unit, as_given, prepared
from tests.fakes.base.traffic import WITNESSES, Asked
from tests.kit.canaries import without_wire

Moment = Literal["before", "after"]
Strike = Callable[[frozenset[str]], bool]
Wanted = Callable[[frozenset[str], Sequence[Outcome]], bool]
"""Tells of what a transaction holds (names of statements and entries) whether it is the one."""


SENDING: Final = "ledger.sending"


class Killed(TapeError):
    """This gateway is dead: nothing of it is written any more."""


class LastingStore(MemoryStore):
    """A store in memory that outlives its gateways."""

    def __init__(self, schemas: Sequence[Schema] = (), now: Now = utc_now) -> None:
        super().__init__(schemas, now)
        WITNESSES.append(self)

    def heard(self) -> bytes:
        """Return everything in it but `meta.wire`."""
        entries = [entry for tape in self._tapes.values() for entry in tape.entries]
        return without_wire(entries) + self.tables()

    def asked(self) -> list[Asked]:
        """Nobody asks a store to think."""
        return []

    def everything(self) -> bytes:
        """Return every byte of the tapes and of the tables."""
        entries = [entry for tape in self._tapes.values() for entry in tape.entries]
        return "\n".join(map(to_line, entries)).encode() + self.tables()

    def tables(self) -> bytes:
        """Return the bytes of every table."""
        return self._database.serialize("main")

    async def close(self) -> None:
        """Stay open for the next gateway."""


class MortalStore:
    """What one gateway has of a lasting store."""

    durable = False
    one_transaction = True
    concurrent = False

    def __init__(self, inner: UnitStore) -> None:
        self._inner = inner
        self._strike: tuple[Strike, Moment] | None = None
        self._struck: Callable[[], None] = lambda: None
        self.dead = False
        self.away = False
        self.commits = 0
        self.asked = 0
        self.struck: frozenset[str] = frozenset()
        """What was under way when it died; on a server, also transactions and sends beside it."""
        self._sends = 0
        self._under_way: list[frozenset[str]] = []
        self.killed = anyio.Event()
        self._late: tuple[Wanted, anyio.Event] | None = None
        self._lost: tuple[Strike, TapeError] | None = None
        self.prepare: Prepare = as_given

    def kill_at(self, moment: Moment, strike: Strike, struck: Callable[[], None]) -> None:
        """Die before or after the first transaction for which `strike` is true."""
        self._strike, self._struck = (strike, moment), struck

    def hold_answers(self, wanted: Wanted) -> anyio.Event:
        """Hold back the answers to transactions that are wanted, until the event is set."""
        event = anyio.Event()
        self._late = (wanted, event)
        return event

    def lose_answer(self, wanted: Strike, cause: TapeError | None = None) -> None:
        """Run the first transaction or statement that is wanted, and raise an error instead of its
        answer."""
        self._lost = (wanted, cause or StoreUnavailable("the connection broke during a write"))

    def kill(self, struck: Callable[[], None]) -> None:
        """Die now."""
        self._struck = struck
        self._die()

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        (outcome,) = await self.commit(Unit([Append(tape, tuple(entries), key)]))
        return list(outcome.entries)

    async def commit(self, unit: Unit) -> list[Outcome]:
        self._live()
        if self.away:
            raise StoreUnavailable("the database is locked")
        self.commits += 1
        strike, moment = self._strike or (_never, "before")
        held = held_by(unit)
        # That a person comes in is no step of a message's way.
        now = "ledger.open_page_session" not in held and strike(held)
        if now and moment == "before":
            self._die(held)
        self._live()
        self._under_way.append(held)
        try:
            done = await self._inner.commit(prepared(unit, self.prepare))
            self._sends += (SENDING in held) - ("ledger.sent" in held)
            if now:
                self._die()
            if self._late and self._late[0](held, done):
                await self._late[1].wait()
            self._lose(held)
        finally:
            self._under_way.remove(held)
        self._live()
        return done

    async def query(self, query: Query) -> list[Entry]:
        self._live()
        return await self._inner.query(query)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        self._live()
        return await self._inner.tapes(prefix)

    async def size(self, tape: str) -> int:
        self._live()
        return await self._inner.size(tape)

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        self._live()
        found = await self._inner.select(statement, values, long=long)
        self._lose(frozenset({statement}))
        return found

    async def close(self) -> None:
        await self._inner.close()

    def _live(self) -> None:
        self.asked += 1
        if self.dead:
            raise Killed("killed")

    def _lose(self, held: frozenset[str]) -> None:
        if self._lost and self._lost[0](held):
            (_wanted, cause), self._lost = self._lost, None
            raise cause

    def _die(self, *held: frozenset[str]) -> None:
        self.dead = True
        beside = [frozenset({SENDING})] if self._sends and self.concurrent else []
        self.struck = frozenset().union(*held, *self._under_way, *beside)
        self._strike = None
        self._struck()
        self.killed.set()


class MortalPart(MortalStore):
    """What one gateway has of a lasting store that it shares with others."""

    concurrent = True

    def __init__(self, inner: SharedStore) -> None:
        super().__init__(inner)
        self._shared = inner

    @property
    def framing(self) -> Framing | None:
        return self._shared.framing

    @framing.setter
    def framing(self, framing: Framing | None) -> None:
        self._shared.framing = framing

    @property
    def tails(self) -> Tails:
        return self._shared.tails

    @tails.setter
    def tails(self, tails: Tails) -> None:
        self._shared.tails = tails

    def take_in(self, tapes: Collection[str], ends: Sequence[Row]) -> None:
        self._shared.take_in(tapes, ends)

    async def refuse_newer(self) -> None:
        self._live()
        await self._shared.refuse_newer()

    async def listen(
        self, url: str, channels: Sequence[str]
    ) -> AsyncGenerator[tuple[str, str], None]:
        async with aclosing(self._shared.listen(url, channels)) as heard:
            async for pair in heard:
                if self.dead:
                    await anyio.sleep_forever()
                yield pair


def held_by(unit: Unit) -> frozenset[str]:
    """Return what a transaction holds: its statements, and its entries' names (or kinds)."""
    names = {step.statement for step in unit.steps if isinstance(step, Run)}
    for step in unit.steps:
        if isinstance(step, Append):
            names |= {entry.name or entry.kind for entry in step.entries}
    return frozenset(names)


def _never(_names: frozenset[str]) -> bool:
    return False
