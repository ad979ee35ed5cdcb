"""The gateway as a channel sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from channels.message import InboundMessage
from gateway.hooks.specs import hookimpl
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.gateways import gateway_of
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel


class BySender:
    """Gives each person a session, and refuses those without an id."""

    def __init__(self, *, refuses: bool) -> None:
        self.refuses = refuses
        self.asked: list[Any] = []

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str:
        self.asked.append(message)
        if self.refuses and not message.sender.id:
            raise LookupError("nobody")
        return "plain:-100" if message.sender.is_bot else f"{message.channel}:{message.chat_id}"


@pytest.mark.parametrize("refuses", [False, True])
async def test_a_plugin_that_reads_the_sender_does_not_break_the_history(
    model: FakeOpenAI, tmp_path: Path, refuses: bool
) -> None:
    plugin = BySender(refuses=refuses)
    async with open_group(tmp_path, model, plugin) as group:
        await group.accept(MESSAGE)
        await group.gateway.idle()
        shown = await group.channel.host.history("plain", "-100", 10)
    assert (shown[0].role, shown[0].text) == ("person", MESSAGE.text)
    assert all(isinstance(one, InboundMessage) for one in plugin.asked)
    assert (plugin.asked[-1].channel, plugin.asked[-1].chat_id) == ("plain", "-100")


async def test_the_history_of_a_renamed_chat_is_that_of_its_old_id(group: GroupChat) -> None:
    await group.accept(MESSAGE)
    await group.gateway.idle()
    group.gateway.services.aliases["plain:-777"] = "plain:-100"
    shown = await group.channel.host.history("plain", "-777", 10)
    assert shown[0].text == MESSAGE.text


async def test_a_lost_connection_is_logged_once_for_each_reason(tmp_path: Path) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel)):
        with capture_logs() as logs:
            for why in ("stalled", "stalled", "the key was revoked"):
                channel.host.down(why)
            channel.host.ready()
            channel.host.down("stalled")
        assert [log.get("why") for log in logs] == [
            "stalled",
            "the key was revoked",
            None,
            "stalled",
        ]
