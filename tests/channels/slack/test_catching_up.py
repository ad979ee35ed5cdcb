"""What was missed is asked for everywhere: what fails in one place holds up no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import pytest

from channels.host import Marks
from channels.message import InboundMessage
from tests.channels.slack.hosts import Running, running, slack
from tests.clock import ManualClock
from tests.fakes.slack_faults import Refuse, ServerError

pytestmark = pytest.mark.anyio


async def pass_time(app: Running, seconds: float) -> None:
    for _ in range(int(seconds)):
        await app.clock.advance(1.0)
        await anyio.sleep(0.002)


def an_hour_ago(clock: ManualClock) -> Marks:
    return Marks({"": clock.now() - timedelta(hours=1)})


def note_skipped(app: Running) -> list[tuple[str, str]]:
    """Return where what is left out will stand."""
    found: list[tuple[str, str]] = []

    def skipped(chat_id: str, account: str = "") -> None:
        found.append((chat_id, account))

    app.host.skipped = skipped  # type: ignore[method-assign]
    return found


@pytest.mark.parametrize("fault", [Refuse("internal_error"), ServerError(500)])
async def test_a_conversation_that_cannot_be_read_holds_up_no_other(fault: Refuse) -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        rooms = [fake.channel(name) for name in "abc"]
        fake.deliveries.hold()
        for room in rooms:
            fake.say(room, fake.user("Ada"), f"in {room.name}")
        fake.deliveries._open.clear()
        fake.deliveries.release()
        fake.fail("conversations.history", *[fault] * 20, channel=rooms[0].id)
        async with running(fake, clock=clock, marks=an_hour_ago(clock)) as app:
            skipped = note_skipped(app)
            await pass_time(app, 30)
            assert sorted(app.host.texts()) == ["in b", "in c"]
            assert skipped == [(rooms[0].id, "")]
            assert app.host.caught == 1
            fake._faults._queued.clear()


async def test_where_no_conversation_can_be_read_it_is_tried_again() -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake:
        room = fake.channel("a")
        fake.deliveries.hold()
        fake.say(room, fake.user("Ada"), "missed")
        fake.deliveries._open.clear()
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
        fake.deliveries._open.clear()
        fake.deliveries.release()
        fake.events.scopes -= {"groups:read"}
        async with running(fake, clock=clock, marks=an_hour_ago(clock)) as app:
            skipped = note_skipped(app)
            await pass_time(app, 10)
            said = app.host.accepted
            assert [one.text for one in said] == ["missed"]
            assert skipped == [("", "")]
            assert any("groups:read" in note for note in app.host.notes)
