"""What was missed is asked for everywhere: what fails in one place holds up no other."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from channels.errors import ChannelDown
from channels.host import Cursors
from channels.message import InboundMessage
from channels.slack.connection_monitor import ConnectionMonitor
from tests.channels.slack.hosts import Running, SlackHost, running, slack
from tests.clock import ManualClock
from tests.fakes.base.faults import Hang, ServerError
from tests.fakes.slack.faults import Refuse
from tests.fakes.slack.server import FakeSlack

pytestmark = pytest.mark.anyio


async def pass_time(app: Running, seconds: float) -> None:
    for _ in range(int(seconds)):
        await app.clock.advance(1.0)
        await anyio.sleep(0.002)


def an_hour_ago(clock: ManualClock) -> Cursors:
    return Cursors({"": clock.now() - timedelta(hours=1)})


def note_skipped(app: Running) -> list[tuple[str, str]]:
    """Return where what is left out will stand."""
    found: list[tuple[str, str]] = []

    def gap_skipped(chat_id: str, account: str = "") -> None:
        found.append((chat_id, account))

    app.host.gap_skipped = gap_skipped  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize("fault", [Refuse("internal_error"), ServerError(500)])
async def test_a_conversation_that_cannot_be_read_holds_up_no_other(fault: Refuse) -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        rooms = [fake.channel(name) for name in "abc"]
        fake.deliveries.hold()
        for room in rooms:
            fake.say(room, fake.user("Ada"), f"in {room.name}")
        fake.deliveries.forget()
        fake.deliveries.release()
        fake.fail("conversations.history", *[fault] * 20, channel=rooms[0].id)
        async with running(fake, clock=clock, marks=an_hour_ago(clock)) as app:
            skipped = note_skipped(app)
            await pass_time(app, 30)
            assert sorted(app.host.texts()) == ["in b", "in c"]
            assert skipped == [(rooms[0].id, "")]
            assert app.host.caught == 1
            fake.forget_faults()


async def test_where_no_conversation_can_be_read_it_is_tried_again() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        room = fake.channel("a")
        fake.deliveries.hold()
        fake.say(room, fake.user("Ada"), "missed")
        fake.deliveries.forget()
        fake.deliveries.release()
        fake.fail("conversations.history", *[Refuse("internal_error")] * 4)
        async with running(fake, clock=clock, marks=an_hour_ago(clock)) as app:
            await pass_time(app, 60)
            assert app.host.texts() == ["missed"]
            assert app.host.caught == 1


async def test_a_scope_that_is_missing_costs_its_conversations_only() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        said: list[InboundMessage] = []
        fake.deliveries.hold()
        fake.say(fake.channel("a"), fake.user("Ada"), "missed")
        fake.deliveries.forget()
        fake.deliveries.release()
        fake.events.scopes -= {"groups:read"}
        async with running(fake, clock=clock, marks=an_hour_ago(clock)) as app:
            skipped = note_skipped(app)
            await pass_time(app, 10)
            said = app.host.accepted
            assert [one.text for one in said] == ["missed"]
            assert skipped == [("", "")]
            assert any("groups:read" in note for note in app.host.notes)


async def test_what_is_missed_during_a_catch_up_is_asked_for_after_it() -> None:
    async with anyio.create_task_group() as group:
        host = SlackHost(group, clock := ManualClock())
        gate, asked = anyio.Event(), 0

        async def catch_up() -> None:
            nonlocal asked
            asked += 1
            if asked == 1:
                await gate.wait()

        presence = ConnectionMonitor(host, catch_up)
        group.start_soon(presence.fill_gaps)
        await clock.advance(0)
        for seconds in (16, 0):
            presence.missing()
            presence.took()
            await clock.advance(seconds)
        assert asked == 1
        gate.set()
        await clock.advance(120)
        assert asked == 2
        group.cancel_scope.cancel()


async def test_a_catch_up_that_fails_again_and_again_is_tried_less_often() -> None:
    async with anyio.create_task_group() as group:
        host = SlackHost(group, clock := ManualClock())
        asked: list[float] = []

        async def catch_up() -> None:
            asked.append(clock.monotonic())
            if len(asked) < 6:
                raise ChannelDown("away")

        presence = ConnectionMonitor(host, catch_up)
        group.start_soon(presence.fill_gaps)
        await clock.advance(0)
        presence.missing()
        presence.took()
        await clock.advance(600)
        assert asked == [15, 30, 60, 120, 240, 360]
        presence.missing()
        presence.took()
        await clock.advance(15)
        assert asked[6:] == [615]
        group.cancel_scope.cancel()


def installations(fake: FakeSlack, path: Path, *names: str) -> list[str]:
    """Make workspaces and the file of them; returns their ids."""
    made = [fake.world.workspace(name, f"xoxb-{name}") for name in names]
    held = {one.team_id: {"bot_token": f"xoxb-{one.name}", "name": one.name} for one in made}
    path.write_text(json.dumps(held))
    return [one.team_id for one in made]


async def test_a_workspace_that_cannot_be_reached_at_first_is_joined_later(tmp_path: Path) -> None:
    clock = ManualClock(datetime.now(UTC))
    path = tmp_path / "installations.json"
    async with slack(clock) as fake:
        (other,) = installations(fake, path, "second")
        fake.world.workspaces[other].refused = "team_added_to_org"
        marks = Cursors({other: clock.now() - timedelta(hours=1)})
        async with running(fake, clock=clock, installations=path, marks=marks) as app:
            skipped = note_skipped(app)
            await app.ready()
            assert ("", other) in skipped
            assert any("second" in note for note in app.host.notes)
            bob = fake.user("Bob", workspace=fake.world.workspaces[other])
            fake.say(fake.im(bob), bob, "meanwhile")
            await pass_time(app, 10)
            assert app.host.texts() == []
            fake.world.workspaces[other].refused = ""
            await pass_time(app, 60)
            assert app.host.texts() == ["meanwhile"]
            assert app.host.accepted[0].account == other


@pytest.mark.parametrize(("refused", "stays"), [("token_revoked", False), ("fatal_error", True)])
async def test_a_workspace_that_cannot_be_asked_holds_up_no_other(
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
            known = [one.account for one in app.channel._workspaces.all()]
            assert known == ["", second, third] if stays else ["", third]
            assert app.host.caught == (1 if stays else 2)
            assert bool(app.host.notes) is not stays
            assert app.ended is None


async def test_a_connection_that_is_lost_while_it_is_replaced_leaves_a_gap() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake, running(fake, clock=clock) as app:
        await app.ready()
        caught, slow = app.host.caught, Hang()
        fake.fail("apps.connections.open", slow)
        fake.refresh()
        await fake.wait_for_calls("apps.connections.open", 2)
        fake.sockets.live[0].drop()
        await fake.wait_for(lambda it: not it.sockets.live)
        await anyio.sleep(0.02)
        slow.release()
        await pass_time(app, 5)
        assert app.host.downs == ["the connection to Slack broke off. Connecting again."]
        assert app.host.caught == caught + 1
        assert app.host.times_ready == 2
