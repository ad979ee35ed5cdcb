"""A wall clock that is set a day forward or back: nothing is lost, nothing happens early."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from channels.errors import SendDelayed
from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import ManualClock, QuickClock
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import gateway_of, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel

pytestmark = [
    pytest.mark.parametrize("jump", [timedelta(days=1), timedelta(days=-1)], ids=["on", "back"])
]


def said(number: int) -> dict[str, str]:
    return {"ext_id": f"-100/{number}", "message_id": str(number), "text": f"number {number}"}


async def test_a_burst_is_collected_for_as_long_as_ever(tmp_path: Path, jump: timedelta) -> None:
    clock, channel = ManualClock(), PlainChannel()
    more = {"ACCESS__MODE": "open", "BUFFER__DEBOUNCE": "2", "TAPE__URL": "memory:"}
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock, **more) as gateway:
        await channel.host.accept([replace(MESSAGE, **said(1))])  # type: ignore[arg-type]
        await gateway.taken_in()
        clock.jump(jump)
        await clock.advance(1.9)
        assert channel.posts == []
        await channel.host.accept([replace(MESSAGE, **said(2))])  # type: ignore[arg-type]
        await gateway.taken_in()
        await clock.advance(1.9)
        assert channel.posts == []
        await clock.advance(0.2)
        await gateway.idle()
        assert len(channel.posts) == 1
        assert "number 2" in channel.posts[0].text


async def test_what_has_to_wait_waits_and_keeps_its_order(tmp_path: Path, jump: timedelta) -> None:
    clock, channel = ManualClock(), EditingChannel(Platform(), streams=False)
    channel.before = [SendDelayed(40)]
    more = {"TAPE__URL": "memory:"}
    async with gateway_of(tmp_path, None, Brings(channel), clock=clock, **more) as gateway:
        for number, text in enumerate((",help", ",nonsense"), start=1):
            named = {**said(number), "ext_id": f"1/{number}", "text": text}
            await channel.host.accept([replace(QUESTION, **named)])  # type: ignore[arg-type]
        await gateway.taken_in()
        await clock.advance(1)
        clock.jump(jump)
        await clock.advance(38)
        assert channel.platform.messages == {}
        await clock.advance(2)
        await gateway.idle()
    first, second = channel.platform.messages.values()
    assert ",help" in first
    assert "nonsense" in second


async def test_what_is_open_is_taken_up_in_order_after_a_restart(
    model: FakeOpenAI, tmp_path: Path, jump: timedelta
) -> None:
    clock, first, second = QuickClock(), PlainChannel(), PlainChannel()
    more = {"ACCESS__MODE": "open", "CONTEXT__MODE": "anchor"}
    waits = {"BUFFER__DEBOUNCE": "60", "BUFFER__MAX_WAIT": "600"}
    async with gateway_of(tmp_path, model, Brings(first), **waits, **more) as gateway:
        await ask(gateway, first, 1)
        clock.jump(jump)
        await ask(gateway, first, 2)
    assert model.requests == []
    clock.jump(jump)
    async with gateway_of(tmp_path, model, Brings(second), clock=clock, **more) as gateway:
        await settled(gateway, "plain:-100")
    asked = [request.body["messages"][-1]["content"] for request in model.requests]
    assert ["number 1" in asked[0], "number 2" in asked[1]] == [True, True]
    assert len(second.posts) == 2


async def ask(gateway: Gateway, channel: PlainChannel, number: int) -> None:
    """Ask as somebody of the number's own: two bursts."""
    author = replace(MESSAGE.sender, id=str(number))
    await channel.host.accept([replace(MESSAGE, sender=author, **said(number))])  # type: ignore[arg-type]
    await gateway.taken_in()
