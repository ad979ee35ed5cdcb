"""A plugin's tape store plus a database for the ledger, which share no transaction.

Appends come first, each under a key: if a unit is run again after a crash, it finds its entries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tape.entry import Entry, NewEntry
from tape.errors import TapeMismatch
from tape.query import Query
from tape.store import BatchStore, ErasingStore, NotingStore, TapeInfo, TapeStore, UnitStore
from tape.stores.plain_beside import PlainBeside
from tape.unit_of_work import Append, Batch, Outcome, Prepare, Row, Run, Unit, as_given, resolve


class SplitStore:
    """Combines a plugin's tapes and our database into one store with units of work."""

    one_transaction = False

    def __init__(self, tapes: TapeStore, database: UnitStore) -> None:
        self._tapes = tapes
        self._database = database
        self.durable = tapes.durable and database.durable
        self.prepare: Prepare = as_given
        if isinstance(tapes, ErasingStore):  # only then, this is an erasing store as well
            self.erase = tapes.erase

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        return await self._tapes.append(tape, [self.prepare(new) for new in entries], key)

    async def commit(self, unit: Unit) -> list[Outcome]:
        """Append the entries, then run the statements; this is not atomic (see the module)."""
        outcomes: list[Outcome] = [Outcome() for _ in unit.steps]
        for position, step in enumerate(unit.steps):
            if isinstance(step, Append):
                entries = await self.append(step.tape, step.entries, step.key)
                outcomes[position] = Outcome(entries=tuple(entries))
        runs = {n: step for n, step in enumerate(unit.steps) if isinstance(step, Run)}
        steps = [replace(run, values=resolve(run.values, outcomes)) for run in runs.values()]
        done = await self._database.commit(Unit([*steps]))
        for position, outcome in zip(runs, done, strict=True):
            outcomes[position] = outcome
        return outcomes

    async def append_batch(self, tape: str, batch: Batch) -> None:
        """Append a batch of any size, in a single append if the plugin's store lacks batches."""
        given = batch.entries
        batch = replace(batch, entries=lambda: map(self.prepare, given()))
        if isinstance(self._tapes, BatchStore):
            await self._tapes.append_batch(tape, batch)
        elif await self._tapes.size(tape) != batch.after:
            raise TapeMismatch(tape, batch.after, await self._tapes.size(tape))
        else:
            await self._tapes.append(tape, list(batch), f"import:{batch.after}:{batch.count}")

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        for store in (self._tapes, self._database):
            if isinstance(store, ErasingStore):
                await store.purge(resumed=resumed, rewrite=rewrite)

    async def query(self, query: Query) -> list[Entry]:
        return await self._tapes.query(query)

    async def select(
        self, statement: str, values: Mapping[str, Any], *, long: bool = False
    ) -> list[Row]:
        return await self._database.select(statement, values, long=long)

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        return await self._tapes.tapes(prefix)

    async def size(self, tape: str) -> int:
        return await self._tapes.size(tape)

    def beside(self, seconds: float) -> PlainBeside:
        """Return a reader of the plugin's tapes and of the database."""
        return PlainBeside(self._tapes, self._database, seconds)

    def notes(self) -> list[str]:
        return self._tapes.notes() if isinstance(self._tapes, NotingStore) else []

    async def close(self) -> None:
        await self._tapes.close()
        await self._database.close()
