"""What the page draws beside a room's messages: its lanes, and its splices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2

from tests.fakes.openai.script import Text, context_length_exceeded
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import visit


async def test_a_room_s_track_has_the_lanes_of_its_messages_and_its_splices(tmp_path: Path) -> None:
    async with gateway_of(tmp_path) as gateway, visit(gateway.url, "Alice") as (alice,):
        asked = await alice.say("hello")
        answer = await alice.answer(asked)
        await alice.answer(await alice.say(",handoff tea is green"))
        await alice.answer(await alice.say(",reset"))
        await settled(gateway)
        async with httpx2.AsyncClient(
            base_url=gateway.url, trust_env=False, headers=alice.cookie
        ) as client:
            path = "/api/rooms/lobby/track"
            track: dict[str, Any] = (await client.get(path)).json()
            set_at = track["splices"][0]
            await alice.answer(await alice.say(f",rewind {set_at['id']}"))
            later: dict[str, Any] = (await client.get(path, params={"newest": "20"})).json()
            none: dict[str, Any] = (await client.get("/api/rooms/attic/track")).json()
    assert track["lanes"][asked] == track["lanes"][answer["id"]]
    assert [one["kind"] for one in track["splices"]] == ["checkpoint", "reset"]
    assert set_at["title"]
    assert [one["kind"] for one in later["splices"]] == ["checkpoint", "reset", "rewind"]
    assert later["splices"][-1]["title"] == set_at["title"]
    assert none == {"lanes": {}, "splices": []}


async def test_what_was_set_aside_to_make_room_is_no_checkpoint_of_anybody(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway, visit(gateway.url, "Alice") as (alice,):
        model.enqueue(Text(("before",)), context_length_exceeded(), Text(("after all",)))
        await alice.answer(await alice.say("earlier"))
        await alice.answer(await alice.say("too much"))
        await settled(gateway)
        async with httpx2.AsyncClient(
            base_url=gateway.url, trust_env=False, headers=alice.cookie
        ) as client:
            track = (await client.get("/api/rooms/lobby/track")).json()
    assert [one["kind"] for one in track["splices"]] == ["aside"]
