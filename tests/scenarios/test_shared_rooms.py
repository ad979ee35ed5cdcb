"""People on the pages of two ingress processes, whom a third process answers."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from gateway.supervision.published import Published
from tape.entry import dump
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.visitor import Visitor, visit
from tests.scenarios.shared import running

pytestmark = pytest.mark.postgresql


def shown(visitor: Visitor) -> list[str]:
    """Return the messages that came live, in their order."""
    return [event["message"]["text"] for event in visitor.of_type("message")]


async def test_two_people_at_two_processes_see_one_answer_and_stop_another(
    model: FakeOpenAI, database: str, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with (
        running(database, tmp_path, model, "ingress", "ingress", "worker") as (one, two, _worker),
        visit(one.url, "Alice") as (alice,),
        visit(two.url, "Bob") as (bob,),
    ):
        model.enqueue(Text(("Half ", "and half."), gate=gate))
        model.enqueue(Text(("Never ", "done."), gate=asyncio.Event()))
        first = await alice.say("What is it?")
        for visitor in (alice, bob):
            assert (await visitor.draft(first))["text"] == "Half "
        async with visit(one.url, "Bob") as (again,):  # in the middle, elsewhere
            assert (await again.draft(first))["text"] == "Half "
            gate.set()
            for visitor in (alice, bob, again):
                assert (await visitor.answer(first))["text"] == "Half and half."
            assert shown(again) == ["Half and half."]
        second = await alice.say("And what else?")
        draft = await bob.draft(second)
        assert await bob.stop(draft["id"])
        for visitor in (alice, bob):
            stopped = (await visitor.answer(second))["text"]
            assert stopped == "Never\n\n*Stopped by Bob.*"
            said = ["What is it?", "Half and half.", "And what else?", stopped]
            assert shown(visitor) == said


async def test_an_answer_outlives_the_process_where_it_was_asked(
    model: FakeOpenAI, database: str, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    async with (
        running(database, tmp_path, model, "ingress", "ingress", "worker") as (one, two, _worker),
        visit(two.url, "Bob") as (bob,),
    ):
        model.enqueue(Text(("Half ", "and half."), gate=gate))
        async with visit(one.url, "Alice") as (alice,):
            asked = await alice.say("What is it?")
            await alice.draft(asked)
            one.end.set()
            await one.ended.wait()
        await bob.until(lambda event: event["type"] == "people" and len(event["people"]) == 2)
        bob.events.clear()
        async with visit(two.url, "Alice") as (alice,):
            assert (await alice.draft(asked))["text"] == "Half "
            gate.set()
            for visitor in (alice, bob):
                assert (await visitor.answer(asked))["text"] == "Half and half."
        assert shown(bob) == ["Half and half."]


async def test_a_session_and_a_count_of_one_process_are_those_of_the_other(
    model: FakeOpenAI, database: str, tmp_path: Path
) -> None:
    async with (
        running(database, tmp_path, model, "ingress", "all") as (one, two),
        visit(two.url, "Bob") as (bob,),
        httpx2.AsyncClient(base_url=two.url, trust_env=False) as client,
    ):
        async with visit(one.url, "Alice") as (alice,):
            await alice.answer(await alice.say("ping"))
            await bob.until(lambda event: event["type"] == "people" and len(event["people"]) == 2)
            bob.events.clear()
            gone = {"person": alice.id}
            ended = await client.post("/api/sessions/end", json=gone, headers=bob.cookie)
            assert ended.json() == {"ended": True}
            await bob.until(lambda event: event["type"] == "people" and len(event["people"]) == 1)
        counted = Published(two.gateway.services, two.gateway.status)
        here = Published(one.gateway.services, one.gateway.status)
        counted.take([{"state": dump(here.own()), "alive": True, "is_own_home": False}])
        text = (await client.get("/metrics")).text
    assert 'tapeway_messages_total{channel="web",outcome="new"} 1.0' in text
    assert 'tapeway_turns_total{channel="web",outcome="done"} 1.0' in text
