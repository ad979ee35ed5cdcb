"""Delivery: what the outbox holds goes out, in order within a chat.

`pending -> sending -> sent | ambiguous | dead`. Where a second send of the same key gives the
first receipt (the channel declares it), or a send replaces its own draft, a send that was cut off
is simply made again; where the chat's history can be searched for its key, that is done first;
elsewhere the setting decides. A platform that says "later" is asked again
later; one that says "never" is not asked again; a channel that is down is waited for, and what is
for one that cannot run as it is set up stays for the next start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from channels.base import Channel
from channels.errors import (
    ChannelDown,
    ChannelUnfit,
    DraftGone,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.message import Receipt
from gateway.keyed_queue import KeyedQueue, Spawn
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.ledger.rows import OutboxRow
from tape.entry import event, parse_date
from tape.errors import StoreUnavailable
from tape.unit_of_work import Unit

MOST_TRIES: Final = 8
LONGEST_WAIT: Final = 60.0
MOST_COPIES: Final = 20
"""So often a message is sent again of which nobody knows whether it arrived."""

LOOK_AFTER: Final = 2.0
"""So long after a send that nobody heard of a chat is searched for it, seconds."""

RESENT: Final = "(sent again after an interruption)\n\n"

Chat = tuple[str, str, str]


class _Outcome:
    """Whether a message may be there already, or its draft, of which nobody knows the place.

    of_sending      a send of the message itself may have been made
    can_be_cleared  its chat can be searched for it
    """

    def __init__(self, row: OutboxRow, channel: Channel) -> None:
        self.can_be_cleared = "lookup" in channel.capabilities
        self.of_sending = row.status == "sending"
        self._of_draft = row.drafted and row.platform_id is None and self.can_be_cleared

    def __bool__(self) -> bool:
        return self.of_sending or self._of_draft

    def raise_(self) -> None:
        """A send of which nobody knows was made."""
        self.of_sending = True

    def clear(self) -> None:
        """It is not there."""
        self.of_sending = self._of_draft = False


class OutboxSender:
    """Sends the rows of the outbox."""

    def __init__(self, services: Services, spawn: Spawn) -> None:
        self._services = services
        self._chats: KeyedQueue[Chat] = KeyedQueue("delivery", spawn)
        self._queued: set[int] = set()
        self._forgotten: set[int] = set()

    def forget(self, outbox_id: int) -> None:
        """Let a message that waits not be sent: its row says that it was dropped."""
        self._forgotten.add(outbox_id)

    def enqueue(self, rows: Sequence[OutboxRow]) -> None:
        """Send rows, each after those that its chat has already; one that waits here waits once."""
        for row in rows:
            chat = (row.message.channel, row.message.account, row.message.chat_id)
            self._forgotten.discard(row.id)
            if row.id not in self._queued:
                self._queued.add(row.id)
                self._chats.submit(chat, lambda row=row: self._deliver(row))  # type: ignore[misc]

    async def idle(self, chat: Chat | None = None) -> None:
        """Wait until nothing is being sent, or nothing to one chat."""
        await self._chats.idle(chat)

    async def _deliver(self, row: OutboxRow) -> None:
        try:
            await self._deliver_one(row)
        finally:
            self._queued.discard(row.id)

    async def _deliver_one(self, row: OutboxRow) -> None:
        if row.id in self._forgotten:
            self._forgotten.discard(row.id)
            return
        channel = self._services.router.channel(row.message.channel)
        if channel is None:
            await self._end(row, "dead", f"no channel is named {row.message.channel}")
            return
        receipts = await self._send(channel, row)
        if receipts is not None:
            await self._sent(row, receipts)

    async def _send(self, channel: Channel, row: OutboxRow) -> list[Receipt] | None:
        """Send until it is sent (the receipts) or will never be (None, and that is recorded)."""
        doubt = _Outcome(row, channel)
        tries = copies = waits = 0
        while tries < MOST_TRIES:
            if doubt and not self._is_repeatable(channel, row):
                found = await self._look_up(channel, row) if doubt.can_be_cleared else None
                if found:
                    return found
                if found is not None:
                    doubt.clear()
                elif not doubt.of_sending:
                    doubt.clear()  # at worst a beginning of it stands there
                elif self._services.settings.delivery.ambiguous == "hold":
                    await self._end(row, "ambiguous", "nobody knows whether it arrived")
                    return None
                else:
                    row = with_resend_note(row)
            try:
                repeatable = self._is_repeatable(channel, row)
                row = replace(row, message=await channel.prepare(row.message))
                if doubt and repeatable and not self._is_repeatable(channel, row):
                    continue  # it waited too long for its slot
                if not _always_idempotent(channel):
                    await self._write_sending(row)
                return await channel.transmit(row.message)
            except StoreUnavailable:
                raise  # the process ends
            except SendDelayed as later:
                await self._write_unsent(row, doubt)
                await self._services.clock.sleep(later.retry_after)
            except ChannelDown:
                await self._write_unsent(row, doubt)
                await self._services.clock.sleep(min(LONGEST_WAIT, 2.0 ** min(waits, 6) / 2))
                waits += 1
            except DraftGone:
                if row.message.edits is None:  # a place that is gone again and again
                    tries += 1
                    await self._services.clock.sleep(min(LONGEST_WAIT, 2.0**tries / 2))
                row = await self._write_unplaced(row, doubt)
            except ChannelUnfit as unfit:
                await self._write_unsent(row, doubt)
                get_log().error("delivery.left", idem=row.message.idem, why=str(unfit))
                return None
            except SendRefused as never:
                await self._end(row, "dead", str(never))
                return None
            except Exception as cause:
                known = isinstance(cause, SendAmbiguous)
                copies, tries = copies + known, tries + (not known)
                if copies >= MOST_COPIES:
                    break
                doubt.raise_()
                if not known:
                    get_log().error("delivery.failed", idem=row.message.idem, exc_info=cause)
                if not self._is_held(channel, row):
                    await self._services.clock.sleep(min(LONGEST_WAIT, 2.0 ** (tries + copies) / 2))
        await self._end(row, "dead", f"it could not be sent in {tries + copies} tries")
        return None

    def _is_held(self, channel: Channel, row: OutboxRow) -> bool:
        """Tell whether a message that may have arrived is kept back for a person to decide."""
        if self._is_repeatable(channel, row) or "lookup" in channel.capabilities:
            return False
        return self._services.settings.delivery.ambiguous == "hold"

    def _is_repeatable(self, channel: Channel, row: OutboxRow) -> bool:
        """Tell whether sending a second time shows the message once."""
        if row.message.edits is not None or _always_idempotent(channel):
            return True
        window = channel.traits.idempotent_for
        if "idempotent_send" not in channel.capabilities or window is None or not row.message.date:
            return False
        # Its first send was no earlier than it was written.
        age = (self._services.clock.now() - parse_date(row.message.date)).total_seconds()
        return 0 <= age < window

    async def _look_up(self, channel: Channel, row: OutboxRow) -> list[Receipt] | None:
        """Search the chat for a message that may be there, or may be on its way still.

        What cannot be found out now is asked again for as long as it takes; None where it may not.
        """
        waits = 0
        await self._services.clock.sleep(LOOK_AFTER)
        while True:
            pause = min(LONGEST_WAIT, 2.0 ** min(waits, 6))
            try:
                found = await channel.find(row.message)
            except (SendRefused, ChannelUnfit) as refused:
                get_log().warning("delivery.no_look_up", idem=row.message.idem, why=str(refused))
                return None
            except SendDelayed as later:
                pause = later.retry_after
            except Exception as cause:
                get_log().warning("delivery.not_looked_up", idem=row.message.idem, why=str(cause))
            else:
                get_log().info("delivery.looked_up", idem=row.message.idem, found=bool(found))
                return found
            waits += 1
            await self._services.clock.sleep(pause)

    async def _write_sending(self, row: OutboxRow) -> None:
        await self._services.persist.retrying(
            "delivery", lambda: self._services.ledger.outbox.sending(row)
        )

    async def _write_unsent(self, row: OutboxRow, doubt: _Outcome) -> None:
        """Write down that a send is known not to have happened: a restart just makes it.

        Where an earlier one may have arrived, it stays one that is under way.
        """
        if not doubt.of_sending:
            await self._services.persist.retrying(
                "delivery", lambda: self._services.ledger.outbox.unsent(row)
            )

    async def _write_unplaced(self, row: OutboxRow, doubt: _Outcome) -> OutboxRow:
        """Write down that the draft is gone: from now on it is a send like any other."""
        unsure = doubt.of_sending
        await self._services.persist.retrying(
            "delivery", lambda: self._services.ledger.outbox.unplaced(row, unsure=unsure)
        )
        return replace(row, platform_id=None, message=replace(row.message, edits=None))

    async def _sent(self, row: OutboxRow, receipts: Sequence[Receipt]) -> None:
        """Record the receipt; the send is never repeated because its record failed."""
        unit = Unit()
        first = receipts[0].platform_id if receipts else None
        self._services.ledger.outbox.sent(unit, row, first)
        ids = [receipt.platform_id for receipt in receipts]
        self._tell(unit, row, "send.receipt", platform_ids=ids)
        await self._services.persist.retrying("receipt", lambda: self._services.store.commit(unit))

    async def _end(self, row: OutboxRow, status: str, why: str) -> None:
        get_log().error("delivery.given_up", idem=row.message.idem, status=status, why=why)
        unit = Unit()
        self._services.ledger.outbox.end_send(unit, row, status, why)
        self._tell(unit, row, f"send.{status}", why=why)
        await self._services.persist.retrying("receipt", lambda: self._services.store.commit(unit))

    def _tell(self, unit: Unit, row: OutboxRow, name: str, **data: object) -> None:
        meta = {key: value for key, value in (("turn", row.turn_id), ("lane", row.lane)) if value}
        tape = self._services.tapes.session_tape(row.session_id).name
        told = event(name, {"idem": row.message.idem, **data}, **meta)
        unit.append(tape, [told], key=f"{name}:{row.message.idem}")


def _always_idempotent(channel: Channel) -> bool:
    return "idempotent_send" in channel.capabilities and channel.traits.idempotent_for is None


def with_resend_note(row: OutboxRow) -> OutboxRow:
    """Return a row whose text says, once, that it may have arrived before."""
    if is_marked(row):
        return row
    return replace(row, message=replace(row.message, text=RESENT + row.message.text))


def is_marked(row: OutboxRow) -> bool:
    """Tell whether a row may have arrived before."""
    return row.message.text.startswith(RESENT)
