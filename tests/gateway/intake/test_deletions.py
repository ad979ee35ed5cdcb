"""Deletions, as the tape and the ledger tell them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import InboundMessage
from tape.deletions import DELETED_TEXT
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, names, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel
from tests.kit.waiting import Patience

SECOND = replace(MESSAGE, ext_id="-100/2", message_id="2", text="the second one")
ASIDE = replace(
    MESSAGE, ext_id="-100/3", message_id="3", text="at four", addressed=False, why="said to all"
)


def deletion(of: InboundMessage) -> InboundMessage:
    gone = {"text": "", "addressed": False, "why": ""}
    return replace(of, kind="delete", ext_id=f"{of.ext_id}/deleted", **gone)  # type: ignore[arg-type]


@pytest.mark.parametrize("together", [True, False])
async def test_a4_a_question_that_waits_and_is_deleted_is_not_asked(
    model: FakeOpenAI, tmp_path: Path, together: bool
) -> None:
    channel, gate = PlainChannel(), asyncio.Event()
    async with gateway_of(tmp_path, model, Brings(channel), ACCESS__MODE="open") as gateway:
        model.enqueue(Text(("one",), gate=gate))
        await channel.host.accept([MESSAGE])
        await model.wait_for_requests(1)
        if together:
            await channel.host.accept([SECOND, deletion(SECOND)])
        else:
            await channel.host.accept([SECOND])
            await gateway.taken_in()
            await channel.host.accept([deletion(SECOND)])
        await gateway.taken_in()
        gate.set()
        entries = await settled(gateway, "plain:-100")
    assert len(model.requests) == 1
    assert names(entries).count("turn.start") == 1
    assert "message.delete" in names(entries)


async def test_a4_a_deleted_question_stays_unasked_after_a_restart(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    more = {"ACCESS__MODE": "open"}
    waits = {"BUFFER__DEBOUNCE": "60", "BUFFER__MAX_WAIT": "60"}
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), **waits, **more) as gateway:
        await channel.host.accept([MESSAGE])
        await channel.host.accept([deletion(MESSAGE)])
        await gateway.taken_in()
    async with gateway_of(tmp_path, model, Brings(PlainChannel()), **more) as gateway:
        await settled(gateway, "plain:-100")
    assert model.requests == []


async def test_a4_what_was_said_to_the_group_and_deleted_is_not_taken(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), ACCESS__MODE="open") as gateway:
        await channel.host.accept([ASIDE, deletion(ASIDE), MESSAGE])
        await settled(gateway, "plain:-100")
    assert "at four" not in str(model.requests[0].body)


async def test_a4_what_was_answered_and_deleted_leaves_the_next_view(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel), ACCESS__MODE="open") as gateway:
        await channel.host.accept([replace(MESSAGE, text="my number is plum")])
        await settled(gateway, "plain:-100")
        await channel.host.accept([deletion(MESSAGE)])
        await settled(gateway, "plain:-100")
        await channel.host.accept([SECOND])
        entries = await settled(gateway, "plain:-100")
    assert len(model.requests) == 2
    said = [m["content"] for m in model.requests[1].body["messages"] if m["role"] == "user"]
    assert DELETED_TEXT in str(said)
    assert "plum" not in str(said)
    assert "plum" in str([entry.payload for entry in entries])


async def test_a_deletion_of_what_nobody_knows_tells_nothing(tmp_path: Path) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE="open") as gateway:
        await channel.host.accept([deletion(ASIDE)])
        entries = await settled(gateway, "plain:-100")
        (row,) = await gateway.services.store.select("ledger.inbox_row", {"id": 1})
    assert entries == []
    assert row["status"] == "taped"


async def test_a4_a_question_that_is_deleted_while_it_is_steered_ends_nothing(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel, gate = PlainChannel(), asyncio.Event()
    more = {"ACCESS__MODE": "open", "TURN__OVERLAP": "steer"}
    async with gateway_of(tmp_path, model, Brings(channel), **more) as gateway:
        model.enqueue(Text(("one",), gate=gate))
        await channel.host.accept([MESSAGE])
        await model.wait_for_requests(1)
        await channel.host.accept([SECOND])
        await gateway.taken_in()
        await channel.host.accept([deletion(SECOND)])
        await gateway.taken_in()
        gate.set()
        entries = await settled(gateway, "plain:-100")
    assert [post.text for post in channel.posts] == ["one"]
    assert names(entries).count("turn.end") == 1


async def test_a4_a_message_of_a_burst_that_is_deleted_as_its_turn_begins_takes_no_other_along(
    model: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = PlainChannel()
    more = {"ACCESS__MODE": "open", "BUFFER__DEBOUNCE": "0.05"}
    async with gateway_of(tmp_path, model, Brings(channel), **more) as gateway:
        # Its row is dropped, and whoever is about to ask it does not know that yet.
        monkeypatch.setattr(gateway.parts.dispatcher, "deleted", lambda _row: None)
        await channel.host.accept([MESSAGE, SECOND, deletion(SECOND)])
        await settled(gateway, "plain:-100")
        patience = Patience("the answer is posted")
        while not channel.posts:
            await patience.pause()
        entries = await settled(gateway, "plain:-100")
    assert len(channel.posts) == 1
    assert channel.posts[0].reply_to == MESSAGE.message_id
    assert names(entries).count("turn.start") == 1


async def test_a4_a_deletion_finds_its_message_behind_an_edit_that_came_too_early(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    early = replace(ASIDE, kind="edit", ext_id=f"{ASIDE.ext_id}/edit", text="at five")
    async with gateway_of(tmp_path, model, Brings(channel), ACCESS__MODE="open") as gateway:
        for said in (early, ASIDE, deletion(ASIDE), MESSAGE):
            await channel.host.accept([said])
        await settled(gateway, "plain:-100")
    assert "at four" not in str(model.requests[0].body)
