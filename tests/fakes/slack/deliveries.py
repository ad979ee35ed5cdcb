"""What Slack tells the app, each until it is acknowledged or given up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tests.fakes.base.http import JsonObject

Kind = Literal["events_api", "slash_commands", "interactive"]
State = Literal["waiting", "sent", "acked", "lost"]
ACK_SECONDS: Final = 3.0
RETRY_SECONDS: Final = (0.0, 60.0, 300.0)


@dataclass(slots=True, eq=False)
class Delivery:
    """Hold one thing to tell the app.

    `attempt` counts the retries, `reason` says what went wrong with the last try. `envelopes` are
    the ids it went out under, over Socket Mode a new one for each try. `answer` is what came with
    the acknowledgement. `arrived` tells that a try reached the app, whatever it made of it.
    """

    kind: Kind
    payload: JsonObject
    due: float
    state: State = "waiting"
    attempt: int = 0
    reason: str = ""
    envelopes: list[str] = field(default_factory=list)
    answer: Any = None
    twice: bool = False
    arrived: bool = False

    @property
    def event(self) -> JsonObject:
        """Return the event inside; of something else, the whole payload."""
        found: JsonObject = self.payload.get("event", self.payload)
        return found

    @property
    def channel(self) -> str:
        """Return the id of the channel it is about, "" for none."""
        found = self.event.get("channel") or self.payload.get("channel_id") or ""
        if isinstance(found, dict):
            return str(found.get("id", ""))
        return str(found)


class Deliveries:
    """Send what is due, wait three seconds for its acknowledgement, and try three times more.

    `send` gives one delivery to the app and returns "", or what went wrong at once; `unsent` is
    told when one that was sent is given up for now. Times are those of `clock` and `sleep`.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]],
        changed: Callable[[], None],
    ) -> None:
        self.all: list[Delivery] = []
        self.send: Callable[[Delivery], str] = lambda _delivery: "connection_failed"
        self.unsent: Callable[[Delivery], None] = lambda _delivery: None
        self.crashed: Callable[[BaseException], None] = lambda _error: None
        self.timeout_reason = "timeout"
        self.answered: Callable[[Delivery], None] = lambda _delivery: None
        self._open: list[Delivery] = []
        self._clock = clock
        self._sleep = sleep
        self._changed = changed
        self._held = False
        self._timer: asyncio.Task[None] | None = None
        self._wakes_at = 0.0

    def add(self, kind: Kind, payload: JsonObject, delay: float = 0.0) -> Delivery:
        """Queue a delivery to the app, now or later."""
        made = Delivery(kind, payload, self._clock() + delay)
        self.put(made)
        return made

    def put(self, delivery: Delivery) -> None:
        """Take a delivery as it is."""
        self.all.append(delivery)
        self._open.append(delivery)
        self.advance()

    def now(self) -> float:
        """Return the seconds of the clock."""
        return self._clock()

    @property
    def pending(self) -> list[Delivery]:
        """Return what is neither acknowledged nor given up, the oldest first."""
        return list(self._open)

    def hold(self) -> None:
        """Send nothing for now."""
        self._held = True

    def release(self, order: Callable[[list[Delivery]], Iterable[Delivery]] = list) -> None:
        """Send what was held back, in the order that is made of it."""
        self._held = False
        waiting = [it for it in self._open if it.state == "waiting"]
        others = [it for it in self._open if it.state != "waiting"]
        self._open = [*others, *order(waiting)]
        self.advance()

    def acked(self, envelope: str, answer: Any = None) -> None:
        """Take the acknowledgement of any of a delivery's tries."""
        found = next((it for it in self._open if envelope in it.envelopes), None)
        if found is not None:
            self.done(found, answer)

    def done(self, delivery: Delivery, answer: Any = None) -> None:
        """Note that a delivery was taken, and what came with it."""
        if delivery in self._open:
            delivery.answer = answer
            self._end(delivery, "acked")
            self.answered(delivery)

    def failed(self, delivery: Delivery, reason: str, *, for_good: bool = False) -> None:
        """Note that a try failed; what people wait for is tried once only."""
        if delivery.state not in ("sent", "waiting"):
            return
        self.unsent(delivery)
        delivery.reason = reason
        tries = RETRY_SECONDS if delivery.kind == "events_api" and not for_good else ()
        if delivery.attempt >= len(tries):
            self._end(delivery, "lost")
            return
        delivery.due = self._clock() + tries[delivery.attempt]
        delivery.attempt += 1
        delivery.state = "waiting"
        self._changed()

    def advance(self) -> None:
        """Do what is due, and see to it that the next is done in its time."""
        while not self._held or self._expired():
            now = self._clock()
            due = [it for it in self._open if it.due <= now]
            due = [it for it in due if not (self._held and it.state == "waiting")]
            if not due:
                break
            for delivery in due:
                self._step(delivery)
        self._set_timer()

    def forget(self) -> None:
        """Give up what is neither acknowledged nor given up."""
        self._open.clear()

    async def close(self) -> None:
        """Deliver nothing more."""
        self.forget()
        if self._timer is not None:
            self._timer.cancel()
            await asyncio.gather(self._timer, return_exceptions=True)

    def _expired(self) -> bool:
        now = self._clock()
        return any(it.state == "sent" and it.due <= now for it in self._open)

    def _step(self, delivery: Delivery) -> None:
        if delivery.state == "sent":
            self.failed(delivery, self.timeout_reason)
        elif delivery.state == "waiting":
            # Before it goes out: the answer may be there when `send` returns.
            delivery.state, delivery.due = "sent", self._clock() + ACK_SECONDS
            if problem := self.send(delivery):
                self.failed(delivery, problem)

    def _end(self, delivery: Delivery, state: State) -> None:
        delivery.state = state
        self._open.remove(delivery)
        self._changed()

    def _set_timer(self) -> None:
        times = [it.due for it in self._open if not (self._held and it.state == "waiting")]
        if not times:
            return
        if self._timer is not None and not self._timer.done():
            if self._wakes_at <= min(times):
                return
            self._timer.cancel()
        self._wakes_at = min(times)
        self._timer = asyncio.get_running_loop().create_task(self._wake(self._wakes_at))

    async def _wake(self, at: float) -> None:
        await self._sleep(max(at - self._clock(), 0.001))
        self._timer = None
        try:
            self.advance()
        except Exception as error:
            self.crashed(error)
