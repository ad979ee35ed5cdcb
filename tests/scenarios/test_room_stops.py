"""People in a room stop answers: their own, those of others, and what still waits."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from channels.errors import InboundRefused
from channels.message import Author, InboundMessage
from gateway.app import Gateway
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import visit

STRANGER = InboundMessage(
    channel="web",
    chat_id="lobby",
    chat_kind="group",
    ext_id="lobby/stop",
    message_id="stop",
    sender=Author("w-mallory", "Mallory"),
    text=",stop",
    date="2026-01-02T03:04:05+00:00",
)


async def test_c4_stop_on_the_page_ends_one_s_own_newest_answer_and_is_no_message(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(*(Text((f"part {n} ", "never"), gate=asyncio.Event()) for n in (1, 2)))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            first = await alice.say("one")
            await alice.draft(first)
            other = await bob.say("@Tapeway and another thing entirely")
            await bob.draft(other)
            assert await alice.stop()
            assert (await alice.answer(first))["text"] == "part 1\n\n*Stopped by Alice.*"
            assert not await alice.stop()
            assert [e for e in bob.of_type("message") if e["message"]["reply_to"] == other] == []
            assert await bob.stop()
            stopped = await bob.answer(other)
            ids = (alice.id, bob.id)
        entries = await settled(gateway)
    assert (stopped["role"], stopped["text"]) == ("agent", "part 2\n\n*Stopped by Bob.*")
    ends = [entry.payload["data"] for entry in entries if entry.name == "turn.end"]
    assert [(end["status"], end["by"]) for end in ends] == [
        ("stopped", ids[0]),
        ("stopped", ids[1]),
    ]
    asked = [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
    assert asked == ["one", "@Tapeway and another thing entirely"]


async def test_c4_somebody_else_s_answer_ends_by_its_own_stop_and_for_admins_only(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    model.enqueue(Text(("half ", "never"), gate=asyncio.Event()))
    async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
        asked = await alice.say("one")
        draft = await alice.draft(asked)
        host = gateway.channels["web"].host
        with pytest.raises(InboundRefused, match="Only admins"):
            await host.stop_answer(STRANGER, draft["id"])
        assert not await bob.stop()
        assert await bob.stop(draft["id"])
        assert (await alice.answer(asked))["text"] == "half\n\n*Stopped by Bob.*"


async def test_c4_stop_takes_back_a_question_that_waits(model: FakeOpenAI, tmp_path: Path) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model, TURN__PARALLEL_TOTAL="1") as gateway:
        model.enqueue(Text(("first ", "answer"), gate=gate))
        async with visit(gateway.url, "Alice", "Bob") as (alice, bob):
            first = await alice.say("one")
            await alice.draft(first)
            waits = await bob.say("@Tapeway two")
            await gateway.taken_in()
            assert await bob.stop()
            assert (await bob.answer(waits))["text"] == "Stopped."
            gate.set()
            assert (await alice.answer(first))["text"] == "first answer"
        await settled(gateway)
    assert len(model.requests) == 1
