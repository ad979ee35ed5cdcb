"""Messages that cannot be taken in: kept with the reason, answered with it, and no wedge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import InboundMessage
from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from tests.gateway.intake.test_access import MESSAGE, Brings, PlainChannel
from tests.gateways import gateway_of, settled

pytestmark = pytest.mark.anyio

UNREADABLE = replace(
    MESSAGE, kind="unreadable", ext_id="unreadable/9", text="", why="no such field", addressed=False
)


class Fussy:
    """A plugin that fails at one word."""

    @hookimpl
    def resolve_session(self, message: Any) -> str | None:
        if "poison" in message.text:
            raise ValueError("I do not like this")
        return None


async def rows(gateway: Gateway) -> list[dict[str, Any]]:
    found = await gateway.services.store.select("ledger.list_inbox", {"status": "", "limit": 9})
    return [dict(row) for row in found]


async def take(gateway: Gateway, channel: PlainChannel, *said: InboundMessage) -> None:
    for number, message in enumerate(said):
        if message.kind == "message":
            named = {"ext_id": f"-100/{number}", "message_id": str(number)}
            message = replace(message, **named)  # type: ignore[arg-type]
        await channel.host.accept([message])
    await gateway.idle()


async def test_a_question_that_cannot_be_taken_in_is_told_of_and_its_neighbours_are_answered(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    poison = replace(MESSAGE, text="poison")
    async with gateway_of(tmp_path, None, Fussy(), Brings(channel), ACCESS__MODE="open") as gateway:
        await take(gateway, channel, MESSAGE, poison, MESSAGE)
        dead = [row for row in await rows(gateway) if row["status"] == "dead"]
        await settled(gateway, "plain:-100")
    assert [row["why"] for row in dead] == [
        "it could not be taken in (ValueError: I do not like this)"
    ]
    told = [post.text for post in channel.posts if "couldn't process this message" in post.text]
    assert len(told) == 1
    assert f"in-{dead[0]['id']}" in told[0]
    assert len(channel.posts) == 3


async def test_b1_what_nobody_asked_and_cannot_be_taken_in_is_told_to_nobody(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    poison = replace(MESSAGE, text="poison", addressed=False)
    async with gateway_of(tmp_path, None, Fussy(), Brings(channel), ACCESS__MODE="open") as gateway:
        await take(gateway, channel, poison, UNREADABLE)
        statuses = [row["status"] for row in await rows(gateway)]
    assert statuses == ["dead", "dead"]
    assert channel.posts == []


@pytest.mark.parametrize("mode", ["open", "paired"])
async def test_what_cannot_be_read_is_told_in_a_private_chat_that_is_open(
    tmp_path: Path, mode: str
) -> None:
    channel = PlainChannel()
    private = replace(UNREADABLE, chat_kind="private")
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE=mode) as gateway:
        await take(gateway, channel, private)
        (row,) = await rows(gateway)
    assert (row["status"], row["why"]) == ("dead", "no such field")
    assert len(channel.posts) == (1 if mode == "open" else 0)
