"""The memory store keeps tapes in lists, and other tables in an SQLite database in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import apsw
import orjson

from tape.database.connection import migrate, rows_of, run_step
from tape.database.schema import Schema
from tape.database.staging import next_piece
from tape.entry import Entry, NewEntry, anchors, dump, numbered, utc_iso, with_bootstrap
from tape.erasing import check_left
from tape.errors import AppendRefused, StoreUnavailable, TapeError, TapeMismatch
from tape.payloads import check
from tape.query import Query
from tape.store import Now, TapeInfo, utc_now
from tape.stores.plain_beside import PlainBeside
from tape.unit_of_work import Append, Batch, Outcome, Prepare, Row, Run, Unit, as_given, prepared


@dataclass(slots=True)
class _Tape:
    entries: list[Entry] = field(default_factory=list)
    keys: dict[str, tuple[Entry, ...]] = field(default_factory=dict)


class MemoryStore:
    """A tape store whose content is lost when the process ends."""

    durable = False
    one_transaction = True

    def __init__(self, schemas: Sequence[Schema] = (), now: Now = utc_now) -> None:
        self._tapes: dict[str, _Tape] = {}
        self._now = now
        self._sql = {name: sql for s in schemas for name, sql in s.statements.items()}
        self._database = apsw.Connection(":memory:")
        migrate(self._database, schemas)
        self._closed = False
        self.prepare: Prepare = as_given

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        unit = Unit([Append(tape, tuple(entries), key)])
        return list((await self.commit(unit))[0].entries)

    async def commit(self, unit: Unit) -> list[Outcome]:
        self._refuse_when_closed()
        undo: list[tuple[str, int, str | None]] = []
        outcomes: list[Outcome] = []
        try:
            with self._database:  # a savepoint
                for step in prepared(unit, self.prepare).steps:
                    if isinstance(step, Append):
                        outcomes.append(self._append(step, undo))
                    elif isinstance(step, Run):
                        outcomes.append(run_step(self._database, self._sql, step, outcomes))
        except BaseException as cause:
            self._undo(undo)
            if isinstance(cause, Exception) and not isinstance(cause, TapeError):
                raise AppendRefused(f"the database refused a statement: {cause}") from cause
            raise
        return outcomes

    async def append_batch(self, tape: str, batch: Batch) -> None:
        rest, staged = map(self.prepare, batch), list[Entry]()
        while piece := await next_piece(rest):
            check(piece, imported=True)
            dump([(new.payload, new.meta) for new in piece])  # raises AppendRefused
            newest = batch.after + len(staged)
            staged += _copies(numbered(piece, newest, utc_iso(self._now())))
        batch.check(batch.after + len(staged))
        size = await self.size(tape)
        if size != batch.after:
            raise TapeMismatch(tape, batch.after, size)
        self._tapes.setdefault(tape, _Tape()).entries.extend(staged)

    async def query(self, query: Query) -> list[Entry]:
        self._refuse_when_closed()
        tape = self._tapes.get(query.tape)
        return _copies(query.pick(tape.entries if tape else []))

    async def select(
        self,
        statement: str,
        values: Mapping[str, Any],
        *,
        long: bool = False,  # noqa: ARG002 - memory holds little
    ) -> list[Row]:
        self._refuse_when_closed()
        return rows_of(self._database.execute(self._sql[statement], values))

    def beside(self, seconds: float) -> PlainBeside:
        """Return a reader of the same lists."""
        return PlainBeside(self, self, seconds)

    async def erase(self, tape: str, entries: Sequence[Entry]) -> None:
        self._refuse_when_closed()
        found = self._tapes.setdefault(tape, _Tape())
        check_left(tape, found.entries, entries)
        left = {entry.id: entry for entry in _copies(entries)}
        found.entries = [left.get(entry.id, entry) for entry in found.entries]
        for key, own in found.keys.items():
            found.keys[key] = tuple(left.get(entry.id, entry) for entry in own)

    async def purge(self, *, resumed: bool = False, rewrite: bool = True) -> None:
        """Do nothing: memory has no files."""

    async def tapes(self, prefix: str = "") -> list[TapeInfo]:
        self._refuse_when_closed()
        return [
            TapeInfo(name, len(tape.entries), tape.entries[-1].date)
            for name, tape in sorted(self._tapes.items())
            if name.startswith(prefix) and tape.entries
        ]

    async def size(self, tape: str) -> int:
        self._refuse_when_closed()
        return len(self._tapes[tape].entries) if tape in self._tapes else 0

    async def close(self) -> None:
        self._closed = True
        self._database.close()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailable("the tape store is closed: open it again")

    def _append(self, step: Append, undo: list[tuple[str, int, str | None]]) -> Outcome:
        check(step.entries)
        dump([step.tape, step.key])  # raises AppendRefused unless tape and key are valid text
        tape = self._tapes.setdefault(step.tape, _Tape())
        if step.key is not None and step.key in tape.keys:
            return Outcome(tuple(_copies(tape.keys[step.key])))
        batch = with_bootstrap(
            step.entries, empty=not tape.entries, anchored=lambda: any(map(anchors, tape.entries))
        )
        newest = len(tape.entries)
        new = numbered(batch, newest, utc_iso(self._now()))
        dump([(entry.payload, entry.meta) for entry in new])  # raises AppendRefused
        entries = _copies(new)
        tape.entries.extend(entries)
        own = tuple(entries[len(batch) - len(step.entries) :])
        if step.key is not None:
            tape.keys[step.key] = own
        undo.append((step.tape, newest, step.key))
        return Outcome(tuple(_copies(own)))

    def _undo(self, undo: list[tuple[str, int, str | None]]) -> None:
        for name, size, key in reversed(undo):
            tape = self._tapes[name]
            del tape.entries[size:]
            if key is not None:
                del tape.keys[key]


def _copies(entries: Sequence[Entry]) -> list[Entry]:
    # Copy all values as one text, without `dump` and `load`, as the caller has checked them.
    values = orjson.loads(orjson.dumps([(entry.payload, entry.meta) for entry in entries]))
    return [
        Entry(entry.id, entry.kind, payload, meta, entry.date)
        for entry, (payload, meta) in zip(entries, values, strict=True)
    ]
