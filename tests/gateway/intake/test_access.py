"""Who may talk to the agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from agent.tool import Role
from channels.base import Channel
from channels.message import Author, InboundMessage, OutboundMessage, Receipt
from gateway.hooks.specs import hookimpl
from gateway.intake.access import Access, refusal
from gateway.settings import AccessSettings
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of, names, settled

MESSAGE = InboundMessage(
    channel="plain",
    chat_id="-100",
    chat_kind="group",
    ext_id="-100/1",
    message_id="1",
    sender=Author("7", "123456789"),
    text="a secret question",
    date="2026-01-01T00:00:00+00:00",
    addressed=True,
    why="mention",
)


@pytest.mark.parametrize(
    ("mode", "allow", "allowed", "role"),
    [
        ("paired", "", False, Role.STRANGER),
        ("paired", "plain:-100", True, Role.MEMBER),
        ("paired", "plain:7", True, Role.MEMBER),
        ("paired", "other:7,plain:8", False, Role.STRANGER),
        ("paired", "plain:123456789", False, Role.STRANGER),
        ("open", "", True, Role.STRANGER),
        ("open", "plain:7", True, Role.MEMBER),
    ],
)
def test_closed_by_default_and_by_ids_never_by_names(
    mode: str, allow: str, allowed: bool, role: Role
) -> None:
    settings = AccessSettings.model_validate({"mode": mode, "allow": allow})
    decision = Access(settings).decide(MESSAGE)
    assert (decision.allowed, decision.role) == (allowed, role)


def test_a_closed_chat_is_told_only_ids_that_there_are() -> None:
    assert "add plain:-100 (this chat) or plain:7 (you) to" in refusal(MESSAGE)
    assert "add plain:-100 to" in refusal(replace(MESSAGE, sender=Author("", "Somebody")))


def test_a_chat_with_a_new_id_keeps_its_place_on_the_list() -> None:
    settings = AccessSettings.model_validate({"allow": "plain:-5"})
    aliases: dict[str, str] = {}
    access = Access(settings, aliases)
    assert not access.decide(MESSAGE).allowed
    aliases["plain:-100"] = "plain:-5"
    assert access.decide(MESSAGE).rule == "the chat is on the allowlist"
    aliases["plain:-100"] = "plain:-6"
    assert not access.decide(MESSAGE).allowed


def test_the_owner_is_whom_the_platform_proves() -> None:
    decision = Access(AccessSettings()).decide(replace(MESSAGE, owner=True))
    assert (decision.allowed, decision.role) == (True, Role.OWNER)


class PlainChannel(Channel):
    """A platform that posts and nothing else; each post is a message of its own."""

    name: ClassVar[str] = "plain"

    def __init__(self) -> None:
        super().__init__()
        self.posts: list[OutboundMessage] = []

    async def run(self) -> None:
        self.host.ready()
        await self.host.clock.sleep(1e9)

    async def stop(self) -> None:
        """The task is cancelled with the gateway."""

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.posts.append(message)
        return [Receipt(str(len(self.posts)))]


class Brings:
    """A plugin that brings a channel."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel

    @hookimpl
    def provide_channels(self) -> list[Channel]:
        return [self.channel]


@pytest.mark.anyio
async def test_b7_a_closed_chat_is_refused_once_a_day_and_its_text_is_not_kept(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    async with FakeOpenAI() as server, gateway_of(tmp_path, server, Brings(channel)) as gateway:
        await channel.host.accept([MESSAGE, replace(MESSAGE, ext_id="-100/2", message_id="2")])
        await channel.host.accept([replace(MESSAGE, ext_id="-100/3", addressed=False)])
        await gateway.taken_in()
        entries = await settled(gateway, "plain:-100")
    assert server.requests == []
    assert [post.text.split(".")[0] for post in channel.posts] == [
        "I'm not enabled in this chat yet"
    ]
    assert "plain:-100" in channel.posts[0].text
    assert names(entries).count("access.refused") == 3
    assert "secret question" not in str([entry.payload for entry in entries])
    assert "secret question" not in str([entry.meta for entry in entries])


@pytest.mark.anyio
async def test_an_open_chat_is_answered_to_the_asking_message(tmp_path: Path) -> None:
    channel = PlainChannel()
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, Brings(channel), ACCESS__MODE="open") as gateway,
    ):
        await channel.host.accept([MESSAGE])
        await gateway.taken_in()
        await settled(gateway, "plain:-100")
    (post,) = channel.posts
    assert (post.chat_id, post.reply_to) == ("-100", "1")
    assert "a secret question" in post.text
