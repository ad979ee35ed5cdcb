"""The events of the app's own messages, which show whether a connection delivers any."""

from __future__ import annotations

import anyio
import pytest

from channels.slack.self_events import ECHO_SECONDS, SelfEvents
from tests.kit.clock import ManualClock

ASKED = {"type": "message", "channel": "C1", "user": "U1"}
OWN = {"type": "message", "channel": "C1", "bot_id": "B1"}


@pytest.mark.parametrize(("early", "overdue"), [(True, False), (False, True)])
async def test_an_event_that_comes_before_slack_s_answer_is_not_waited_for(
    early: bool, overdue: bool
) -> None:
    clock, found = ManualClock(), anyio.Event()
    events = SelfEvents(clock)

    async def watch() -> None:
        await events.overdue()
        found.set()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        events.heard("T1", ASKED)
        if early:
            events.heard("T1", OWN)
        events.sent("T1", "C1", "post")
        for _step in range(12):
            await clock.advance(ECHO_SECONDS / 8)
        assert found.is_set() is overdue
        group.cancel_scope.cancel()
