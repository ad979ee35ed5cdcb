"""A fault in reading what waits costs at most the message that has it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import InboundMessage
from channels.traits import Traits
from gateway.hooks.specs import hookimpl
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import tape_of
from tests.kit.plain_channels import PlainChannel


class Torn(PlainChannel):
    """A platform that tears messages apart, and so often cannot say how long to wait for parts."""

    faults = 0

    @property
    def traits(self) -> Traits:  # type: ignore[override]
        """What the platform does."""
        if self.faults:
            self.faults -= 1
            raise RuntimeError("the wait for parts cannot be read")
        return replace(PlainChannel.traits, join_wait=0.01)


class Breaking:
    """A plugin in which a platform breaks when the first message of a chat is looked at."""

    def __init__(self, channel: Torn, faults: int) -> None:
        self.channel, self.faults = channel, faults

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str | None:
        if message.text == "-2 no 1":
            self.channel.faults, self.faults = self.faults, 0
        return "plain:both" if message.chat_id in ("-2", "-3") else None


@pytest.mark.parametrize("faults", [1, 3])
async def test_what_could_not_be_read_together_is_read_one_by_one(
    model: FakeOpenAI, tmp_path: Path, faults: int
) -> None:
    said = [replace(one, joins=one.message_id) for one in talk("-2", range(1, 9))]
    others, door = talk("-3", range(9, 12)), Door()
    async with open_group(tmp_path, model, Breaking(Torn(), 0), door) as group:
        await held(group, door, *said, *others)
    channel = Torn()
    async with open_group(tmp_path, model, Breaking(channel, faults), channel=channel) as group:
        await group.gateway.taken_in()
        found = texts_of(await tape_of(group.gateway, "plain:both").read())
    whole = [one.text for one in [*said, *others]]
    assert found == (whole if faults == 1 else whole[1:])
    async with open_group(tmp_path, model, Breaking(Torn(), 0), channel=Torn()) as group:
        await group.gateway.taken_in()
        found = texts_of(await tape_of(group.gateway, "plain:both").read())
    assert sorted(found) == sorted(whole)
