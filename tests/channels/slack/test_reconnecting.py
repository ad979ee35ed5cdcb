"""The Slack channel when a connection ends: nothing is lost, late or out of order."""

from __future__ import annotations

from datetime import timedelta

import anyio

from channels.host import Cursors
from channels.message import OutboundMessage
from tests.channels.slack.hosts import all_delivered, running, slack
from tests.fakes.base.faults import Hang
from tests.kit.clock import ManualClock, rest


async def test_f2_a_refresh_leaves_one_connection_and_loses_nothing() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock) as app:
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


async def test_f2_messages_sent_during_a_reconnect_are_not_delayed_until_a_redelivery() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock) as app:
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


async def test_f2_messages_after_a_gap_are_accepted_after_those_in_it() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock) as app:
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


async def test_f3_a_message_sent_without_a_connection_does_not_make_the_next_one_stalled() -> None:
    clock = ManualClock()
    async with slack(clock) as fake, running(fake, clock=clock) as app:
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


async def test_backfill_reads_the_missed_messages_of_channels_and_threads() -> None:
    async with slack() as fake:
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
