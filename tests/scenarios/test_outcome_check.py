"""A send without a known outcome, where the platform can be asked or keeps its key for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from channels.capabilities import Capability
from channels.draft import DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    DraftGone,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.message import InboundMessage, OutboundMessage, Receipt
from channels.traits import Traits
from gateway.delivery.sender import RESENT
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import QuickClock
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform, ask
from tests.kit.gateways import gateway_of, settled
from tests.kit.plain_channels import Brings
from tests.scenarios.shared import until


class Searched(EditingChannel):
    """Finds what it has by its key; `lookups` are raised by the next searches."""

    def __init__(self, platform: Platform, *more: Capability, keys: float | None = None) -> None:
        super().__init__(platform, streams=False)
        self.capabilities = frozenset({"lookup", *more})  # type: ignore[misc]
        self.traits = Traits(idempotent_for=keys)
        self.sent: dict[str, str] = {}
        self.lookups: list[Exception] = []
        self.arrives = True
        self.searches = 0
        self.gone_once = False
        self.hang_draft = False
        self.dead = anyio.Event()
        self.at_slot: list[Callable[[], None]] = []

    async def prepare(self, message: OutboundMessage) -> OutboundMessage:
        prepared = await super().prepare(message)
        if self.at_slot:
            self.at_slot.pop(0)()
        return prepared

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str:
        shown = await super().show(message, place, text)
        self.sent[place.idem] = shown
        if self.hang_draft:  # nobody learns where it stands
            await self.dead.wait()
            raise SendAmbiguous("no answer was read")
        return shown

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        known = self.sent.get(message.idem) if "idempotent_send" in self.capabilities else None
        if known is not None:
            return [Receipt(known)]
        if self.gone_once and message.edits and not self.after:
            self.gone_once = False
            raise DraftGone("it is closed")
        if not self.arrives:
            self.arrives = True
            raise SendAmbiguous("no answer was read, and it never arrived")
        before = set(self.platform.messages)
        try:
            return await super().deliver(message)
        finally:
            for number in self.platform.messages.keys() - before:
                self.sent[message.idem] = number

    async def find(self, message: OutboundMessage) -> list[Receipt]:
        self.searches += 1
        if self.lookups:
            raise self.lookups.pop(0)
        found = self.sent.get(message.idem)
        if found:  # where it is a draft, it becomes the answer
            self.platform.put(found, message.text)
        return [Receipt(found)] if found else []


@pytest.mark.parametrize("policy", ["resend", "hold"])
async def test_d1_what_arrived_is_found_and_not_sent_again(tmp_path: Path, policy: str) -> None:
    channel = Searched(Platform())
    channel.after = [SendAmbiguous("no answer was read")]
    more = {"DELIVERY__AMBIGUOUS": policy}
    async with gateway_of(tmp_path, None, Brings(channel), clock=QuickClock(), **more) as gateway:
        told = await ask(gateway, channel, text=",help")
    assert len(channel.platform.messages) == 1
    assert "send.receipt" in told


@pytest.mark.parametrize("policy", ["resend", "hold"])
async def test_d1_what_did_not_arrive_is_sent_unmarked(tmp_path: Path, policy: str) -> None:
    channel = Searched(Platform())
    channel.arrives = False
    more = {"DELIVERY__AMBIGUOUS": policy}
    async with gateway_of(tmp_path, None, Brings(channel), clock=QuickClock(), **more) as gateway:
        told = await ask(gateway, channel, text=",help")
    (text,) = channel.platform.messages.values()
    assert not text.startswith(RESENT)
    assert channel.searches == 1
    assert "send.receipt" in told


async def test_d1_a_send_cut_off_with_the_process_is_looked_up(tmp_path: Path) -> None:
    first = Searched(Platform())
    first.hang = True
    async with gateway_of(tmp_path, None, Brings(first)):
        await first.host.accept([replace(QUESTION, text=",help")])
        while not first.platform.messages:
            await first.platform.changed.wait()
    second = Searched(first.platform)
    second.sent = first.sent
    second.lookups = [ChannelDown("not now"), SendDelayed(1.0)]
    async with gateway_of(tmp_path, None, Brings(second), clock=QuickClock()) as gateway:
        await settled(gateway, "editing:1")
    assert second.searches == 3
    assert len(second.platform.messages) == 1


async def test_d1_a_search_that_failed_is_made_again_after_a_restart(tmp_path: Path) -> None:
    platform = Platform()
    first = Searched(platform)
    first.after = [SendAmbiguous("no answer was read")]
    first.lookups = [ChannelDown("not now") for _ in range(1000)]
    async with gateway_of(tmp_path, None, Brings(first), clock=QuickClock()):
        await first.host.accept([replace(QUESTION, text=",help")])
        await until(lambda: first.searches > 3)
    second = Searched(platform)
    second.sent = first.sent
    async with gateway_of(tmp_path, None, Brings(second), clock=QuickClock()) as gateway:
        await settled(gateway, "editing:1")
    assert (len(platform.messages), second.searches) == (1, 1)


async def test_d1_within_the_window_of_its_key_a_send_is_just_made_again(tmp_path: Path) -> None:
    channel = Searched(Platform(), "idempotent_send", keys=120.0)
    channel.after = [SendAmbiguous("no answer was read")]
    async with gateway_of(tmp_path, None, Brings(channel), clock=QuickClock()) as gateway:
        await ask(gateway, channel, text=",help")
    assert (len(channel.platform.messages), channel.searches) == (1, 0)


@pytest.mark.parametrize("jump", [timedelta(minutes=3), timedelta(days=-1)])
async def test_d1_after_the_window_or_a_jump_of_the_clock_the_chat_is_searched(
    tmp_path: Path, jump: timedelta
) -> None:
    clock = QuickClock()
    first = Searched(Platform(), "idempotent_send", keys=120.0)
    first.hang = True
    async with gateway_of(tmp_path, None, Brings(first), clock=clock):
        await first.host.accept([replace(QUESTION, text=",help")])
        while not first.platform.messages:
            await first.platform.changed.wait()
    clock.jump(jump)
    second = Searched(first.platform, "idempotent_send", keys=120.0)
    second.sent = first.sent
    async with gateway_of(tmp_path, None, Brings(second), clock=clock) as gateway:
        await settled(gateway, "editing:1")
    assert (len(second.platform.messages), second.searches) == (1, 1)


@pytest.mark.parametrize("policy", ["resend", "hold"])
async def test_d1_where_the_chat_may_not_be_searched_the_setting_decides(
    tmp_path: Path, policy: str
) -> None:
    channel = Searched(Platform())
    channel.after = [SendAmbiguous("no answer was read")]
    channel.lookups = [SendRefused("you may not read its history")]
    more = {"DELIVERY__AMBIGUOUS": policy}
    async with gateway_of(tmp_path, None, Brings(channel), clock=QuickClock(), **more) as gateway:
        told = await ask(gateway, channel, text=",help")
    texts = list(channel.platform.messages.values())
    if policy == "resend":
        assert texts == [texts[0], RESENT + texts[0]]
    else:
        assert len(texts) == 1
        assert "send.ambiguous" in told


async def test_d1_a_search_is_made_for_as_long_as_it_takes(tmp_path: Path) -> None:
    channel = Searched(Platform())
    channel.after = [SendAmbiguous("no answer was read")]
    channel.lookups = [ChannelError("not now"), ConnectionError("not now"), SendDelayed(1)] * 9
    async with gateway_of(tmp_path, None, Brings(channel), clock=QuickClock()) as gateway:
        told = await ask(gateway, channel, text=",help")
    assert (len(channel.platform.messages), channel.searches) == (1, 28)
    assert "send.receipt" in told


async def test_d1_doubt_outlives_a_place_that_is_gone(model: FakeOpenAI, tmp_path: Path) -> None:
    """An edit without a known outcome, then a closed draft: it may be the answer already."""
    channel = Searched(Platform())
    channel.capabilities = frozenset({"lookup", "edit"})  # type: ignore[misc]
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model, Brings(channel), clock=QuickClock()) as gateway:
        model.enqueue(Text(("half ", "whole"), gate=gate))
        await channel.host.accept([QUESTION])
        await channel.platform.shows("half ")
        channel.after = [SendAmbiguous("no answer was read")]
        channel.gone_once = True
        gate.set()
        await settled(gateway, "editing:1")
    assert list(channel.platform.messages.values()) == ["half whole"]
    assert channel.searches == 1


async def test_d1_a_draft_whose_place_nobody_knows_becomes_the_answer(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    first = Searched(Platform())
    first.capabilities = frozenset({"lookup", "edit"})  # type: ignore[misc]
    first.hang_draft = True
    model.enqueue(Text(("half ", "whole"), gate=asyncio.Event()))
    async with gateway_of(tmp_path, model, Brings(first)):
        await first.host.accept([QUESTION])
        await first.platform.shows("half ")
        first.dead.set()
    second = Searched(first.platform)
    second.sent = first.sent
    model.enqueue(Text(("half whole",)))
    async with gateway_of(tmp_path, model, Brings(second), clock=QuickClock()) as gateway:
        await settled(gateway, "editing:1")
    assert list(first.platform.messages.values()) == ["half whole"]


async def test_d1_the_window_of_a_key_may_end_while_a_slot_is_waited_for(tmp_path: Path) -> None:
    clock = QuickClock()
    channel = Searched(Platform(), "idempotent_send", keys=120.0)
    channel.after = [SendAmbiguous("no answer was read")]
    channel.at_slot = [lambda: None, lambda: clock.jump(timedelta(minutes=3))]
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock) as gateway:
        await ask(gateway, channel, text=",help")
    assert (len(channel.platform.messages), channel.searches) == (1, 1)
