"""A plugin that brings a store of tapes."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from gateway.hooks.specs import hookimpl
from tape.entry import Entry, NewEntry
from tape.errors import StoreUnavailable
from tape.store import TapeStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import tape_schema


class Tapes(MemoryStore):
    """Tapes that outlive the gateway; after `cut` was written nothing is heard of them any more."""

    def __init__(self, cut: str) -> None:
        super().__init__([tape_schema()])
        self.cut = cut
        self.was_cut = anyio.Event()

    async def append(
        self, tape: str, entries: Sequence[NewEntry], key: str | None = None
    ) -> list[Entry]:
        if self.was_cut.is_set() and self.cut:
            raise StoreUnavailable("the plugin's store is away")
        written = await super().append(tape, entries, key)
        if self.cut and self.cut in [entry.name or entry.kind for entry in written]:
            self.was_cut.set()
            raise StoreUnavailable("the connection was lost after the write")
        return written

    async def close(self) -> None:
        """The test's own; it is read after the gateway."""


class BringsTapes:
    """A plugin with a store."""

    def __init__(self, store: TapeStore) -> None:
        self.store = store

    @hookimpl
    def provide_tape_store(self) -> TapeStore:
        return self.store
