"""Collects what a check of a platform finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import anyio

from channels.checkup import CheckResult, Checkup, State, Trouble
from channels.clock import seconds_ahead
from channels.connection_troubles import ConnectionTroubles
from channels.errors import ChannelError, SendDelayed


@dataclass(frozen=True, slots=True)
class CheckSeconds:
    """Maximum seconds of one request of a check, and of all the checks of a platform."""

    request: float = 5.0
    platform: float = 12.0


CHECK_SECONDS: Final = CheckSeconds()
_UNREADABLE: Final = (AttributeError, LookupError, TypeError, ValueError)


def clock_fact(date: str) -> dict[str, Any]:
    """Return the fact that the `Date` header of an answer implies, which has just arrived."""
    ahead = seconds_ahead(date)
    return {} if ahead is None else {"seconds_ahead": ahead}


class Findings:
    """The results of the checks of one platform, in their order."""

    def __init__(
        self, channel: str, connection: ConnectionTroubles, seconds: CheckSeconds = CHECK_SECONDS
    ) -> None:
        self.seconds = seconds
        self._channel = channel
        self._connection = connection
        self._results: list[CheckResult] = []
        self.bot = ""
        self.invite = ""
        self.bot_id = ""

    def add(
        self,
        check: str,
        says: str,
        trouble: Trouble | None = None,
        state: State | None = None,
        **facts: Any,
    ) -> None:
        """Add a result: a trouble is a failure and anything else is fine, unless `state` is set."""
        state = state or ("failure" if trouble else "ok")
        self._results.append(CheckResult(f"{self._channel}.{check}", state, says, trouble, facts))

    def failed(self, check: str, error: ChannelError) -> None:
        """Add a result for a request that failed."""
        if isinstance(error, SendDelayed):
            says = f"to wait for {error.retry_after:g} s"
            self.add(check, says, self._connection.limited, "warning", seconds=error.retry_after)
        elif error.trouble is not None:
            self.add(check, error.detail or error.trouble.sign, error.trouble)
        else:
            self.add(check, str(error), self._connection.unreachable)

    @contextmanager
    def asking(self, check: str) -> Iterator[None]:
        """End the block where its request fails or its answer is unreadable, with that result."""
        try:
            yield
        except ChannelError as error:
            self.failed(check, error)
        except _UNREADABLE:
            self.add(check, f"{self._channel.title()}'s answer is unreadable", state="warning")

    async def run(
        self, checks: Callable[[], Awaitable[None]], close: Callable[[], Awaitable[None]]
    ) -> Checkup:
        """Run the checks, then close; if they take too long, what was found until then stays."""
        try:
            with anyio.move_on_after(self.seconds.platform) as scope:
                await checks()
        finally:
            await close()
        if scope.cancelled_caught:
            self.add("time", "the checks took too long", self._connection.unreachable)
        return self.checkup()

    def checkup(self) -> Checkup:
        return Checkup(self._channel, self.bot, self.invite, tuple(self._results), self.bot_id)
