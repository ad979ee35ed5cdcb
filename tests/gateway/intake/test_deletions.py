"""Deletions, as the tape and the ledger tell them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from channels.message import InboundMessage
from gateway.intake.editing.versions import GONE
from tape.deletions import DELETED_TEXT
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
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
    gate = asyncio.Event()
    async with open_group(tmp_path, model) as group:
        model.enqueue(Text(("one",), gate=gate))
        await group.accept(MESSAGE)
        await model.wait_for_requests(1)
        if together:
            await group.accept(SECOND, deletion(SECOND))
        else:
            await group.accept(SECOND)
            await group.gateway.taken_in()
            await group.accept(deletion(SECOND))
        await group.gateway.taken_in()
        gate.set()
        entries = await group.settled()
    assert len(model.requests) == 1
    assert names(entries).count("turn.start") == 1
    assert "message.delete" in names(entries)


async def test_a4_a_deleted_question_stays_unasked_after_a_restart(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    more = {"ACCESS__MODE": "open"}
    waits = {"BUFFER__DEBOUNCE": "60", "BUFFER__MAX_WAIT": "60"}
    async with open_group(tmp_path, model, **waits) as group:
        await group.accept(MESSAGE)
        await group.accept(deletion(MESSAGE))
        await group.gateway.taken_in()
    async with gateway_of(tmp_path, model, Brings(PlainChannel()), **more) as gateway:
        await settled(gateway, "plain:-100")
    assert model.requests == []


async def test_a4_what_was_said_to_the_group_and_deleted_is_not_taken(group: GroupChat) -> None:
    await group.hear(ASIDE, deletion(ASIDE), MESSAGE)
    assert "at four" not in str(group.model.requests[0].body)


async def test_a4_what_was_answered_and_deleted_leaves_the_next_view(group: GroupChat) -> None:
    await group.hear(replace(MESSAGE, text="my number is plum"))
    await group.hear(deletion(MESSAGE))
    entries = await group.hear(SECOND)
    assert len(group.model.requests) == 2
    said = [m["content"] for m in group.model.requests[1].body["messages"] if m["role"] == "user"]
    assert DELETED_TEXT in str(said)
    assert "plum" not in str(said)
    assert "plum" in str([entry.payload for entry in entries])


async def test_a_deletion_of_what_nobody_knows_tells_nothing(group: GroupChat) -> None:
    entries = await group.hear(deletion(ASIDE))
    (row,) = await group.gateway.services.store.select("ledger.inbox_row", {"id": 1})
    assert entries == []
    assert row["status"] == "taped"


async def test_a4_a_question_that_is_deleted_while_it_is_steered_ends_nothing(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    more = {"TURN__OVERLAP": "steer"}
    async with open_group(tmp_path, model, **more) as group:
        model.enqueue(Text(("one",), gate=gate))
        await group.accept(MESSAGE)
        await model.wait_for_requests(1)
        await group.accept(SECOND)
        await group.gateway.taken_in()
        await group.accept(deletion(SECOND))
        await group.gateway.taken_in()
        gate.set()
        entries = await group.settled()
    assert [post.text for post in group.posts] == ["one"]
    assert names(entries).count("turn.end") == 1


@pytest.mark.settings(BUFFER__DEBOUNCE="0.05")
async def test_a4_a_message_of_a_burst_that_is_deleted_as_its_turn_begins_takes_no_other_along(
    group: GroupChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its row is dropped, and whoever is about to ask it does not know that yet.
    monkeypatch.setattr(group.gateway.parts.dispatcher, "deleted", lambda _row: None)
    await group.hear(MESSAGE, SECOND, deletion(SECOND))
    patience = Patience("the answer is posted")
    while not group.posts:
        await patience.pause()
    entries = await group.settled()
    assert len(group.posts) == 1
    assert group.posts[0].reply_to == MESSAGE.message_id
    assert names(entries).count("turn.start") == 1


async def test_a4_a_deletion_finds_its_message_behind_an_edit_that_came_too_early(
    group: GroupChat,
) -> None:
    early = replace(ASIDE, kind="edit", ext_id=f"{ASIDE.ext_id}/edit", text="at five")
    for said in (early, ASIDE, deletion(ASIDE), MESSAGE):
        await group.hear(said)
    assert "at four" not in str(group.model.requests[0].body)


@pytest.mark.parametrize("said", [MESSAGE, replace(MESSAGE, text=",help", command=",help"), ASIDE])
@pytest.mark.parametrize("backlog", [False, True])
async def test_a4_a_message_that_comes_after_its_deletion_is_not_taken(
    group: GroupChat, said: InboundMessage, *, backlog: bool
) -> None:
    now = datetime.now(UTC).isoformat()
    late = replace(said, date=now, backlog=backlog)
    entries = await group.hear_each(deletion(late), late, replace(late, ext_id="-100/again"))
    assert (group.posts, group.model.requests) == ([], [])
    assert said.text not in str([entry.payload for entry in entries])
    dropped = [one.payload["data"]["why"] for one in entries if one.name == "message.dropped"]
    assert dropped == [GONE, GONE]
    await group.hear(SECOND)
    assert said.text not in str(group.model.requests[0].body)


async def test_a4_a_message_that_is_caught_up_with_after_a_restart_stays_deleted(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with open_group(tmp_path, model) as group:
        await group.hear(deletion(MESSAGE))
    async with open_group(tmp_path, model) as group:
        await group.hear(replace(MESSAGE, backlog=True), SECOND)
    assert MESSAGE.text not in str(model.requests[0].body)
    assert len(model.requests) == 1


async def test_a4_an_edit_of_a_message_that_was_deleted_before_it_came_asks_nothing(
    group: GroupChat,
) -> None:
    edit = replace(MESSAGE, kind="edit", ext_id="-100/1/edit", edited=MESSAGE.date)
    await group.hear_each(deletion(MESSAGE), edit, MESSAGE)
    assert group.model.requests == []


@pytest.mark.parametrize(("gone", "left"), [(0, "two"), (1, "one")])
async def test_a4_of_a_message_in_parts_only_the_part_that_was_deleted_is_lacking(
    group: GroupChat, gone: int, left: str
) -> None:
    group.channel.traits = replace(group.channel.traits, join_wait=0.1)
    parts = [
        replace(MESSAGE, ext_id=f"-100/{n}", message_id=f"{n}", text=text, joins="a")
        for n, text in ((1, "one"), (2, "two"))
    ]
    await group.hear(deletion(parts[gone]))
    await group.hear(*parts)
    (asked,) = [str(one.body["messages"][-1]["content"]) for one in group.model.requests]
    assert asked.endswith(f"] {left}")
    assert len(group.posts) == 1
