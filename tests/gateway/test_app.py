"""The running gateway, as those see it who embed it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.app import Gateway
from gateway.errors import SettingsError
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import gateway_of
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel


async def test_a_message_is_answered_without_a_channel(gateway: Gateway, model: FakeOpenAI) -> None:
    model.enqueue(Text(("it is ", "ripe")))
    answer = await gateway.ask({"channel": "script", "chat_id": "1", "text": "the plum?"})
    tape = await gateway.services.tapes.session_tape("script:1").read()
    assert answer == "it is ripe"
    assert tape[-1].payload["data"]["status"] == "done"


@pytest.mark.settings(ACCESS__MODE="open", BUFFER__DEBOUNCE="0.2", TURN__PARALLEL_TOTAL="1")
async def test_an_idle_gateway_debounces_runs_and_sends_nothing(group: GroupChat) -> None:
    elsewhere = replace(MESSAGE, chat_id="-200", ext_id="-200/1")
    await group.accept(MESSAGE, elsewhere)
    await group.gateway.taken_in()
    assert group.posts == []
    await group.gateway.idle()
    assert len(group.posts) == 2


async def test_a_gateway_that_finishes_leaves_what_it_debounces_to_the_next(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    more = {"BUFFER__DEBOUNCE": "9"}
    async with open_group(tmp_path, model, channel=channel, **more) as group:
        await group.accept(MESSAGE)
        await group.gateway.finish()
        assert group.posts == []
    async with gateway_of(tmp_path, model, Brings(channel), **more) as gateway:
        await gateway.idle()
        assert len(channel.posts) == 1


async def test_a_role_needs_a_database_that_processes_can_share(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="TAPEWAY_TAPE__URL, or leave TAPEWAY_SHARING__ROLE"):
        async with gateway_of(tmp_path, SHARING__ROLE="worker"):
            raise AssertionError("it began")
