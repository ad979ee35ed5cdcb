"""A message whose delivery lacked something is looked up after it was accepted, in its order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from channels.errors import ChannelDown, ChannelError, SendDelayed, SendRefused
from channels.message import Excerpt, InboundMessage
from gateway.intake.completion import NOT_GIVEN, PAUSES_SECONDS
from tape.entry import Entry, load
from tests.kit.chats import GroupChat, open_group
from tests.kit.clock import ManualClock
from tests.kit.plain_channels import MESSAGE, LookingUp
from tests.scenarios.shared import until

KEY = "sk-abcdefghijklmnopqrstuvwxyz0123456789"
STUB = replace(MESSAGE, incomplete=True)


def said(number: int, chat: str = "-100", **change: bool) -> InboundMessage:
    own = replace(MESSAGE, message_id=str(number), ext_id=f"{chat}/{number}", chat_id=chat)
    return replace(own, text=f"question {number}", **change)  # type: ignore[arg-type]


def asked(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries if entry.meta.get("author")]


async def rows(group: GroupChat) -> list[InboundMessage]:
    """Return the first message as the ledger keeps it."""
    values = {"account_id": "plain", "ext_id": "-100/1"}
    found = await group.gateway.services.store.select("ledger.told_key", values)
    return [InboundMessage.from_payload(load(row["payload"])) for row in found]


async def test_what_a_delivery_lacked_is_on_the_tape_and_in_the_ledger(tmp_path: Path) -> None:
    channel = LookingUp()
    async with open_group(tmp_path, channel=channel) as group:
        entries = await group.hear(STUB)
        assert asked(entries) == [
            "[00:00 #1 123456789] a secret question\n[mail of Zed]\n>> the mail of 1"
        ]
        (kept,) = await rows(group)
    assert (kept.ext_id, kept.incomplete, kept.excerpts[0].label) == ("-100/1", False, "mail")
    assert channel.asked == ["1"]


async def test_a_complete_message_is_not_looked_up(tmp_path: Path) -> None:
    channel = LookingUp()
    async with open_group(tmp_path, channel=channel) as group:
        await group.hear(MESSAGE)
    assert channel.asked == []


async def test_b7_nothing_is_looked_up_for_who_is_refused(tmp_path: Path) -> None:
    channel = LookingUp()
    async with open_group(tmp_path, channel=channel, ACCESS__MODE="paired") as group:
        await group.accept(STUB)
        await group.settled()
    assert channel.asked == []


async def test_c2_later_messages_of_the_chat_wait_and_other_chats_do_not(tmp_path: Path) -> None:
    channel = LookingUp()
    channel.gate = anyio.Event()
    async with open_group(tmp_path, channel=channel) as group:
        await group.accept(said(1, incomplete=True), said(2), said(3, incomplete=True))
        await group.accept(said(9, "-200"))
        await until(lambda: len(channel.posts) == 1)
        assert channel.posts[0].chat_id == "-200"
        channel.gate.set()
        entries = await group.settled()
        assert channel.asked == ["1", "3"]
        said_in_order = [text.partition("] ")[2].partition("\n")[0] for text in asked(entries)]
    assert said_in_order == ["question 1", "question 2", "question 3"]


def down() -> ChannelError:
    return ChannelDown("away")


def busy() -> ChannelError:
    return SendDelayed(20.0)


def broken() -> Exception:
    return ValueError("a bug")


@pytest.mark.parametrize("trouble", [down, busy, broken])
async def test_d2_a_lookup_that_fails_is_tried_again(
    tmp_path: Path, trouble: Callable[[], Exception]
) -> None:
    clock, channel = ManualClock(), LookingUp(trouble, trouble)
    async with open_group(tmp_path, channel=channel, clock=clock) as group:
        await group.accept(STUB)
        await clock.advance(60.0)
        assert ">> the mail of 1" in asked(await group.settled())[0]
    assert len(channel.asked) == 3


@pytest.mark.parametrize(
    ("trouble", "tries"),
    [(down, len(PAUSES_SECONDS) + 1), (lambda: SendRefused("no such file"), 1)],
)
async def test_d2_what_the_platform_does_not_give_is_named(
    tmp_path: Path, trouble: Callable[[], Exception], tries: int
) -> None:
    clock, channel = ManualClock(), LookingUp(*[trouble] * 9)
    async with open_group(tmp_path, channel=channel, clock=clock) as group:
        await group.accept(STUB)
        await clock.advance(60.0)
        entries = await group.settled()
        assert asked(entries) == [
            f"[00:00 #1 123456789] a secret question\n[left out: {NOT_GIVEN}]"
        ]
        assert len(channel.posts) == 1
    assert len(channel.asked) == tries


class Forgetful(LookingUp):
    """A plugin's channel that looks a message up, and returns nothing."""

    async def complete(self, message: InboundMessage) -> InboundMessage:
        await super().complete(message)
        return None  # type: ignore[return-value]


async def test_d2_a_channel_that_returns_no_message_keeps_nothing_back(tmp_path: Path) -> None:
    clock = ManualClock()
    async with open_group(tmp_path, channel=Forgetful(), clock=clock) as group:
        await group.accept(said(1, incomplete=True), said(2))
        await clock.advance(60.0)
        texts = asked(await group.settled())
    assert [text.partition("] ")[2].split("\n")[0] for text in texts] == [
        "question 1",
        "question 2",
    ]
    assert NOT_GIVEN in texts[0]


async def test_d1_a_lookup_that_a_stop_cut_off_is_made_at_the_next_start(tmp_path: Path) -> None:
    first, second = LookingUp(), LookingUp()
    first.gate = anyio.Event()
    with anyio.CancelScope() as killed:
        async with open_group(tmp_path, channel=first) as group:
            await group.accept(said(1, incomplete=True), said(2))
            await until(lambda: first.asked)
            killed.cancel()
            await anyio.sleep_forever()
    async with open_group(tmp_path, channel=second) as group:
        entries = await group.settled()
        assert [text.splitlines()[1:] for text in asked(entries)] == [
            ["[mail of Zed]", ">> the mail of 1"],
            [],
        ]
    assert second.asked == ["1"]


async def test_f4_a_secret_in_what_was_looked_up_is_on_no_tape(tmp_path: Path) -> None:
    class Leaking(LookingUp):
        async def complete(self, message: InboundMessage) -> InboundMessage:
            return replace(message, text=f"my key is {KEY}", excerpts=(Excerpt("mail", KEY),))

    async with open_group(tmp_path, channel=Leaking(), AGENT__API_KEY=KEY) as group:
        entries = await group.hear(STUB)
        assert all(KEY not in text for text in asked(entries))
        assert all(KEY not in str(kept) for kept in await rows(group))
