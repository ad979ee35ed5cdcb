"""Thousands of messages wait: nothing is lost or doubled, each session keeps its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from channels.message import Author, InboundMessage, Media
from gateway.app import access_admin
from tape.entry import Entry
from tape.unit_of_work import Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.doors import FIRST, Door, held, talk, texts_of
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import MESSAGE, PlainChannel


async def test_a_question_goes_before_the_talk_of_other_chats_and_after_that_of_its_own(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, loud = Door(), talk("-2", range(1, 1001))
    others = [one for chat in range(10, 60) for one in talk(f"-{chat}", [1])]
    own = talk("-3", range(1, 51))
    asked = replace(MESSAGE, chat_id="-3", ext_id="-3/99", message_id="99", text="who is right?")
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *loud, *others, *own, asked)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert door.texts[1:52] == [*[one.text for one in own], "who is right?"]
    assert texts_of(entries) == [one.text for one in loud]
    assert len(door.texts) == len(set(door.texts)) == 1 + 1000 + 50 + 50 + 1


async def test_groups_that_each_ask_once_are_not_held_up_by_a_flood_of_mentions_in_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door = Door()
    flood = [
        replace(one, addressed=True, command=",help", sender=Author("9", "Eve"))
        for one in talk("-2", range(1, 301))
    ]
    asked = [
        replace(one, addressed=True, command=",help")
        for chat in range(100, 150)
        for one in talk(f"-{chat}", [1])
    ]
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *flood, *asked)
        door.opened.set()
        await group.gateway.taken_in()
    behind = max(door.texts.index(one.text) for one in asked)
    assert behind <= 1 + 2 * len(asked) + 1
    assert [text for text in door.texts if text.startswith("-2 ")] == [one.text for one in flood]


async def test_what_is_dropped_while_it_waits_is_not_written(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, said = Door(), talk("-2", range(1, 901))
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *said)
        inbox, unit = group.gateway.services.ledger.inbox, Unit()
        rows = [row for row in await inbox.open_rows() if row.message.text.endswith("7")]
        inbox.end(unit, rows, "dropped", "somebody asked for that")
        await group.gateway.services.store.commit(unit)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert len(rows) == 90
    assert texts_of(entries) == [one.text for one in said if not one.text.endswith("7")]


async def test_what_a_chat_said_before_it_was_opened_leaves_a_refusal_without_text(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, before = Door(), talk("-2", range(1, 401))
    rules = {"ACCESS__MODE": "paired", "ACCESS__ALLOW": "plain:-1"}
    async with open_group(tmp_path, model, door, **rules) as group:
        await held(group, door, *before)
        await access_admin(group.gateway).grant("plain:-2")
        await group.accept(*talk("-2", [500]))
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(entries) == ["-2 no 500"]
    assert [entry.name for entry in entries].count("access.refused") == 400
    assert "-2 no 7" not in str([(entry.payload, entry.meta) for entry in entries])


async def test_a_groups_new_id_waits_behind_its_change_while_hundreds_wait(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, before, after = Door(), talk("-2", range(1, 201)), talk("-200", range(1, 301))
    moved = replace(
        MESSAGE, chat_id="-2", ext_id="-2/moved", message_id="", kind="change", change="migrated"
    )
    asked = replace(after[-1], addressed=True, command=",help")
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *before, replace(moved, to_chat="-200"), *after[:-1], asked)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
        others = await tape_of(group.gateway, "plain:-200").read()
    assert texts_of(entries) == [one.text for one in (*before, *after)]
    assert others == []


def joining() -> PlainChannel:
    channel = PlainChannel()
    channel.traits = replace(channel.traits, join_wait=0.01)
    return channel


async def after_a_restart(
    home: Path, model: FakeOpenAI, said: Sequence[InboundMessage]
) -> list[Entry]:
    """Accept messages, end before any is placed, and return the tape once a new process is idle."""
    door = Door()
    async with open_group(home, model, door, channel=joining()) as group:
        await held(group, door, *said)
    async with open_group(home, model, channel=joining()) as group:
        await group.gateway.idle()
        assert await group.gateway.services.ledger.waiting.chats() == []
        return await tape_of(group.gateway, "plain:-2").read()


async def test_what_was_left_over_is_placed_once_and_in_order_with_albums_whole(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    said = talk("-2", range(1, 601))
    album = Media("image", "photo")
    for at in (97, 99, 100, 103, 300, 301):  # also where a piece ends
        said[at] = replace(said[at], joins=f"album {at // 200}", media=(album,))
    entries = await after_a_restart(tmp_path, model, said)
    whole = ["\n".join(f"-2 no {at + 1}" for at in ats) for ats in ((97, 99, 100, 103), (300, 301))]
    parts = {f"-2 no {at + 1}" for at in (97, 99, 100, 103, 300, 301)}
    expected = [one.text for one in said]
    expected[97], expected[300] = whole
    assert texts_of(entries) == [text for text in expected if text not in parts]


async def test_a_question_from_before_the_start_comes_behind_a_new_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    old = [
        replace(one, addressed=True, command=",help")
        for chat in range(10, 30)
        for one in talk(f"-{chat}", [1])
    ]
    first, second = Door(), Door()
    async with open_group(tmp_path, model, first) as group:
        await held(group, first, *old)
    async with open_group(tmp_path, model, second) as group:
        await second.came.wait()
        new = replace(talk("-99", [1])[0], addressed=True, command=",help")
        await group.accept(new)
        second.opened.set()
        await group.gateway.taken_in()
    assert second.texts.index("-99 no 1") <= 65
    assert sorted(second.texts) == sorted([FIRST.text, new.text, *[one.text for one in old]])
