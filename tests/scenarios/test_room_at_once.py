"""Enter asks at once on the page, and what somebody adds to a waiting question is asked with it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.app import Gateway
from gateway.explain.explainer import Explainer
from tests.clock import ManualClock
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of, settled
from tests.visitor import visit

pytestmark = pytest.mark.anyio


async def row_of(gateway: Gateway, message_id: str) -> str:
    """Return the number of a message's row, as explanations name it."""
    values = {"account_id": "web", "chat_id": "lobby", "message_id": message_id, "limit": 1}
    (row,) = await gateway.services.store.select("ledger.told_chat_message", values)
    return f"in-{row['id']}"


async def test_enter_asks_at_once_while_platforms_wait_for_the_rest_of_a_burst(
    tmp_path: Path,
) -> None:
    clock, gate = ManualClock(), asyncio.Event()
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, clock=clock, BUFFER__DEBOUNCE="60") as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        server.enqueue(Text(("It is ", "blue."), gate=gate))
        asked = await alice.say("What color is it?")
        assert (await alice.draft(asked))["text"] == "It is "  # and no time has passed
        gate.set()
        assert (await alice.answer(asked))["text"] == "It is blue."


async def test_the_explanation_of_each_message_names_those_that_it_was_asked_with(
    tmp_path: Path,
) -> None:
    gate = asyncio.Event()
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        server.enqueue(Text(("The first ", "answer."), gate=gate), Text(("To both.",)))
        first = await alice.say("What color is the kettle?")
        await alice.draft(first)
        second = await alice.say("And the lid of it?", reply_to=first)
        third = await alice.say("And its handle?", reply_to=first)
        await gateway.taken_in()
        gate.set()
        assert (await alice.answer(third))["text"] == "To both."
        await settled(gateway)
        assert len(server.requests) == 2
        explainer = Explainer(gateway.services.store, gateway.services.settings)
        story = [await explainer.explain(one) for one in (first, second, third)]
        told = [[line.says for line in one.lines if line.about == "together"] for one in story]
        number = {one: await row_of(gateway, one) for one in (second, third)}
        assert told == [
            [],
            [f"asked together with {number[third]}, and answered at once with it"],
            [f"asked together with {number[second]}, and answered at once with it"],
        ]
        answers = [event["message"]["text"] for event in alice.of_type("message")]
        assert answers.count("To both.") == 1
