"""How many messages wait to be placed, and for how long: in health and in the console."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.clock import ManualClock
from tests.kit.doors import Door, held, talk

TOKEN = "a-token-of-sixteen-characters"
NOTE = "4 messages of running channels wait to be placed on their tapes, the oldest for 90 s"


async def seen(group: GroupChat, path: str) -> dict[str, Any]:
    """Return what the owner of the instance reads."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    url = group.gateway.url
    async with httpx2.AsyncClient(base_url=url, trust_env=False, headers=headers) as client:
        found: dict[str, Any] = (await client.get(path)).json()
    return found


async def test_health_and_the_console_say_how_many_messages_wait_and_for_how_long(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, clock = Door(), ManualClock()
    async with open_group(tmp_path, model, door, clock=clock, HTTP__TOKEN=TOKEN) as group:
        await held(group, door, *talk("-2", range(1, 4)))
        clock.jump(timedelta(seconds=90))
        await group.gateway.parts.intake.watch.look()
        health = await seen(group, "/health/ready")
        console = await seen(group, "/api/console/channels")
        door.opened.set()
        await group.gateway.taken_in()
        await group.gateway.parts.intake.watch.look()
        after = await seen(group, "/health/ready")
        again = await seen(group, "/api/console/channels")
    assert health["notes"] == [NOTE]
    assert console["waiting"] == {"messages": 4, "seconds": 90}
    assert (after.get("notes"), again["waiting"]) == (None, None)
