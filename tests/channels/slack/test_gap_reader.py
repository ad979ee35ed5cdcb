"""A large gap: its reading outlives the reader, and asks for no more than it has to."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import anyio

from channels.host import ChatReading, Cursors
from channels.message import OutboundMessage
from channels.slack.connection_monitor import ConnectionMonitor
from channels.slack.events import HttpConnection
from channels.testing import FakeHost
from tests.channels.slack.events import Source
from tests.channels.slack.hosts import Running, running
from tests.fakes.base.faults import ServerError
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel
from tests.kit.clock import ManualClock, rest

READS = ("conversations.history", "conversations.replies")
HOUR = timedelta(hours=1)


def threads(fake: FakeSlack, room: Channel, count: int) -> list[str]:
    """Have people talk in threads; return what they say, in its order in each thread."""
    ada, said = fake.user("Ada"), []
    for number in range(count):
        root = fake.say(room, ada, f"{room.name} {number}")
        fake.say(room, ada, f"{room.name} {number}.1", thread=root)
        said += [f"{room.name} {number}", f"{room.name} {number}.1"]
    return said


def unheard(fake: FakeSlack) -> None:
    """Give up every delivery."""
    fake.deliveries.forget()
    fake.deliveries.release()


def reads(fake: FakeSlack) -> list[tuple[str, str]]:
    """Return which conversations and threads were read."""
    calls = [call for call in fake.calls if call.method in READS]
    return [(str(call.channel), str(call.params.get("ts") or "")) for call in calls]


@dataclass
class Lives:
    """One process after the other, each of which knows what the former has stored."""

    fake: FakeSlack
    clock: ManualClock
    cursors: Cursors
    texts: list[str] = field(default_factory=list)
    closed: int = 0

    async def live(self, seconds: int) -> None:
        """Run a process for some seconds."""
        async with running(self.fake, clock=self.clock, cursors=self.cursors) as app:
            await pass_time(app, seconds)
        self.texts += [text for text in app.host.texts() if text not in self.texts]
        self.closed += app.host.gaps.count("closed")
        whole = {key: one.began for key, one in app.host.readings.items() if not one.thread}
        parts = {key: one for key, one in app.host.readings.items() if one.thread}
        kept = {**self.cursors.readings, **app.host.readings, **parts}
        readings = {key: one for key, one in kept.items() if one.thread}
        chats = {**self.cursors.chats, **whole}
        self.cursors = Cursors(self.cursors.accounts, chats, readings)


async def pass_time(app: Running, seconds: int) -> None:
    for _ in range(seconds):
        await app.clock.advance(1.0)
        await rest()


async def test_a_process_that_is_killed_every_minute_fills_a_gap_of_many_minutes() -> None:
    clock = ManualClock(datetime.now(UTC))
    fake = FakeSlack(limits=True, clock=clock.monotonic, sleep=clock.sleep)
    fake.epoch = clock.now().timestamp() - clock.monotonic()
    async with fake:
        fake.deliveries.hold()
        said = threads(fake, fake.channel("busy"), 120)
        said += threads(fake, fake.channel("quiet"), 1)
        unheard(fake)
        await clock.advance(1)
        lives = Lives(fake, clock, Cursors({"": clock.now() - HOUR}))
        await lives.live(50)
        assert "quiet 0" in lives.texts
        for _life in range(4):
            await lives.live(50)
        assert sorted(lives.texts) == sorted(said)
        for number in range(0, len(said), 2):
            assert lives.texts.index(said[number]) < lives.texts.index(said[number + 1])


async def test_a_reading_that_was_resumed_is_followed_by_one_of_the_time_since(
    clock: ManualClock, fake: FakeSlack
) -> None:
    room, ada = fake.channel("a"), fake.user("Ada")
    fake.deliveries.hold()
    roots = [fake.say(room, ada, f"root {number}") for number in range(2)]
    for root in roots:
        fake.say(room, ada, f"in {root.text}", thread=root)
    unheard(fake)
    await clock.advance(60)
    began = clock.now()
    fake.deliveries.hold()
    fake.say(room, ada, "since then", thread=roots[0])
    unheard(fake)
    cursor = began - HOUR
    readings = {("", room.id): ChatReading(began, roots[0].ts)}
    overlap = timedelta(seconds=10)
    cursors = Cursors({"": cursor}, {("", room.id): cursor}, readings, overlap)
    async with running(fake, clock=clock, cursors=cursors) as app:
        await app.ready()
        asked = [ts for chat, ts in reads(fake) if chat == room.id]
        assert asked[:3] == ["", roots[0].ts, roots[1].ts]  # the first one has a reply since
        assert asked[3] == ""
        assert "since then" in app.host.texts()
        assert app.host.gaps.count("closed") == 1


async def test_conversations_that_were_read_the_longest_ago_come_first(
    clock: ManualClock, fake: FakeSlack
) -> None:
    rooms = [fake.channel(name).id for name in "abcd"]
    now = clock.now()
    chats = {
        ("", room): now - hours * HOUR for room, hours in zip(rooms, (1, 3, 5, 9), strict=True)
    }
    readings = {("", rooms[3]): ChatReading(now - 2 * HOUR, "0")}
    cursors = Cursors({"": now}, chats, readings)
    async with running(fake, clock=clock, cursors=cursors) as app:
        await app.ready()
    first = list(dict.fromkeys(room for room, _thread in reads(fake)))
    assert first == [rooms[2], rooms[1], rooms[3], rooms[0]]


async def test_a_conversation_that_cannot_be_read_is_not_the_first_one_the_next_time(
    clock: ManualClock, fake: FakeSlack
) -> None:
    rooms = [fake.channel(name).id for name in "abcd"]
    for room in rooms[:3]:
        fake.fail("conversations.history", *[ServerError(500)] * 20, channel=room)
    lives = Lives(fake, clock, Cursors({"": clock.now() - HOUR}))
    await lives.live(14)
    assert rooms[3] not in {room for room, _thread in reads(fake)}
    await lives.live(14)
    assert rooms[3] in {room for room, _thread in reads(fake)}


async def test_threads_in_which_only_the_app_has_replied_are_not_read(
    clock: ManualClock, fake: FakeSlack
) -> None:
    room, ada = fake.channel("a"), fake.user("Ada")
    fake.deliveries.hold()
    answered = fake.say(room, ada, "@tapeway what is it?")
    fake.say(room, fake.workspace.bot, "A plum.", thread=answered)
    discussed = fake.say(room, ada, "@tapeway and why?")
    fake.say(room, fake.workspace.bot, "It is blue.", thread=discussed)
    fake.say(room, ada, "thank you", thread=discussed)
    unheard(fake)
    cursors = Cursors({"": clock.now() - HOUR})
    async with running(fake, clock=clock, cursors=cursors) as app:
        await app.ready()
        assert reads(fake) == [(room.id, ""), (room.id, discussed.ts)]
        assert app.host.texts()[-1] == "thank you"


async def test_the_check_whether_an_answer_was_sent_does_not_wait_for_a_large_gap(
    clock: ManualClock, fake: FakeSlack
) -> None:
    fake.deliveries.hold()
    threads(fake, room := fake.channel("a"), 60)
    unheard(fake)
    cursors = Cursors({"": clock.now() - HOUR})
    async with running(fake, clock=clock, cursors=cursors) as app:
        await fake.wait_for_calls("conversations.replies", 40)
        await rest()
        answer = OutboundMessage("slack", room.id, "plums", idem="t-1:0", thread_id="1.2")
        with anyio.fail_after(30):
            assert await app.channel.find(answer) == []


async def test_whoever_no_longer_listens_reads_nothing_more() -> None:
    async with anyio.create_task_group() as group:
        (host := FakeHost(clock := ManualClock())).open(group)
        source, ended = Source(clock), anyio.Event()

        async def read() -> None:
            try:
                await anyio.sleep_forever()
            finally:
                ended.set()

        source.read = read
        monitor = ConnectionMonitor(host, HttpConnection(), source)
        async with anyio.create_task_group() as listening:
            listening.start_soon(monitor.run)
            await clock.advance(0)
            monitor.gaps.start()
            await clock.advance(0)
            assert len(source.read_at) == 1
            listening.cancel_scope.cancel()
        await clock.advance(0)
        assert ended.is_set()
