"""What the looks for changes cost, and that they still notice what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.console.chats import WAITS_TOO_LONG
from gateway.console.pulse import CHAT, Beats, Pulse
from gateway.console.reads import ConsoleReads
from gateway.services import Services
from tape.entry import message, utc_iso
from tape.unit_of_work import Row, Unit
from tests.gateway.console.scene import GROUP, MEMBER, OTHER_GROUP, LeapingClock, Scene, scene_of
from tests.kit.gateways import every, tape_of


class CountedReads(ConsoleReads):
    """Reads that are counted by their statement."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.asked: Counter[str] = Counter()
        self._changed = anyio.Event()

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Row]:
        self.asked[statement] += 1
        self._changed.set()
        self._changed = anyio.Event()
        return await super().select(statement, values)

    async def looks(self, more: int) -> None:
        """Wait until the pulse has looked some more times."""
        wanted = self.asked["ledger.held_by_chat"] + more
        while self.asked["ledger.held_by_chat"] < wanted:
            await self._changed.wait()


async def hears(beats: Beats, session_id: str) -> None:
    """Wait until the listener is notified of a chat."""
    heard: set[tuple[str, str]] = set()
    while (CHAT, session_id) not in heard:
        heard |= {(one.topic, one.session_id) for one in (await beats.receive()).changes}


@pytest.mark.parametrize("internals", [every(console_look=0.01)], ids=["hasty"])
async def test_sessions_are_read_only_when_there_may_be_a_new_one(scene: Scene) -> None:
    await scene.say(MEMBER, "first")
    fork = await tape_of(scene.gateway, f"plain:{GROUP}").fork()
    await fork.append(message("user", "what if?"))
    await scene.gateway.services.store.append("of no session", [message("user", "hello")])
    reads = CountedReads(scene.gateway.services)
    pulse = Pulse(scene.gateway.services, reads, scene.gateway.status)
    async with pulse.listen() as beats:
        await reads.looks(2)
        before = reads.asked["ledger.sessions"]
        await fork.append(message("user", "and then?"))
        await reads.looks(3)
        assert reads.asked["ledger.sessions"] == before == 1
        await scene.say(MEMBER, "in a new chat", OTHER_GROUP)
        await hears(beats, f"plain:{OTHER_GROUP}")
        await scene.say(MEMBER, "in a known one")
        await hears(beats, f"plain:{GROUP}")
    pulse.close()
    await reads.close()


async def test_a_chat_that_waits_too_long_is_published_by_itself(
    tmp_path: Path, clock: LeapingClock
) -> None:
    hasty = every(console_look=0.01)
    async with scene_of(tmp_path, clock=clock, internals=hasty) as scene:
        await scene.say(MEMBER, "first")
        services = scene.gateway.services
        row: dict[str, Any] = dict.fromkeys(("alt_id", "message_id", "thread_id"), "")
        row |= {"account_id": "plain", "ext_id": "lost", "chat_id": GROUP}
        row["session_id"] = f"plain:{GROUP}"
        unit = Unit()  # a question that nobody takes
        unit.run("ledger.accept", **row, payload="{}", received_at=utc_iso(clock.now()))
        await services.store.commit(unit)
        reads = CountedReads(services)
        pulse = Pulse(services, reads, scene.gateway.status)
        async with pulse.listen() as beats:
            await beats.receive()
            await reads.looks(2)
            assert beats.statistics().current_buffer_used == 0
            clock.ahead += WAITS_TOO_LONG + timedelta(seconds=1)
            await hears(beats, f"plain:{GROUP}")
            await reads.looks(2)
            assert beats.statistics().current_buffer_used == 0
        pulse.close()
        await reads.close()
