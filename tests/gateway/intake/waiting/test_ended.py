"""What was ended while it waits, where the database is away just when somebody looks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import InboundMessage
from gateway.storage.waiting import UnreadRow
from tape.errors import StoreUnavailable
from tape.unit_of_work import Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import PlainChannel


async def test_a_database_that_is_away_for_a_moment_keeps_no_message_from_its_tape(
    model: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    door, said, away = Door(), talk("-2", range(1, 21)), [1]
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *said)
        store, inbox = group.gateway.services.store, group.gateway.services.ledger.inbox
        select, unit = store.select, Unit()
        rows = [row for row in await inbox.open_rows() if row.message.text == "-2 no 7"]
        inbox.end(unit, rows, "dropped", "somebody asked for that")
        await store.commit(unit)

        async def reads(name: str, values: Mapping[str, Any], *, long: bool = False) -> Any:
            if name == "ledger.still_accepted" and away:
                away.pop()
                raise StoreUnavailable("the database is away")
            return await select(name, values, long=long)

        monkeypatch.setattr(store, "select", reads)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert not away
    assert texts_of(entries) == [one.text for one in said if one.text != "-2 no 7"]


class Failing(PlainChannel):
    """A channel with a fault in what it does once a message is on its tape."""

    def taped(self, message: InboundMessage) -> None:
        if message.text == "-2 no 3":
            raise ValueError("a fault")


async def test_a_fault_of_a_channel_keeps_no_other_message_from_its_tape(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, talked = Door(), talk("-2", range(1, 11))
    asked = replace(talk("-2", [11])[0], addressed=True, command=",help")
    said = [*talked, asked, *talk("-2", range(12, 31))]
    moved = replace(said[4], ext_id="-2/d", message_id="2", kind="delete", text="")
    async with open_group(tmp_path, model, door, channel=(channel := Failing())) as group:
        await held(group, door, *said[:5], moved, *said[5:])
        door.opened.set()
        await group.gateway.idle()
        entries = await tape_of(group.gateway, "plain:-2").read()
        assert await group.gateway.services.ledger.waiting.chats() == []
    assert [text for text in texts_of(entries) if text] == [one.text for one in said]
    assert len(channel.posts) == 1


async def test_a_message_that_stands_in_two_lines_is_placed_and_answered_once(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, channel = Door(), PlainChannel()
    asked = replace(talk("-2", [1])[0], addressed=True, why="mention", command=",help")
    async with open_group(tmp_path, model, door, channel=channel) as group:
        await held(group, door, asked)
        rows = await group.gateway.services.ledger.inbox.open_rows()
        (number,) = [row.id for row in rows if row.message.text == "-2 no 1"]
        # A holder of both ids of a group hears once more of what was accepted under the newer one.
        group.gateway.parts.intake.put_unread([UnreadRow(number, "plain:-20", True)])
        door.opened.set()
        await group.gateway.idle()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(entries) == ["-2 no 1"]
    assert len(channel.posts) == 1
