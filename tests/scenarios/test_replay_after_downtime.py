"""Questions that came while the gateway was away, and how long each channel has been heard."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import every, gateway_of, settled
from tests.kit.plain_channels import Brings


def ago(hours: float) -> str:
    return (datetime.now(UTC) - timedelta(hours=hours)).isoformat()


async def ask(
    gateway: Gateway, channel: EditingChannel, *hours: float, backlog: bool = True
) -> None:
    await channel.host.accept(
        [
            replace(
                QUESTION,
                ext_id=f"1/{number}",
                message_id=str(number),
                date=ago(age),
                backlog=backlog,
            )
            for number, age in enumerate(hours, start=1)
        ]
    )
    await gateway.taken_in()
    await settled(gateway, "editing:1")


async def test_d2_a_question_from_while_we_were_away_is_answered(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    platform = Platform()
    channel = EditingChannel(platform)
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        await ask(gateway, channel, 23.9)
    assert len(model.requests) == 1


async def test_d2_older_questions_are_remembered_and_one_notice_tells_of_them(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    soon = every(stale_questions=0.02)
    platform = Platform()
    channel = EditingChannel(platform)
    async with gateway_of(tmp_path, model, Brings(channel), internals=soon) as gateway:
        await ask(gateway, channel, 30, 27, 25, 1)
        while len(platform.messages) < 2:
            await platform.changed.wait()
        await settled(gateway, "editing:1")
        tape = await gateway.services.tapes.session_tape("editing:1").read()
    assert len(model.requests) == 1
    assert len(platform.messages) == 2
    (told,) = [text for text in platform.messages.values() if text.startswith("I was away")]
    assert "(3 here)" in told
    assert sum(entry.kind == "message" and "inbox" in entry.meta for entry in tape) == 4


async def test_a_clock_that_is_wrong_makes_no_question_old_that_comes_in_now(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = EditingChannel(Platform())
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        await ask(gateway, channel, 48, backlog=False)
    assert len(model.requests) == 1


async def test_a_date_that_no_platform_can_mean_makes_nothing_old(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = EditingChannel(Platform())
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        await ask(gateway, channel, 24 * 400)
    assert len(model.requests) == 1


async def test_f3_a_deaf_channel_is_named_and_a_quiet_one_is_not(tmp_path: Path) -> None:
    channel = EditingChannel(Platform())
    channel.traits = replace(channel.traits, stalled_after=60.0)
    async with gateway_of(tmp_path, None, Brings(channel)) as gateway:
        assert gateway.status.stalled() == {}
        gateway.status.states["editing"].heard -= 100
        assert 100 <= gateway.status.stalled()["editing"] < 110
        assert gateway.status.states["editing"].state == "ready"
        channel.host.heartbeat()
        assert gateway.status.stalled() == {}
