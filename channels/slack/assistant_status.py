"""Shows the status "is thinking ..." in a thread while a question waits for its answer.

Slack removes the status after two minutes, and when the app writes in the thread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.clock import Clock, wait_at_most
from channels.errors import ChannelError
from channels.host import Spawn
from channels.message import InboundMessage
from channels.pacing import Priority
from channels.slack.workspaces import Workspace

THINKING: Final = "is thinking ..."
REFRESH_SECONDS: Final = 90.0
MAX_SECONDS: Final = 1_800.0
"""Maximum seconds for which a status is shown, even if its turn never ends."""

ThreadKey = tuple[str, str, str]  # account, channel, thread


@dataclass(slots=True)
class _Shown:
    waiting: set[str] = field(default_factory=set)
    changed: anyio.Event = field(default_factory=anyio.Event)

    async def until_answered(self) -> None:
        while self.waiting:
            await self.changed.wait()
            self.changed = anyio.Event()


class Statuses:
    def __init__(self, clock: Clock, spawn: Spawn) -> None:
        self._clock = clock
        self._spawn = spawn
        self._threads: dict[ThreadKey, _Shown] = {}
        self._unwanted: set[str] = set()

    def show(
        self, workspace: Workspace, thread: str | None, message: InboundMessage, *, on: bool
    ) -> None:
        """Show or remove the status for a message, in the background."""
        if thread is None or workspace.account in self._unwanted:
            return
        thread_key = (workspace.account, message.chat_id, thread)
        shown = self._threads.get(thread_key)
        if not on:
            if shown is not None:
                shown.waiting.discard(message.ext_id)
                shown.changed.set()
            return
        if shown is None:
            shown = self._threads[thread_key] = _Shown({message.ext_id})
            self._spawn("status", lambda: self._run(workspace, thread_key, shown))
        shown.waiting.add(message.ext_id)

    def end_all(self) -> None:
        """Remove every status, in the background."""
        for shown in self._threads.values():
            shown.waiting.clear()
            shown.changed.set()

    async def _run(self, workspace: Workspace, thread_key: ThreadKey, shown: _Shown) -> None:
        until = self._clock.monotonic() + MAX_SECONDS
        try:
            visible = False
            while self._clock.monotonic() < until:
                if shown.waiting:
                    visible = await self._set(workspace, thread_key, THINKING) or visible
                    await wait_at_most(self._clock, REFRESH_SECONDS, shown.until_answered)
                elif visible:
                    visible = False
                    await self._set(workspace, thread_key, "")
                else:
                    return
        finally:
            if self._threads.get(thread_key) is shown:
                del self._threads[thread_key]

    async def _set(self, workspace: Workspace, thread_key: ThreadKey, status: str) -> bool:
        """Set the status unless many requests are waiting; return whether it was set."""
        method = "assistant.threads.setStatus"
        if not await workspace.api.limits.allows(method, Priority.STATUS):
            return False
        _account, channel, thread = thread_key
        given = {"channel_id": channel, "thread_ts": thread, "status": status}
        try:
            await workspace.api.call(method, priority=Priority.STATUS, **given)
        except ChannelError as error:  # a status is not important enough for a retry
            if getattr(error, "code", "") in ("unknown_method", "missing_scope", "not_allowed"):
                self._unwanted.add(workspace.account)
            return False
        return True
