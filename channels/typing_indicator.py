"""Typing signs: each lasts some seconds and is repeated while an answer is being written.

Signs need no permit, but stop while the chat's gate is closed; a thread's questions share one sign.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

import anyio

from channels.clock import Clock
from channels.errors import ChannelError, SendDelayed, SendRefused
from channels.host import Spawn
from channels.message import InboundMessage
from channels.pacing import Pacing

TYPING_INTERVAL_SECONDS: Final = 4.5
"""Seconds between two signs of a thread; they last five on the strictest platform."""

_Thread = tuple[str, str | None]  # chat and thread


@dataclass(slots=True)
class _Signs:
    waiting: set[str] = field(default_factory=set)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)


class TypingIndicator:
    """Keeps sending the typing signs of each thread; `show` sends one sign."""

    def __init__(
        self,
        show: Callable[[InboundMessage], Awaitable[None]],
        pacing: Pacing,
        clock: Clock,
        spawn: Spawn,
    ) -> None:
        self._show = show
        self._pacing = pacing
        self._clock = clock
        self._spawn = spawn
        self.threads: dict[_Thread, _Signs] = {}

    def begin(self, message: InboundMessage) -> None:
        """Send typing signs until `end` is called for this message."""
        thread = (message.chat_id, message.thread_id)
        signs = self.threads.get(thread)
        if signs is None:
            signs = self.threads[thread] = _Signs()
            self._spawn("typing", lambda: self._run(thread, signs, message))
        signs.waiting.add(message.ext_id)

    def end(self, message: InboundMessage) -> None:
        thread = (message.chat_id, message.thread_id)
        signs = self.threads.get(thread)
        if signs is None:
            return
        signs.waiting.discard(message.ext_id)
        if not signs.waiting:
            del self.threads[thread]
            signs.scope.cancel()

    def end_all(self) -> None:
        """End the typing signs of all threads."""
        for signs in self.threads.values():
            signs.waiting.clear()
            signs.scope.cancel()
        self.threads.clear()

    async def _run(self, thread: _Thread, signs: _Signs, message: InboundMessage) -> None:
        try:
            with signs.scope:
                while signs.waiting:
                    pause = TYPING_INTERVAL_SECONDS
                    if self._pacing.may_type(message.chat_id):
                        try:
                            await self._show(message)
                        except SendDelayed as delayed:
                            pause = max(pause, delayed.retry_after)
                        except SendRefused:
                            return  # sending the answer will raise the same error
                        except ChannelError:
                            pass  # a single missing sign goes unnoticed
                    await self._clock.sleep(pause)
        finally:
            if self.threads.get(thread) is signs:
                del self.threads[thread]
