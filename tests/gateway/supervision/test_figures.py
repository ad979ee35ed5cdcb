"""What an answer was made of, as a room's page asks it."""

from __future__ import annotations

import httpx2
import pytest

from gateway.app import Gateway
from tape.deletions import deletion
from tests.fakes.openai.script import Call, Text, ToolCalls, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import settled, tape_of
from tests.kit.visitor import Visitor, visit


async def why(url: str, visitor: Visitor, answer: str, room: str = "lobby") -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url, trust_env=False, headers=visitor.cookie) as client:
        return await client.get(f"/api/rooms/{room}/why", params={"answer": answer})


@pytest.mark.settings(AGENT__PRICE_INPUT="10", AGENT__PRICE_OUTPUT="100")
async def test_an_answer_s_figures_say_what_was_read_called_and_used(
    gateway: Gateway, model: FakeOpenAI
) -> None:
    async with visit(gateway.url, "Alice") as (alice,):
        model.enqueue(Text(("One.",)))
        first = await alice.say("the kettle is blue")
        answered = await alice.answer(first)
        call = Call("a", "tape_search", '{"query":"kettle"}')
        model.enqueue(
            ToolCalls((call,), usage=Usage(100, 10)), Text(("Blue.",), usage=Usage(200, 5, 50))
        )
        asked = await alice.say("which color is it?")
        answer = await alice.answer(asked)
        entries = await settled(gateway)
        found = (await why(gateway.url, alice, answer["id"])).json()
        assert found["messages"] == [first, answered["id"], asked]
        assert found["read"] == 3
        assert found["tools"] == {"tape.search": 1}
        assert (found["status"], found["model"], found["calls"]) == ("done", "model", 2)
        assert found["tokens"] == [300, 50, 15]
        assert found["cost"] == pytest.approx(0.0045)
        assert found["currency"] == "USD"
        assert found["estimated"] is False
        assert found["seconds"] >= 0
        assert found["session"] == "web:lobby"

        # What was deleted since then was read, but is not shown.
        number = next(entry.id for entry in entries if entry.meta.get("message_id") == first)
        await tape_of(gateway, "web:lobby").append(deletion(number, first))
        found = (await why(gateway.url, alice, answer["id"])).json()
        assert found["messages"] == [answered["id"], asked]
        assert found["read"] == 3


async def test_an_answer_whose_price_is_unknown_does_not_cost_nothing(
    gateway: Gateway, model: FakeOpenAI
) -> None:
    model.enqueue(Text(("One.",), usage=Usage(100, 10)))
    async with visit(gateway.url, "Alice") as (alice,):
        answer = await alice.answer(await alice.say("hello"))
        await settled(gateway)
        found = (await why(gateway.url, alice, answer["id"])).json()
    assert (found["cost"], found["unpriced"], found["tokens"]) == (None, True, [100, 0, 10])


async def test_what_is_no_answer_of_the_room_has_no_figures(gateway: Gateway) -> None:
    async with visit(gateway.url, "Alice") as (alice,):
        answer = await alice.answer(await alice.say("hello"))
        for other, room in ((answer["id"], "attic"), ("t-1:0", "lobby"), ("", "lobby")):
            refused = await why(gateway.url, alice, other, room)
            assert refused.status_code == 404
            assert refused.json() == {"error": "This is no answer of this room."}
