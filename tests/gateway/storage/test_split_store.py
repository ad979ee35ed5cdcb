"""A plugin's tapes with the ledger beside them: two stores, and a crash between the two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from gateway.hooks.specs import hookimpl
from tape.entry import Entry, NewEntry
from tape.errors import StoreUnavailable
from tape.store import TapeStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import tape_schema
from tests.clock import QuickClock
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.intake.test_access import MESSAGE, Brings, PlainChannel
from tests.gateways import gateway_of, names, settled

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize("cut", ["message", "turn.start", "turn.end", "send.receipt"])
async def test_d1_a_crash_between_the_two_stores_ends_in_one_answer(
    tmp_path: Path, cut: str
) -> None:
    tapes = Tapes(cut)
    plugin = BringsTapes(tapes)
    first, second = PlainChannel(), PlainChannel()
    async with FakeOpenAI() as server:
        server.default = lambda _request: Text(("a plum",))
        async with gateway_of(
            tmp_path, server, plugin, Brings(first), clock=QuickClock(), ACCESS__MODE="open"
        ):
            await first.host.accept([MESSAGE])
            await tapes.was_cut.wait()
        tapes.cut = ""
        async with gateway_of(
            tmp_path, server, plugin, Brings(second), ACCESS__MODE="open"
        ) as gateway:
            told = names(await settled(gateway, "plain:-100"))
            row = (await gateway.services.store.select("ledger.inbox_row", {"id": 1}))[0]
    assert row["status"] == "done"
    assert told.count("turn.end") == told.count("outbound") == 1
    assert told.count("turn.start") == 1
    assert told.count("send.receipt") == 1
    posts = [post.text for post in (*first.posts, *second.posts)]
    again = "(sent again after an interruption)\n\n" if cut == "send.receipt" else ""
    assert posts[-1] == f"{again}a plum"
    assert len(posts) == (2 if again else 1)
    assert len(server.requests) == 1


async def test_a_notice_and_a_command_s_answer_are_found_again_as_well(tmp_path: Path) -> None:
    tapes = Tapes("outbound")
    plugin = BringsTapes(tapes)
    first, second = PlainChannel(), PlainChannel()
    help_ = replace(MESSAGE, text=",help")
    more = {"ACCESS__MODE": "open"}
    async with gateway_of(tmp_path, None, plugin, Brings(first), clock=QuickClock(), **more):
        await first.host.accept([help_])
        await tapes.was_cut.wait()
    tapes.cut = ""
    async with gateway_of(tmp_path, None, plugin, Brings(second), **more) as gateway:
        told = names(await settled(gateway, "plain:-100"))
    assert told.count("outbound") == 1
    assert (len(first.posts), len(second.posts)) == (0, 1)
