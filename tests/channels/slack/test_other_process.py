"""What one process knows of Slack, and another one needs."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette

from channels.errors import ChannelDown, SendRefused
from channels.facts import OwnFacts
from channels.message import OutboundMessage
from channels.slack.adapter import SlackChannel
from channels.slack.settings import SlackSettings
from channels.testing import FakeHost
from tests.channels.slack.events import signed
from tests.channels.slack.hosts import slack
from tests.contracts.pairs import Pair, answer, attached_to, pair
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock, rest
from tests.kit.stages.slack import SlackStage

SEARCHES = ("conversations.history", "conversations.replies")


def searches(both: Pair) -> int:
    assert isinstance(both.stage, SlackStage)
    return sum(call.method in SEARCHES for call in both.stage.fake.calls)


@pytest.mark.parametrize("fresh", [True, False])
async def test_only_an_answer_that_may_have_begun_is_looked_for(
    tmp_path: Path, fresh: bool
) -> None:
    async with pair("slack", tmp_path) as both:
        await both.stage.say(both.stage.group(), both.stage.person("Bob"), "what is it?")
        message = answer(await both.heard("what is it?"), "A test.")
        before = searches(both)
        if fresh:
            both.other.fresh.add(message.idem)
        await both.clock.run(both.sender.send(message))
        assert (searches(both) == before) == fresh


@pytest.mark.parametrize("stalls", [True, False])
async def test_the_send_of_another_process_shows_that_the_connection_has_stalled(
    tmp_path: Path, stalls: bool
) -> None:
    async with pair("slack", tmp_path) as both:
        await both.stage.say(both.stage.group(), both.stage.person("Bob"), "what is it?")
        said = await both.heard("what is it?")
        await both.clock.advance(10)
        if stalls:
            both.stage.stall_events()
        await both.clock.run(both.sender.send(answer(said, "A test.")))
        await both.clock.advance(10)
        assert bool(both.host.downs) == stalls
        if stalls:
            both.stage.resume_events()


@asynccontextmanager
async def attached(
    fake: FakeSlack, facts: OwnFacts, **more: object
) -> AsyncIterator[tuple[SlackChannel, FakeHost]]:
    """Attach a channel to the fake, with what another process knows."""
    values = {
        "bot_token": fake.bot_token,
        "app_token": "",
        "signing_secret": fake.signing_secret,
        "base_url": fake.base_url,
        "reorder_seconds": 0,
        **more,
    }
    channel, host = SlackChannel(SlackSettings.model_validate(values)), FakeHost()
    host.facts = facts
    async with attached_to(channel, host):
        await channel.attach(host)
        yield channel, host


async def test_over_http_a_process_that_does_not_listen_takes_events_too() -> None:
    facts = OwnFacts(ManualClock(), shared=True)
    async with slack() as fake, attached(fake, facts) as (channel, host):
        transport = httpx2.ASGITransport(app=Starlette(routes=list(channel.routes())))
        async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as web:
            fake.deliveries.hold()
            fake.say(fake.channel(), fake.user("Ada"), "one")
            body = json.dumps(fake.deliveries.all[-1].payload)
            taken = await web.post("/slack/events", content=body, headers=signed(fake, body))
            assert taken.status_code == 200
            assert host.texts() == ["one"]
            assert host.times_ready == 0  # another process reads what was missed


async def test_a_workspace_that_another_process_installed_can_be_written_to(tmp_path: Path) -> None:
    facts = OwnFacts(ManualClock(), shared=True)
    async with slack() as fake, attached(fake, facts) as (channel, _host):
        other = fake.world.workspace("Other Works", "xoxb-2-test")
        chat = fake.im(fake.user("Bob", workspace=other)).id
        message = OutboundMessage("slack", chat, "hello", account=other.team_id, idem="n-1")
        with pytest.raises(SendRefused):
            await channel.deliver(message)
        facts.put({f"workspace/{other.team_id}": {"token": "xoxb-2-test", "name": "Other"}})
        with pytest.raises(ChannelDown):  # it waits until the workspace is joined
            await channel.deliver(message)
        await rest()
        await channel.deliver(message)
        facts.put({f"workspace/{other.team_id}": None})
        await rest()
        assert [one.account for one in channel.workspaces.all()] == [""]


async def test_the_file_of_installations_becomes_rows(tmp_path: Path, fake: FakeSlack) -> None:
    facts = OwnFacts(ManualClock(), shared=True)
    other = fake.world.workspace("Other Works", "xoxb-2-test")
    path = tmp_path / "installations.json"
    path.write_text(json.dumps({other.team_id: {"bot_token": "xoxb-2-test"}}))
    async with attached(fake, facts, installations=path):
        assert facts.get(f"workspace/{other.team_id}")["token"] == "xoxb-2-test"
    async with attached(fake, facts) as (channel, _host):  # in a home without the file
        assert {one.account for one in channel.workspaces.all()} == {"", other.team_id}
