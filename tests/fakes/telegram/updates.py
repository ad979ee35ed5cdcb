"""The bot's queue of updates: who polls, what is confirmed, what is delivered again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import orjson

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.rules import Refusal

NOT_BY_DEFAULT: Final = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
MOST: Final = 100
OTHER_POLLER: Final = (
    "Conflict: terminated by other getUpdates request; "
    "make sure that only one bot instance is running"
)
WEBHOOK_SET: Final = (
    "Conflict: can't use getUpdates method while webhook is active; "
    "use deleteWebhook to delete the webhook first"
)
TERMINATED: Final = "Conflict: terminated by setWebhook request"


@dataclass(slots=True, eq=False)
class Update:
    """Hold one update as it goes on the wire; with `again` it is delivered whatever the offset.

    `handed_out` is when getUpdates first gave it to the bot, by the clock.
    """

    update_id: int
    kind: str
    raw: bytes
    chat_id: int | None = None
    confirmed: bool = False
    again: bool = False
    handed_out: float | None = None


class Updates:
    """Keep updates until they are confirmed; `all` keeps every one that was made."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.all: list[Update] = []
        self.pending: list[Update] = []
        self.allowed: list[str] = []
        self.added: Callable[[], None] = lambda: None
        self._next = 100_000_001
        self._poller: asyncio.Future[Refusal | None] | None = None

    def add(self, kind: str, content: object, chat_id: int | None = None) -> int | None:
        """Queue an update; None when the bot has not asked for this kind."""
        if not self.wants(kind):
            return None
        update_id = self._take_id()
        raw = orjson.dumps({"update_id": update_id, kind: content})
        self._queue(Update(update_id, kind, raw, chat_id))
        return update_id

    def push(self, raw: JsonObject | bytes) -> int:
        """Queue an update as it is given; a dict without an update_id gets one."""
        if isinstance(raw, bytes):
            update_id = self._take_id()
            self._queue(Update(update_id, "raw", raw))
            return update_id
        if "update_id" not in raw:
            raw = {"update_id": self._take_id()} | raw
        update_id = raw["update_id"]
        # Whoever names an id decides where the ids go on.
        self._next = max(self._next, update_id + 1 if isinstance(update_id, int) else 0)
        self._queue(Update(update_id, "raw", orjson.dumps(raw)))
        return int(update_id)

    def redeliver(self, update_id: int, *, new_id: bool = False) -> int:
        """Queue an update once more, in front of all others unless it gets a new id."""
        made = next(update for update in reversed(self.all) if update.update_id == update_id)
        if not new_id:
            self.pending.insert(0, replace(made, again=True, confirmed=False))
            self._wake()
            return update_id
        again = self._take_id()
        old, new = b'"update_id":%d' % update_id, b'"update_id":%d' % again
        self._queue(Update(again, made.kind, made.raw.replace(old, new, 1), made.chat_id))
        return again

    def wants(self, kind: str) -> bool:
        """Return whether the bot gets updates of a kind."""
        return kind in self.allowed if self.allowed else kind not in NOT_BY_DEFAULT

    def confirm(self, offset: int) -> None:
        """Forget what is below an offset; below zero, all but so many of the last."""
        if offset < 0:
            kept = self.pending[offset:]
        else:
            kept = [it for it in self.pending if it.update_id >= offset or it.again]
        self._forget(kept)

    def done(self, update: Update) -> None:
        """Forget one update that a webhook has taken."""
        if update in self.pending:
            self.pending.remove(update)
            update.confirmed = True

    def drop(self) -> None:
        """Forget everything that waits."""
        self._forget([])

    def batch(self, limit: int) -> bytes:
        """Return the JSON array of the first updates."""
        given = self.pending[:limit]
        now = self.clock()
        for update in given:
            update.again = False
            if update.handed_out is None:
                update.handed_out = now
        return b"[%b]" % b",".join(update.raw for update in given)

    async def poll(self, limit: int, timeout: float) -> bytes:
        """Wait for updates, and return what is there then; refused when another one polls."""
        self.end_poll(Refusal(409, OTHER_POLLER))
        if self.pending or timeout <= 0:
            return self.batch(limit)
        poller = self._poller = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout):
                refusal = await poller
        except TimeoutError:
            return b"[]"
        finally:
            if self._poller is poller:
                self._poller = None
        if refusal is not None:
            raise refusal
        return self.batch(limit)

    @property
    def polled(self) -> bool:
        """Return whether a getUpdates waits right now."""
        return self._poller is not None

    def end_poll(self, refusal: Refusal | None = None) -> None:
        """End the waiting getUpdates: with what is there, or refused."""
        if self._poller is not None and not self._poller.done():
            self._poller.set_result(refusal)
        self._poller = None

    def _forget(self, kept: list[Update]) -> None:
        if len(kept) == len(self.pending):
            return
        ids = {id(update) for update in kept}
        for update in self.pending:
            update.confirmed = update.confirmed or id(update) not in ids
        self.pending = kept

    def _queue(self, update: Update) -> None:
        self.all.append(update)
        self.pending.append(update)
        self._wake()

    def _wake(self) -> None:
        # One turn later, so that what is made together is delivered together.
        if self._poller is not None and not self._poller.done():
            self._poller.set_result(None)
        self.added()

    def _take_id(self) -> int:
        self._next += 1
        return self._next - 1
