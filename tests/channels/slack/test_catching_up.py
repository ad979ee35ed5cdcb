"""What came while Slack could not be heard: caught up with once, in its order."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from channels.errors import ChannelDown
from channels.host import Cursors
from channels.message import InboundMessage, OutboundMessage
from channels.slack.connection_monitor import ConnectionMonitor
from channels.slack.events import HttpConnection
from channels.testing import FakeHost
from tests.channels.slack.events import Source
from tests.channels.slack.hosts import Running, all_delivered, running, slack
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
async def test_an_unreadable_conversation_does_not_hold_up_the_others(
    fault: Refuse, clock: ManualClock, fake: FakeSlack
) -> None:
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


async def test_if_no_conversation_can_be_read_the_catch_up_is_retried(
    clock: ManualClock, fake: FakeSlack
) -> None:
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


async def test_a_missing_scope_affects_only_its_own_conversations(
    clock: ManualClock, fake: FakeSlack
) -> None:
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


async def test_f2_a_refresh_leaves_one_connection_and_loses_nothing(
    clock: ManualClock, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    room, ada = fake.channel(), fake.user("Ada")
    async with anyio.create_task_group() as group:
        group.start_soon(tick, clock)
        for number in range(5):
            opened = fake.sockets.opened
            fake.refresh()
            fake.say(room, ada, f"{number}")
            await fake.wait_for(lambda it, was=opened: it.sockets.opened > was)  # type: ignore[misc]
            await fake.connected(1)
        await app.heard(5)
        group.cancel_scope.cancel()
    assert sorted(app.host.texts()) == [str(number) for number in range(5)]
    assert app.host.downs == []
    assert len(fake.sockets.live) == 1


async def test_f2_messages_sent_during_a_reconnect_are_not_delayed_until_a_redelivery(
    clock: ManualClock, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    room, ada = fake.channel(), fake.user("Ada")
    await clock.advance(1)
    begun = clock.monotonic()
    fake.refresh()
    fake.say(room, ada, "meanwhile")
    fake.refresh("warning")
    async with anyio.create_task_group() as group:
        group.start_soon(tick, clock)
        await app.heard(1)
        group.cancel_scope.cancel()
    assert clock.monotonic() - begun < 30  # Slack delivers again after a minute
    assert app.host.downs == []


async def test_f2_messages_after_a_gap_are_accepted_after_those_in_it(
    clock: ManualClock, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    room, ada = fake.channel(), fake.user("Ada")
    await clock.advance(1)
    slow = Hang()
    fake.drop_connections()
    await fake.connected(0)
    fake.say(room, ada, "in the gap")
    fake.fail("conversations.history", slow)
    await clock.advance(2)
    await fake.wait_for_calls("conversations.history", 1)
    fake.say(room, ada, "after it")
    await clock.advance(1)
    await rest()
    assert app.host.texts() == []
    slow.release()
    await app.heard(2)
    assert app.host.texts() == ["in the gap", "after it"]
    fake.drop_connections()
    await fake.connected(0)
    fake.fail("users.conversations", Hang())
    await clock.advance(2)
    await fake.wait_for_calls("users.conversations", 3)
    fake.say(room, ada, "waits for a while only")
    await rest()
    await clock.advance(2.1)
    await app.heard(3)


async def test_f3_a_message_sent_without_a_connection_does_not_make_the_next_one_stalled(
    clock: ManualClock, fake: FakeSlack, app: Running
) -> None:
    await app.ready()
    room, ada = fake.channel(), fake.user("Ada")
    fake.say(room, ada, "hello")
    await app.heard(1)
    await all_delivered(fake)
    fake.drop_connections()
    await fake.connected(0)
    await app.host.until(lambda: bool(app.host.downs))
    await app.channel.deliver(OutboundMessage("slack", room.id, "one", idem="t-1:0"))
    await clock.advance(5)
    await app.host.until(lambda: app.host.times_ready > 1)
    fake.deliveries.hold()
    await app.channel.deliver(OutboundMessage("slack", room.id, "two", idem="t-2:0"))
    for _step in range(4):
        await clock.advance(0.5)
        await rest()
    assert len(app.host.downs) == 1


async def tick(clock: ManualClock) -> None:
    while True:
        await clock.advance(0.5)
        await rest()


async def test_backfill_reads_the_missed_messages_of_channels_and_threads(fake: FakeSlack) -> None:
    room, ada = fake.channel(), fake.user("Ada")
    fake.deliveries.hold()
    old = fake.say(room, ada, "before the mark")
    root = fake.say(room, ada, "@tapeway what is it?")
    fake.say(room, ada, "and why?", thread=root)
    edited = fake.say(room, ada, "pears")
    fake.edit(room, edited, "plums")
    fake.say(room, fake.workspace.bot, "of my own")
    fake.say(fake.im(ada), ada, "hello")
    fake.deliveries.forget()
    fake.deliveries.release()
    async with running(fake) as other:
        cursor = other.clock.now() - timedelta(days=1)
    cursors = Cursors({"": cursor}, {("", room.id): cursor})
    async with running(fake, cursors=cursors) as app:
        await app.ready()
        sent = [(one.kind, one.text) for one in app.host.accepted]
        assert sent == [
            ("message", "before the mark"),
            ("message", "@tapeway what is it?"),
            ("message", "and why?"),
            ("message", "plums"),
            ("edit", "plums"),
            ("message", "hello"),
        ]
        assert {one.backlog for one in app.host.accepted} == {True}
        assert app.host.accepted[2].thread_id == root.ts
        assert app.host.accepted[2].follows
        assert app.host.gaps.count("closed") == 1
        assert old.ts == app.host.accepted[0].message_id


THREAD_FAULTS: dict[str, Refuse | ServerError] = {
    "a thread that is gone": Refuse("thread_not_found"),
    "a message that is gone": Refuse("message_not_found"),
    "a page": ServerError(403),
    "a code that nobody listed": Refuse("nobody_listed_this"),
}


@pytest.mark.parametrize("name", THREAD_FAULTS)
async def test_a_refused_thread_keeps_its_gap_open_unless_it_is_gone(
    name: str, fake: FakeSlack
) -> None:
    room, ada = fake.channel(), fake.user("Ada")
    fake.deliveries.hold()
    root = fake.say(room, ada, "@tapeway what is it?")
    fake.say(room, ada, "and why?", thread=root)
    fake.say(fake.im(ada), ada, "hello")
    fake.deliveries.forget()
    fake.deliveries.release()
    fake.fail("conversations.replies", THREAD_FAULTS[name])
    clock = ManualClock(datetime.now(UTC))
    cursor = clock.now() - timedelta(days=1)
    cursors = Cursors({"": cursor}, {("", room.id): cursor})
    async with running(fake, clock=clock, cursors=cursors) as app, anyio.create_task_group() as go:
        go.start_soon(tick, clock)
        await app.ready()
        go.cancel_scope.cancel()
        said = {one.text for one in app.host.accepted}
        assert said >= {"hello", "@tapeway what is it?"}
        assert ("and why?" in said) is (name == "a page")
        skipped = f"skipped /{room.id}" in app.host.gaps
        assert skipped is (name == "a code that nobody listed")
