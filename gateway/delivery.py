"""Delivery: what the outbox holds goes out, in order within a chat.

`pending -> sending -> sent | ambiguous | dead`. Where a second send of the same key gives the
first receipt (the channel declares it), a send that was cut off is simply sent again; elsewhere
the setting decides. A platform that says "later" is asked again later; one that says "never" is
not asked again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import anyio

from channels.base import Channel
from channels.errors import ChannelDown, SendAmbiguous, SendDelayed, SendRefused
from channels.message import Receipt
from gateway.buffer import Spawn
from gateway.core import Core
from gateway.ledger.rows import OutboxRow
from gateway.logs import get_log
from tape.entry import event
from tape.errors import TapeError
from tape.unit import Unit

MOST_TRIES: Final = 8
LONGEST_WAIT: Final = 60.0
RESENT: Final = "(sent again after an interruption) "

Chat = tuple[str, str, str]


class Delivery:
    """One worker a chat that has something to send."""

    def __init__(self, core: Core, spawn: Spawn) -> None:
        self._core = core
        self._spawn = spawn
        self._queues: dict[Chat, deque[OutboxRow]] = {}
        self._freed = anyio.Event()

    def enqueue(self, rows: Sequence[OutboxRow]) -> None:
        """Send rows, each after those that its chat has already."""
        for row in rows:
            chat = (row.message.channel, row.message.account, row.message.chat_id)
            if chat in self._queues:
                self._queues[chat].append(row)
            else:
                self._queues[chat] = deque([row])
                self._spawn("delivery", lambda chat=chat: self._work(chat))  # type: ignore[misc]

    async def idle(self) -> None:
        """Wait until nothing is being sent."""
        while self._queues:
            await self._freed.wait()

    async def _work(self, chat: Chat) -> None:
        queue = self._queues[chat]
        try:
            while queue:
                await self._deliver(queue[0])
                queue.popleft()
        finally:
            del self._queues[chat]
            self._freed.set()
            self._freed = anyio.Event()

    async def _deliver(self, row: OutboxRow) -> None:
        channel = self._core.router.channel(row.message.channel)
        if channel is None:
            await self._end(row, "dead", f"no channel is named {row.message.channel}")
            return
        if row.status == "sending" and not self._may_resend(channel):
            await self._end(row, "ambiguous", "the process ended while it was being sent")
            return
        if row.status == "sending" and "idempotent_send" not in channel.capabilities:
            row = marked(row)
        await self._try(channel, row)

    def _may_resend(self, channel: Channel) -> bool:
        return (
            "idempotent_send" in channel.capabilities
            or self._core.settings.delivery.ambiguous == "resend"
        )

    async def _try(self, channel: Channel, row: OutboxRow) -> None:
        """Send until it is sent or will never be; a channel that is down is waited for."""
        tries = 0
        waited = 0
        while tries < MOST_TRIES:
            try:
                if "idempotent_send" not in channel.capabilities:
                    await self._core.ledger.sending(row)
                receipts = await channel.send(row.message)
                await self._sent(row, receipts)
                return
            except SendDelayed as later:
                await self._core.clock.sleep(later.retry_after)
            except ChannelDown:
                waited += 1
                await self._core.clock.sleep(min(LONGEST_WAIT, 2.0 ** min(waited, 6) / 2))
            except SendRefused as never:
                await self._end(row, "dead", str(never))
                return
            except SendAmbiguous as unknown:
                tries += 1
                if self._core.settings.delivery.ambiguous == "hold":
                    await self._end(row, "ambiguous", str(unknown))
                    return
                row = marked(row)
            except Exception as cause:
                tries += 1
                get_log().error("delivery.failed", idem=row.message.idem, exc_info=cause)
                await self._core.clock.sleep(min(LONGEST_WAIT, 2.0**tries / 2))
        await self._end(row, "dead", f"it could not be sent in {MOST_TRIES} tries")

    async def _sent(self, row: OutboxRow, receipts: Sequence[Receipt]) -> None:
        unit = Unit()
        first = receipts[0].platform_id if receipts else None
        self._core.ledger.sent(unit, row, first)
        ids = [receipt.platform_id for receipt in receipts]
        self._tell(unit, row, "send.receipt", platform_ids=ids)
        await self._core.store.commit(unit)

    async def _end(self, row: OutboxRow, status: str, why: str) -> None:
        get_log().error("delivery.given_up", idem=row.message.idem, status=status, why=why)
        unit = Unit()
        self._core.ledger.end_send(unit, row, status)
        self._tell(unit, row, f"send.{status}", why=why)
        try:
            await self._core.store.commit(unit)
        except TapeError as cause:
            get_log().error("delivery.end_not_recorded", exc_info=cause)

    def _tell(self, unit: Unit, row: OutboxRow, name: str, **data: object) -> None:
        meta = {key: value for key, value in (("turn", row.turn_id), ("lane", row.lane)) if value}
        tape = self._core.tapes.session_tape(row.session_id).name
        told = event(name, {"idem": row.message.idem, **data}, **meta)
        unit.append(tape, [told], key=f"{name}:{row.message.idem}")


def marked(row: OutboxRow) -> OutboxRow:
    """Return a row whose text says, once, that it may have arrived before."""
    if row.message.text.startswith(RESENT):
        return row
    return replace(row, message=replace(row.message, text=RESENT + row.message.text))
