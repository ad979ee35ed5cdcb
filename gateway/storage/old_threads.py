"""Withhold threads of old tapes until the platform has said that everybody may read them.

Since private threads are chats of their own, a message's thread is one that everybody of its chat
may read. Messages from before that may be of a private one: its entries stay withheld for good.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from channels.backoff import Backoff
from channels.base import Channel
from channels.errors import ChannelError
from gateway.clock import Clock
from gateway.logs import get_log
from tape.errors import TapeError
from tape.service import TapeService
from tape.store import UnitStore
from tape.unit_of_work import Unit

FIRST_RETRY_SECONDS: Final = 60.0
MAX_RETRY_SECONDS: Final = 3600.0


@dataclass(slots=True)
class OldThreads:
    """The threads of old tapes, by session and id.

    unknown   maps the threads to look up to their accounts
    withheld  those that are unknown or private
    """

    _store: UnitStore
    _tapes: TapeService
    unknown: dict[tuple[str, str], str] = field(default_factory=dict)
    withheld: set[tuple[str, str]] = field(default_factory=set)

    async def load(self) -> None:
        """Withhold the threads; call this before anything is read from a tape."""
        rows = await self._store.select("ledger.old_threads", {})
        if not rows:
            return
        shown = self._tapes.withhold()
        for row in rows:
            tape = self._tapes.session_tape(row["session_id"]).name
            shown.withheld(tape).threads.add(row["thread_id"])
            self.withheld.add((row["session_id"], row["thread_id"]))
            if row["open"] is None:
                self.unknown[row["session_id"], row["thread_id"]] = row["account_id"]
        for row in await self._store.select("ledger.said_in_old_threads", {}, long=True):
            of = shown.withheld(self._tapes.session_tape(row["session_id"]).name)
            if row["entry_id"] is not None:
                of.entries[row["entry_id"]] = row["thread_id"]
            if row["turn_id"] is not None:
                of.turns[row["turn_id"]] = row["thread_id"]

    async def look_up(self, channels: Mapping[str, Channel]) -> None:
        """Ask the platform about each unknown thread, once; those without an answer stay."""
        for (session_id, thread), account in list(self.unknown.items()):
            name, _, own = account.partition(":")
            if name not in channels:
                continue
            try:
                is_open = await channels[name].is_open_thread(thread, own)
                await self.learned(session_id, thread, is_open=is_open)
            except (ChannelError, TapeError) as cause:
                get_log().info("thread.unknown", thread=thread, why=str(cause))

    async def keep_looking(self, channels: Mapping[str, Channel], clock: Clock) -> None:
        """Ask about the unknown threads from time to time, until none is left."""
        backoff = Backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        while self.unknown:
            await clock.sleep(backoff.next())
            await self.look_up(channels)

    async def learned(self, session_id: str, thread: str, *, is_open: bool) -> None:
        """Record whether everybody may read a thread; an open one is withheld no longer."""
        if (session_id, thread) not in self.unknown:
            return
        unit = Unit()
        unit.run(
            "ledger.know_old_thread", session_id=session_id, thread_id=thread, open=int(is_open)
        )
        await self._store.commit(unit)
        self.unknown.pop((session_id, thread), None)
        if is_open:
            self.withheld.discard((session_id, thread))
            tape = self._tapes.session_tape(session_id).name
            self._tapes.withhold().withheld(tape).threads.discard(thread)
