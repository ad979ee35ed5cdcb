"""Hearing of others, and what stands in the way of that."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

import anyio
from structlog.testing import capture_logs

from gateway.sharing.bus import UNUSABLE_SECONDS, Bus
from tape.errors import StoreUnavailable, StoreUnusable, TapeError
from tape.stores.memory import MemoryStore
from tests.kit.clock import ManualClock

ELSEWHERE = "the URL names another database"


@dataclass
class Server:
    """A server that refuses whoever listens as long as something is `wrong`."""

    wrong: list[TapeError]
    sent: anyio.Event = field(default_factory=anyio.Event)
    tries: int = 0

    async def listen(self, channels: Sequence[str]) -> AsyncGenerator[tuple[str, str], None]:
        self.tries += 1
        if self.wrong:
            raise self.wrong.pop(0)
        yield "", ""
        await self.sent.wait()
        yield channels[0], "7"
        await anyio.sleep_forever()


async def test_who_hears_nothing_after_a_switchover_hears_again_once_the_url_leads_there() -> None:
    clock, store = ManualClock(), MemoryStore()
    server = Server([StoreUnusable(ELSEWHERE)] * 3)
    bus, done = Bus(store, clock, server.listen), anyio.Event()
    heard: list[frozenset[int]] = []

    def hear(numbers: frozenset[int]) -> None:
        heard.append(numbers)
        done.set()

    bus.on("own", hear)
    async with anyio.create_task_group() as group:
        with capture_logs() as logs:
            group.start_soon(bus.run)
            for _minute in range(3):
                await clock.advance(UNUSABLE_SECONDS)
            await done.wait()
        server.sent.set()
        done = anyio.Event()
        await done.wait()
        group.cancel_scope.cancel()
    assert heard == [frozenset(), frozenset({7})]
    assert server.tries == 4
    assert [one["why"] for one in logs if one["event"] == "bus.lost"] == [ELSEWHERE]
    await store.close()


async def test_why_nothing_is_heard_is_logged_once_for_each_reason() -> None:
    clock, store = ManualClock(), MemoryStore()
    away = [StoreUnavailable("refused")] * 3
    server = Server([*away, StoreUnusable(ELSEWHERE), *away[:1]])
    bus = Bus(store, clock, server.listen)
    bus.on("own", lambda _numbers: group.cancel_scope.cancel())
    with capture_logs() as logs:
        async with anyio.create_task_group() as group:
            group.start_soon(bus.run)
            while not group.cancel_scope.cancel_called:
                await clock.advance(UNUSABLE_SECONDS)
    said = [one["why"] for one in logs if one["event"] == "bus.lost"]
    assert said == ["refused", ELSEWHERE, "refused"]
    await store.close()
