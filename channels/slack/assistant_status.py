"""The status under an answer that is on its way: "is thinking ...", as long as somebody waits.

Slack keeps one for two minutes, and takes it away by itself when the app says something there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.errors import ChannelError, SendDelayed, SendRefused
from channels.message import InboundMessage
from channels.pacing import Clock, Priority
from channels.slack.race import either
from channels.slack.workspaces import Workspace

THINKING: Final = "is thinking ..."
AGAIN_AFTER: Final = 90.0
LONGEST: Final = 1_800.0
"""Nobody is waited for longer than this, whatever became of a turn."""

Place = tuple[str, str, str]
"""Account, channel, thread."""


@dataclass(slots=True)
class _Shown:
    waiting: set[str] = field(default_factory=set)
    changed: anyio.Event = field(default_factory=anyio.Event)


class Statuses:
    """Who is waited for, by thread."""

    def __init__(
        self, clock: Clock, spawn: Callable[[str, Callable[[], Awaitable[None]]], None]
    ) -> None:
        self._clock = clock
        self._spawn = spawn
        self._places: dict[Place, _Shown] = {}
        self._unwanted: set[str] = set()

    def show(
        self, workspace: Workspace, thread: str | None, message: InboundMessage, *, on: bool
    ) -> None:
        """Show the status for a message from now on, or no more; waits for nothing."""
        if thread is None or workspace.account in self._unwanted:
            return
        place = (workspace.account, message.chat_id, thread)
        shown = self._places.get(place)
        if not on:
            if shown is not None:
                shown.waiting.discard(message.ext_id)
                shown.changed.set()
            return
        if shown is None:
            shown = self._places[place] = _Shown({message.ext_id})
            self._spawn("status", lambda: self._run(workspace, place, shown))
        shown.waiting.add(message.ext_id)

    async def _run(self, workspace: Workspace, place: Place, shown: _Shown) -> None:
        """Show the status again and again, then take it away."""
        until = self._clock.monotonic() + LONGEST
        try:
            visible = False
            while self._clock.monotonic() < until:
                if shown.waiting:
                    visible = await self._set(workspace, place, THINKING) or visible
                    await self._changed(shown)
                elif visible:
                    visible = False
                    await self._set(workspace, place, "")
                else:
                    return
        finally:
            if self._places.get(place) is shown:
                del self._places[place]

    async def _changed(self, shown: _Shown) -> None:
        """Wait until nobody waits any more, or the status has to be shown again."""

        async def nobody() -> None:
            while shown.waiting:
                await shown.changed.wait()
                shown.changed = anyio.Event()

        await either(nobody, lambda: self._clock.sleep(AGAIN_AFTER))

    async def _set(self, workspace: Workspace, place: Place, status: str) -> bool:
        """Set the status, if nothing else needs Slack more; tells whether it was."""
        method = "assistant.threads.setStatus"
        if workspace.api.budgets.wait(method, Priority.STATUS) > 0:
            return False
        _account, channel, thread = place
        try:
            await workspace.api.call(
                method,
                priority=Priority.STATUS,
                channel_id=channel,
                thread_ts=thread,
                status=status,
            )
        except SendDelayed:
            return False
        except SendRefused as refused:
            if getattr(refused, "code", "") in ("unknown_method", "missing_scope", "not_allowed"):
                self._unwanted.add(workspace.account)
            return False
        except ChannelError:
            return False  # one that is not shown is not missed
        return True
