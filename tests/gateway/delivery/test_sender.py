"""Delivery to a platform that can edit and has no idempotence of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from anyio.lowlevel import checkpoint

from channels.errors import ChannelUnfit, SendAmbiguous, SendDelayed, SendRefused
from gateway.delivery.sender import RESENT
from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import PrivateChat
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform, ask
from tests.kit.gateways import gateway_of, names, settled
from tests.kit.plain_channels import Brings
from tests.kit.waiting import Patience

Fault = Callable[[], Exception | None]


async def test_d5_a_draft_becomes_the_answer_in_its_own_place(chat: PrivateChat) -> None:
    gate = asyncio.Event()
    chat.model.enqueue(Text(("half ", "whole"), gate=gate))
    await chat.accept(QUESTION)
    await chat.platform.shows("half ")
    gate.set()
    await chat.platform.shows("half whole")
    await chat.settled()
    assert chat.platform.messages == {"m1": "half whole"}


async def test_d1_the_place_of_a_draft_survives_the_process(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    platform = Platform()
    model.enqueue(Text(("half ", "whole"), gate=asyncio.Event()))
    first = EditingChannel(platform)
    async with gateway_of(tmp_path, model, Brings(first)) as gateway:
        await first.host.accept([QUESTION])
        await platform.shows("half ")
        store = gateway.services.store
        patience = Patience("the message's id on the platform is written down")
        while not any(row["platform_id"] for row in await store.select("ledger.open_outbox", {})):
            await patience.pause()
    async with gateway_of(tmp_path, model, Brings(EditingChannel(platform))) as gateway:
        await gateway.taken_in()
        await settled(gateway, "editing:1")
    assert list(platform.messages) == ["m1"]
    assert platform.messages["m1"].endswith("what is it?")


async def test_an_error_s_sentence_takes_the_place_of_the_draft(chat: PrivateChat) -> None:
    chat.model.enqueue(Failure(500, "boom", None, "server_error"))
    await chat.ask()
    assert list(chat.platform.messages) == ["m1"]
    assert "having trouble" in chat.platform.messages["m1"]


@pytest.mark.parametrize("policy", ["resend", "hold"])
async def test_a_send_of_which_nobody_knows_follows_the_setting(
    tmp_path: Path, policy: str
) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    channel.after = [SendAmbiguous("no answer was read")]
    async with gateway_of(tmp_path, None, Brings(channel), DELIVERY__AMBIGUOUS=policy) as gateway:
        told = await ask(gateway, channel, text=",help")
    texts = list(platform.messages.values())
    if policy == "resend":
        assert texts[1] == RESENT + texts[0]
        assert "send.receipt" in told
    else:
        assert len(texts) == 1
        assert "send.ambiguous" in told


async def test_d1_a_send_cut_off_with_the_process_is_made_again_marked(tmp_path: Path) -> None:
    platform = Platform()
    first = EditingChannel(platform)
    first.hang = True
    async with gateway_of(tmp_path, None, Brings(first)):
        await first.host.accept([replace(QUESTION, text=",help")])
        while not platform.messages:
            await platform.changed.wait()
    async with gateway_of(tmp_path, None, Brings(EditingChannel(platform))) as gateway:
        await settled(gateway, "editing:1")
    texts = list(platform.messages.values())
    assert texts == [texts[0], RESENT + texts[0]]


async def test_d3_a_platform_that_says_later_gets_it_later_once(tmp_path: Path) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    channel.before = [SendDelayed(0.01), SendDelayed(0.01)]
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        await ask(gateway, channel, text=",help")
    assert len(platform.messages) == 1


async def test_what_is_queued_for_a_lost_session_is_sent_once_as_the_database_has_it(
    tmp_path: Path,
) -> None:
    platform = Platform()
    channel = EditingChannel(platform, streams=False)
    channel.before = [SendDelayed(0.05)]
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        await channel.host.accept([replace(QUESTION, text=",help")])
        while channel.before:
            await checkpoint()
        rows = await gateway.services.ledger.outbox.open_rows()
        gateway.parts.sender.abandon(rows[0].session_id)
        gateway.parts.sender.enqueue(rows)  # as after the next claim
        await gateway.idle()
    assert len(platform.messages) == 1


async def test_d6_a_permanent_refusal_is_recorded_and_stops_nothing(tmp_path: Path) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    channel.before = [SendRefused("kicked from the chat")]
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        told = await ask(gateway, channel, text=",help")
        assert "send.dead" in told
        assert platform.messages == {}
        await ask(gateway, channel, text=",help", ext_id="1/2", message_id="2")
    assert len(platform.messages) == 1


async def test_a_stopped_turn_s_text_takes_the_place_of_a_draft_that_is_being_posted(
    chat: PrivateChat,
) -> None:
    chat.channel.slow = anyio.Event()
    chat.model.enqueue(Text(("half ", "never"), gate=asyncio.Event()))
    await chat.accept(QUESTION)
    await chat.channel.showing.wait()
    await chat.accept(replace(QUESTION, text=",stop", ext_id="1/2", message_id="2"))
    await chat.gateway.taken_in()
    chat.channel.slow.set()
    await chat.settled()
    assert chat.platform.messages == {"m1": "half\n\n*Stopped by Alice.*"}


@pytest.mark.parametrize("policy", ["resend", "hold"])
async def test_f4_an_answer_that_a_revoked_token_could_not_send_is_kept_for_a_good_one(
    tmp_path: Path, policy: str
) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    channel.before = [ChannelUnfit("a new token, please")]
    more = {"DELIVERY__AMBIGUOUS": policy}
    async with gateway_of(tmp_path, None, Brings(channel), **more) as gateway:
        await ask(gateway, channel, text=",help")
    assert platform.messages == {}
    async with gateway_of(tmp_path, None, Brings(EditingChannel(platform)), **more) as gateway:
        told = names(await settled(gateway, "editing:1"))
    (text,) = platform.messages.values()
    assert not text.startswith(RESENT)
    assert "send.receipt" in told


async def test_d1_a_send_of_unknown_outcome_is_marked_also_after_it_was_asked_to_wait(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    platform = Platform()
    model.enqueue(Text(("whole",)))
    first = EditingChannel(platform, streams=False)
    first.after = [SendAmbiguous("no answer came")]
    async with gateway_of(tmp_path, model, Brings(first)) as gateway:
        await first.host.accept([QUESTION])
        await platform.shows("whole")
        first.before = [SendDelayed(60)]
        patience = Patience("the delay has been used up")
        while first.before:
            await patience.pause()
    async with gateway_of(tmp_path, model, Brings(EditingChannel(platform))) as gateway:
        await gateway.idle()
    assert list(platform.messages.values()) == ["whole", f"{RESENT}whole"]
