"""Have channels look up what a delivery lacked, before the message is taken in.

Such a message was accepted incomplete, so that the platform could be answered at once. It waits
here for its channel, and later messages of its chat wait behind it; other chats go on. It stays
accepted until then, so that after a crash it is looked up again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from channels.errors import ChannelDown, ChannelError, SendDelayed
from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.access.pairing import Pairing
from gateway.intake.dates import readable
from gateway.intake.entry_meta import cleaned
from gateway.intake.reassembly import Parts, Reassembler
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.errors import TapeError
from tape.unit_of_work import Unit

PAUSES_SECONDS: Final = (1.0, 4.0)
"""Seconds before each further try; after the last one, the message goes on as it is."""

MAX_PAUSE_SECONDS: Final = 10.0  # if the platform asks for a longer one
MAX_LOOKUP_SECONDS: Final = 10.0
NOT_GIVEN: Final = "what the platform did not give"

_Chat = tuple[str, str]
_KEYS: Final = ("channel", "account", "chat_id", "ext_id", "alt_id", "message_id", "kind", "closed")


@dataclass(slots=True)
class Completion:
    """Passes the rows of each chat on in order, each once its message is complete.

    `_lost` gets a row that cannot be passed on, and why.
    """

    _services: Services
    _access: Access
    _pairing: Pairing
    _next: Reassembler
    _lost: Callable[[Parts, Exception], None]
    _chats: dict[_Chat, deque[InboxRow]] = field(default_factory=dict)
    _freed: anyio.Event = field(default_factory=anyio.Event)

    def put(self, row: InboxRow, *, arrived: float | None = None) -> None:
        """Add a message, in the order of acceptance; pass `arrived` if it has waited before."""
        chat = (row.account_id, row.message.chat_id)
        if (waiting := self._chats.get(chat)) is not None:
            waiting.append(row)
        elif row.message.incomplete:
            self._chats[chat] = deque([row])
            self._services.spawn("completion", lambda: self._run(chat))
        else:
            self._next.put(row, arrived=arrived)

    def ids_of(self, session_id: str) -> set[int]:
        """Return the rows of a session that wait here, or for further parts of a message."""
        here = (row for rows in self._chats.values() for row in rows)
        return {row.id for row in here if row.session_id == session_id} | self._next.ids_of(
            session_id
        )

    async def idle(self) -> None:
        """Wait until nothing waits here, nor for further parts of a message."""
        while self._chats:
            await self._freed.wait()
        await self._next.idle()

    async def _run(self, chat: _Chat) -> None:
        waiting = self._chats[chat]
        try:
            while waiting:
                row = await self._completed_or_as_it_is(waiting[0])
                waiting.popleft()
                try:
                    self._next.put(row)  # from now on: its parts have waited behind it
                except Exception as cause:
                    self._lost((row,), cause)
        finally:
            del self._chats[chat]
            self._freed.set()
            self._freed = anyio.Event()

    async def _completed_or_as_it_is(self, row: InboxRow) -> InboxRow:
        try:
            return await self._completed(row)
        except Exception as cause:  # the others of its chat wait behind it
            get_log().error("intake.completion_broken", inbox=row.id, exc_info=cause)
            omitted = (*row.message.omitted, NOT_GIVEN)
            return replace(row, message=replace(row.message, incomplete=False, omitted=omitted))

    async def _completed(self, row: InboxRow) -> InboxRow:
        if not row.message.incomplete or not self._services.claims.holds(row.session_id):
            return row
        if not self._access.decide(row.message).allowed:  # nothing is fetched for who is refused
            return replace(row, message=replace(row.message, incomplete=False))
        found = await self._look_up(row)
        keys = {name: getattr(row.message, name) for name in _KEYS}
        row = replace(row, message=replace(found, **keys, incomplete=False))
        unit = Unit()
        self._services.ledger.inbox.complete(unit, row)
        try:
            await self._services.commit(unit, waiting="completion")
        except TapeError as cause:  # it stays as it was accepted, and is complete in memory
            get_log().warning("intake.completion_not_kept", inbox=row.id, why=str(cause))
        return row

    async def _look_up(self, row: InboxRow) -> InboundMessage:
        channel = self._services.router.channels.get(row.message.channel)
        for pause in (*PAUSES_SECONDS, None):
            why = "its channel is gone"
            with anyio.move_on_after(MAX_LOOKUP_SECONDS):
                why = f"no answer within {MAX_LOOKUP_SECONDS:g} s"
                try:
                    if channel is not None:
                        return self._fit(await channel.complete(row.message))
                except Exception as cause:
                    pause = _pause(cause, pause)
                    why = str(cause)
                    if not isinstance(cause, ChannelError):
                        get_log().error("intake.completion_broken", inbox=row.id, exc_info=cause)
            if pause is None or channel is None:
                break
            await self._services.clock.sleep(pause)
        get_log().warning("intake.incomplete", inbox=row.id, why=why)
        return replace(row.message, omitted=(*row.message.omitted, NOT_GIVEN))

    def _fit(self, found: InboundMessage) -> InboundMessage:
        dated, broken = readable(found, self._services.clock.now())
        if broken:
            get_log().warning("intake.misdated", channel=found.channel, fields=sorted(broken))
        return self._pairing.screened(cleaned(dated, self._services.redactor.clean))


def _pause(cause: Exception, pause: float | None) -> float | None:
    """Return how long to wait before the next try; None if there is none."""
    if isinstance(cause, ChannelError) and not isinstance(cause, ChannelDown | SendDelayed):
        return None  # the platform refused it, and will again
    if isinstance(cause, SendDelayed) and pause is not None:
        return min(max(cause.retry_after, pause), MAX_PAUSE_SECONDS)
    return pause
