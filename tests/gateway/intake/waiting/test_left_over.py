"""What an earlier process left over: rows that cannot be read, and what is looked up first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from channels.message import InboundMessage
from gateway.hooks.specs import hookimpl
from tape.entry import dump
from tape.unit_of_work import Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import MESSAGE, LookingUp
from tests.scenarios.shared import until

BROKEN = {
    "lacks its author": {"channel": "plain"},
    "says nothing": {},
    "has a quote of another kind": {**MESSAGE.to_payload(), "quote": "some words"},
    "has parts of another kind": {**MESSAGE.to_payload(), "parts": [[]]},
    "is no JSON": "{",
}


async def broken(group: GroupChat, text: str, payload: object) -> None:
    """Have the ledger keep something else of a message that waits."""
    services = group.gateway.services
    (row,) = [one for one in await services.ledger.inbox.open_rows() if one.message.text == text]
    unit = Unit()
    text = payload if isinstance(payload, str) else dump(payload)
    unit.run("ledger.complete", id=row.id, payload=text)
    await services.store.commit(unit)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("what", BROKEN)
async def test_a_row_that_cannot_be_read_ends_and_the_others_of_its_chat_are_placed(
    model: FakeOpenAI, tmp_path: Path, what: str, number: int
) -> None:
    door, said = Door(), talk("-2", range(1, 6))
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, *said)
        await broken(group, f"-2 no {number}", BROKEN[what])
    async with open_group(tmp_path, model) as group:
        await group.gateway.idle()
        assert await group.gateway.services.ledger.waiting.chats() == []
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(entries) == [one.text for at, one in enumerate(said, 1) if at != number]


async def test_what_was_accepted_since_waits_behind_what_has_to_be_looked_up(
    tmp_path: Path,
) -> None:
    door, stub = Door(), replace(talk("-2", [1])[0], incomplete=True)
    away = LookingUp()
    away.gate = anyio.Event()
    async with open_group(tmp_path, None, door, channel=away) as group:
        await held(group, door, *talk("-1", range(2, 66)), stub)
    door, channel = Door(), LookingUp()
    channel.gate = anyio.Event()
    async with open_group(tmp_path, None, door, channel=channel) as group:
        await door.came.wait()
        await group.accept(*talk("-2", [2, 3]))
        door.opened.set()
        await until(lambda: channel.asked == ["1"])
        await until(lambda: len(door.texts) >= 65)
        channel.gate.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(entries) == ["-2 no 1", "-2 no 2", "-2 no 3"]


class OneSession:
    """A plugin that puts chats together, in which a question comes amid the talk."""

    group: GroupChat

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str | None:
        return "plain:both" if message.chat_id in ("-2", "-3") else None

    @hookimpl
    async def admit_message(self, message: InboundMessage) -> None:
        if message.text.endswith(" no 350"):
            asks = replace(talk("-9", [1])[0], addressed=True, command=",help")
            await self.group.accept(asks)


async def test_chats_that_are_put_together_keep_their_order_where_a_question_comes_between(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, both = Door(), OneSession()
    said = [talk(f"-{2 + number % 2}", [number])[0] for number in range(1, 501)]
    async with open_group(tmp_path, model, both, door) as group:
        both.group = group
        await held(group, door, *said)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:both").read()
    assert texts_of(entries) == [one.text for one in said]
