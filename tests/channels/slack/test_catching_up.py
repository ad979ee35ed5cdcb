"""Catching up in every conversation: a failure in one does not hold up the others."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from channels.errors import ChannelDown
from channels.host import Cursors
from channels.message import InboundMessage
from channels.slack.connection_monitor import ConnectionMonitor
from channels.slack.events import HttpConnection
from channels.testing import FakeHost
from tests.channels.slack.events import Source
from tests.channels.slack.hosts import Running, running, slack
from tests.fakes.base.faults import Hang, ServerError
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock, rest


async def pass_time(app: Running, seconds: float) -> None:
    for _ in range(int(seconds)):
        await app.clock.advance(1.0)
        await rest()


def an_hour_ago(clock: ManualClock) -> Cursors:
    return Cursors({"": clock.now() - timedelta(hours=1)})


def skipped(app: Running) -> list[str]:
    return [gap for gap in app.host.gaps if gap.startswith("skipped")]


@pytest.mark.parametrize("fault", [Refuse("internal_error"), ServerError(500)])
async def test_an_unreadable_conversation_does_not_hold_up_the_others(fault: Refuse) -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        rooms = [fake.channel(name) for name in "abc"]
        fake.deliveries.hold()
        for room in rooms:
            fake.say(room, fake.user("Ada"), f"in {room.name}")
        fake.deliveries.forget()
        fake.deliveries.release()
        fake.fail("conversations.history", *[fault] * 20, channel=rooms[0].id)
        async with running(fake, clock=clock, cursors=an_hour_ago(clock)) as app:
            await pass_time(app, 30)
            assert sorted(app.host.texts()) == ["in b", "in c"]
            assert skipped(app) == [f"skipped /{rooms[0].id}"]
            assert app.host.gaps.count("closed") == 1
            fake.forget_faults()


async def test_if_no_conversation_can_be_read_the_catch_up_is_retried() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        room = fake.channel("a")
        fake.deliveries.hold()
        fake.say(room, fake.user("Ada"), "missed")
        fake.deliveries.forget()
        fake.deliveries.release()
        fake.fail("conversations.history", *[Refuse("internal_error")] * 4)
        async with running(fake, clock=clock, cursors=an_hour_ago(clock)) as app:
            await pass_time(app, 60)
            assert app.host.texts() == ["missed"]
            assert app.host.gaps.count("closed") == 1


async def test_a_missing_scope_affects_only_its_own_conversations() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        accepted: list[InboundMessage] = []
        fake.deliveries.hold()
        fake.say(fake.channel("a"), fake.user("Ada"), "missed")
        fake.deliveries.forget()
        fake.deliveries.release()
        fake.events.scopes -= {"groups:read"}
        async with running(fake, clock=clock, cursors=an_hour_ago(clock)) as app:
            await pass_time(app, 10)
            accepted = app.host.accepted
            assert [one.text for one in accepted] == ["missed"]
            assert skipped(app) == ["skipped /"]
            assert any("groups:read" in note for note in app.host.warnings)


async def test_messages_missed_during_a_catch_up_are_read_by_the_next_one() -> None:
    async with anyio.create_task_group() as group:
        (host := FakeHost(clock := ManualClock())).open(group)
        gate, source = anyio.Event(), Source(clock)

        async def wait_for_gate() -> None:
            if len(source.read_at) == 1:
                await gate.wait()

        source.read = wait_for_gate
        monitor = ConnectionMonitor(host, HttpConnection(), source)
        group.start_soon(monitor.run)
        await clock.advance(0)
        for seconds in (16, 0):
            monitor.gaps.missed()
            monitor.state.accepted()
            await clock.advance(seconds)
        assert len(source.read_at) == 1
        gate.set()
        await clock.advance(120)
        assert len(source.read_at) == 2
        group.cancel_scope.cancel()


async def test_a_catch_up_that_keeps_failing_is_retried_less_often() -> None:
    async with anyio.create_task_group() as group:
        (host := FakeHost(clock := ManualClock())).open(group)
        source = Source(clock)

        async def fail_at_first() -> None:
            if len(source.read_at) < 6:
                raise ChannelDown("away")

        source.read = fail_at_first
        monitor = ConnectionMonitor(host, HttpConnection(), source)
        group.start_soon(monitor.run)
        await clock.advance(0)
        monitor.gaps.missed()
        monitor.state.accepted()
        await clock.advance(600)
        assert source.read_at == [15, 30, 60, 120, 240, 360]
        monitor.gaps.missed()
        monitor.state.accepted()
        await clock.advance(15)
        assert source.read_at[6:] == [615]
        group.cancel_scope.cancel()


def installations(fake: FakeSlack, path: Path, *names: str) -> list[str]:
    """Create workspaces and a file of installations with them; return their ids."""
    made = [fake.world.workspace(name, f"xoxb-{name}") for name in names]
    held = {one.team_id: {"bot_token": f"xoxb-{one.name}", "name": one.name} for one in made}
    path.write_text(json.dumps(held))
    return [one.team_id for one in made]


async def test_a_workspace_that_is_unreachable_at_first_is_joined_later(tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    path = tmp_path / "installations.json"
    async with slack(clock) as fake:
        (other,) = installations(fake, path, "second")
        fake.world.workspaces[other].refused = "team_added_to_org"
        cursors = Cursors({other: clock.now() - timedelta(hours=1)})
        async with running(fake, clock=clock, installations=path, cursors=cursors) as app:
            await app.ready()
            assert f"skipped {other}/" in skipped(app)
            assert any("second" in note for note in app.host.warnings)
            bob = fake.user("Bob", workspace=fake.world.workspaces[other])
            fake.say(fake.im(bob), bob, "meanwhile")
            await pass_time(app, 10)
            assert app.host.texts() == []
            fake.world.workspaces[other].refused = ""
            await pass_time(app, 60)
            assert app.host.texts() == ["meanwhile"]
            assert app.host.accepted[0].account == other


@pytest.mark.parametrize(("refused", "stays"), [("token_revoked", False), ("fatal_error", True)])
async def test_an_unreachable_workspace_does_not_hold_up_the_others(
    tmp_path: Path, refused: str, stays: bool
) -> None:
    clock = ManualClock(datetime.now(UTC))
    path = tmp_path / "installations.json"
    async with slack(clock) as fake:
        second, third = installations(fake, path, "second", "third")
        async with running(fake, clock=clock, installations=path) as app:
            await app.ready()
            ada = fake.user("Ada", workspace=fake.world.workspaces[third])
            room = fake.im(ada)
            await pass_time(app, 5)
            fake.world.workspaces[second].refused = refused
            fake.drop_connections()
            await fake.connected(0)
            fake.say(room, ada, "in the gap")
            await pass_time(app, 30)
            assert app.host.texts() == ["in the gap"]
            assert app.host.accepted[0].backlog
            known = [one.account for one in app.channel.workspaces.all()]
            assert known == ["", second, third] if stays else ["", third]
            assert app.host.gaps.count("closed") == (1 if stays else 2)
            assert bool(app.host.warnings) is not stays


async def test_a_connection_lost_while_it_is_being_replaced_leaves_a_gap() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake, running(fake, clock=clock) as app:
        await app.ready()
        caught, slow = app.host.gaps.count("closed"), Hang()
        fake.fail("apps.connections.open", slow)
        fake.refresh()
        await fake.wait_for_calls("apps.connections.open", 2)
        fake.sockets.live[0].drop()
        await fake.wait_for(lambda it: not it.sockets.live)
        await rest()
        slow.release()
        await pass_time(app, 5)
        assert app.host.downs == ["the connection to Slack was lost. Reconnecting."]
        assert app.host.gaps.count("closed") == caught + 1
        assert app.host.times_ready == 2
