"""A day on which nobody says anything costs no model call, and no traffic but polls and pings."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from channels.discord.history_audit import AUDIT_SECONDS
from channels.discord.shard import PROBE_SECONDS
from channels.registry import CHANNELS
from channels.slack.socket_mode import PING_SECONDS
from channels.telegram.settings import TelegramSettings
from tests.contracts.texts import loop_time
from tests.fakes.base.server import FakeServer
from tests.kit.play import opened
from tests.kit.stages.discord import DiscordStage
from tests.kit.stages.slack import SlackStage
from tests.kit.stages.telegram import TelegramStage

DAY: Final = 24 * 3600
POLL: Final = TelegramSettings().poll_seconds
DISCORD_FRAMES: Final = 2  # a heartbeat, and the probe of whether events still come


async def test_an_idle_day_asks_no_model_and_only_polls_and_pings(tmp_path: Path) -> None:
    async with opened("telegram") as house:
        telegram = house.stage
        assert isinstance(telegram, TelegramStage)
        async with DiscordStage(house.clock) as discord, SlackStage(house.clock) as slack:
            more = {**discord.settings(), **slack.settings(), "AGENT__PROBE": "true"}
            also = sorted(CHANNELS.keys() - {"telegram"})
            async with house.playing(tmp_path, also=also, TAPE__URL="memory:", **more) as play:
                for stage in (telegram, discord, slack):
                    stage.group()
                await play.gateway.models.probe()  # as `tapeway gateway` does once it is ready
                with loop_time(play.clock):
                    await play.clock.advance(POLL)
                    probes = len(house.model.requests)
                    fakes: list[FakeServer[Any, Any]] = [telegram.fake, discord.fake, slack.fake]
                    calls, frames = [len(f.calls) for f in fakes], [f.frames for f in fakes]
                    for _ in range(DAY // POLL):
                        await play.clock.advance(POLL)
                    calls = [len(f.calls) - n for f, n in zip(fakes, calls, strict=True)]
                    frames = [f.frames - n for f, n in zip(fakes, frames, strict=True)]
                assert set(play.gateway.status.states) == set(CHANNELS)
                assert all(one.state == "ready" for one in play.gateway.status.states.values())
    assert len(house.model.requests) == probes <= 2
    polls = [pytest.approx(DAY / POLL, abs=2), pytest.approx(DAY / AUDIT_SECONDS, abs=2), 0]
    assert calls == polls
    assert {call.method for call in telegram.fake.calls[-calls[0] :]} == {"getUpdates"}
    assert {call.kind for call in discord.fake.calls[-calls[1] :]} == {"history"}
    beats = pytest.approx(DISCORD_FRAMES * DAY / PROBE_SECONDS, abs=4)
    assert frames == [0, beats, pytest.approx(DAY / PING_SECONDS, abs=4)]
