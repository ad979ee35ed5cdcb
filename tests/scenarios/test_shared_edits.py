"""Edits that ask where several processes share the work: one of them carries each out, once."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Author, InboundMessage
from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import settled
from tests.kit.waiting import Patience
from tests.scenarios.shared import KEPT, answered, by_holder, gateways, overtake, said

pytestmark = pytest.mark.postgresql


def aside(text: str, number: int) -> InboundMessage:
    return replace(said(text, number), addressed=False, why="said to the room")


def edit(text: str, number: int) -> InboundMessage:
    new = said(text, number)
    return replace(new, kind="edit", ext_id=f"{new.ext_id}/edit", edited=new.date)


@pytest.mark.parametrize("known", [True, False])
async def test_an_edit_that_two_gateways_accept_asks_once(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, *, known: bool
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        await both[0].parts.intake.accept([said("one", 1)])
        await answered(both[0], "lobby", 1)
        first, second = by_holder(both)
        if known:
            await first.parts.intake.accept([aside("two", 2)])
        await second.parts.intake.accept([edit("@bot two", 2)])
        await first.parts.intake.accept([edit("@bot two", 2)])
        entries = await answered(first, "lobby", 2)
        assert "@bot two" in str(model.requests[-1].body)
        assert len(model.requests) == 2
        assert sum(entry.name == "turn.start" for entry in entries) == 2


async def test_an_edit_asks_in_the_process_that_has_taken_the_session_over(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        await both[0].parts.intake.accept([said("one", 1), aside("two", 2)])
        await answered(both[0], "lobby", 1)
        first, second = by_holder(both)
        await overtake(first, second)
        await first.parts.intake.accept([edit("@bot two", 2)])
        entries = await answered(second, "lobby", 2)
        assert "@bot two" in str(model.requests[-1].body)
        assert sum(entry.name == "turn.start" for entry in entries) == 2


@pytest.mark.parametrize("taken_over", [False, True])
async def test_an_edit_into_a_command_that_two_gateways_accept_is_run_once(
    model: FakeOpenAI, tmp_path: Path, tape_url: str, *, taken_over: bool
) -> None:
    gate, late, one_at_a_time = asyncio.Event(), asyncio.Event(), {"TURN__PARALLEL_PER_CHAT": "1"}
    # Who takes over asks once more, and the second question must wait until it is edited. The turn
    # of who lost the session ends last: until then it reads the tape as it knew it.
    gates = [late, gate] if taken_over else [gate]
    model.enqueue(*[Text(("one",), gate=one) for one in gates])
    async with gateways(2, tmp_path, tape_url, model, **one_at_a_time, **KEPT) as both:
        await both[0].parts.intake.accept([said("one", 1)])
        await model.wait_for_requests(1)
        first, second = by_holder(both)
        await second.parts.intake.accept([replace(said("two", 2), sender=Author("dan", "Dan"))])
        command = replace(edit("/help", 2), sender=Author("dan", "Dan"), command=",help")
        if taken_over:
            await overtake(first, second)
        for gateway in (second, first):
            await gateway.parts.intake.accept([command])
        await ended(first, "dropped", 1)
        gate.set()
        await ended(first, "done", 2)
        late.set()
        entries = await settled(first)
        assert [entry.meta["text"] for entry in entries if entry.meta.get("command")] == ["/help"]
        told = [one for one in entries if "I answer these commands" in str(one.payload)]
        assert len(told) == 1
        assert "two" not in str([request.body["messages"][1:] for request in model.requests])


async def ended(gateway: Gateway, status: str, count: int) -> None:
    """Wait until so many messages have a status."""
    patience = Patience("the messages have ended")
    values = {"status": status, "limit": 9}
    while len(await gateway.services.store.select("ledger.list_inbox", values)) < count:
        await patience.pause()
