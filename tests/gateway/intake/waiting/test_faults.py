"""What goes wrong with one message silences no other, and what is urgent has the right of way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from channels.message import InboundMessage
from channels.traits import Traits
from gateway.hooks.specs import hookimpl
from gateway.intake.waiting.lines import SessionLines
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import LookingUp, PlainChannel


class Torn(PlainChannel):
    """A platform that tears messages apart, and fails to say how long to wait for their parts."""

    broken = False

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """What the platform does; fails once if it is `broken`."""
        if self.broken:
            self.broken = False
            raise RuntimeError("the wait for parts cannot be read")
        return replace(PlainChannel.traits, join_wait=0.01)


class Naming:
    """A plugin that names sessions, after which the channel breaks for one message."""

    def __init__(self, channel: Torn) -> None:
        self.channel = channel

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str | None:
        self.channel.broken = message.text.endswith(" no 2")
        return "plain:both"


async def test_a_message_that_cannot_be_put_into_its_line_silences_no_later_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    said = talk("-2", range(1, 5))
    said = [replace(one, joins=one.message_id) for one in said]
    channel = Torn()
    async with open_group(tmp_path, model, Naming(channel), channel=channel) as group:
        await group.accept(*said)
        await group.accept(*talk("-3", [5]))
        await group.gateway.taken_in()
        both = await tape_of(group.gateway, "plain:both").read()
    assert sorted(texts_of(both)) == ["-2 no 1", "-2 no 3", "-2 no 4", "-3 no 5"]
    async with open_group(tmp_path, model) as group:
        await group.gateway.taken_in()
        left = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(left) == ["-2 no 2"]


class Unspeakable(LookingUp):
    """A platform that gives what no database keeps."""

    async def complete(self, message: InboundMessage) -> InboundMessage:
        found = await super().complete(message)
        return replace(found, raw={"what": object()})


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_lookup_that_breaks_holds_nothing_of_its_chat_back(
    tmp_path: Path, restarted: bool
) -> None:
    said = [replace(one, incomplete=one.message_id == "2") for one in talk("-2", range(1, 5))]
    if restarted:
        door, away = Door(), LookingUp()
        away.gate = anyio.Event()
        async with open_group(tmp_path, None, door, channel=away) as group:
            await held(group, door, *said)
    async with open_group(tmp_path, channel=Unspeakable()) as group:
        await group.accept(*said)
        await group.accept(*talk("-2", [5]))
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(entries) == [f"-2 no {number}" for number in range(1, 6)]


async def test_what_may_be_taken_lets_everything_else_go_on_first() -> None:
    lines, went = SessionLines(), list[str]()

    async def other() -> None:
        went.append("other")

    lines.add("a", 1, urgent=True)
    async with anyio.create_task_group() as group:
        group.start_soon(other)
        await lines.filled()
        went.append("taken")
    assert went == ["other", "taken"]


async def test_a_question_that_waits_has_the_right_of_way_and_talk_has_not(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door = Door()
    asked = replace(talk("-3", [1])[0], addressed=True, command=",help")
    async with open_group(tmp_path, model, door) as group:
        way = group.gateway.services.way
        await held(group, door, *talk("-2", range(1, 10)))
        taken = [way.is_taken]
        await group.accept(asked)
        taken.append(way.is_taken)
        door.opened.set()
        await group.gateway.taken_in()
        taken.append(way.is_taken)
    assert taken == [False, True, False]
