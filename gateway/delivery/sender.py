"""Send the rows of the outbox, in order within a chat.

A row's status: `pending -> sending -> sent | ambiguous | dead`. If an attempt's outcome is unknown:

- a send that the platform deduplicates, or that edits its own draft, is repeated;
- if the chat can be searched, the sender first checks whether the message is there;
- otherwise `TAPEWAY_DELIVERY__AMBIGUOUS` decides whether to resend or hold the message.

A send waits while its channel is down or limits the rate. A refused message is dead, and who asked
gets a notice of it where that is possible. A send that something else than the platform answers
waits no longer than a question may. If the channel is misconfigured, its messages stay until it is
set up again, or until the next start.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Final

from channels.backoff import Backoff
from channels.base import Channel
from channels.errors import (
    ChannelDown,
    ChannelUnfit,
    DraftGone,
    SendAmbiguous,
    SendDelayed,
    SendPostponed,
    SendRefused,
)
from channels.message import OutboundMessage, Receipt
from gateway.background import KeyedQueue
from gateway.delivery.outbox import commit_with_sends
from gateway.delivery.refusal_notices import is_refusal_notice, refusal_notices
from gateway.logs import get_log
from gateway.metrics.catalog import ANSWER, SENDS
from gateway.services import Services
from gateway.storage.ledger.rows import OutboxRow
from tape.entry import event, parse_date, utc_iso
from tape.errors import SessionLost, StoreUnavailable
from tape.unit_of_work import Unit

MAX_ATTEMPTS: Final = 8  # maximum attempts that fail for a known reason
MAX_RESENDS: Final = 20  # maximum attempts whose outcome is unknown
MAX_WAIT_SECONDS: Final = 60.0
MAX_OUTAGE_WAIT_SECONDS: Final = 32.0
OUTCOME_CHECK_DELAY_SECONDS: Final = 2.0
"""Seconds to wait after an unanswered send before searching the chat for its message."""

LEASE_CHECK_SECONDS: Final = 0.2
RESENT: Final = "(sent again after an interruption)\n\n"

Chat = tuple[str, str, str]  # the channel, account and id of a chat


@dataclass(slots=True)
class _Send:
    channel: Channel
    queued: OutboxRow  # as it was queued
    row: OutboxRow
    searchable: bool  # the chat can be searched for the message
    may_be_sent: bool  # an earlier attempt may have reached the platform
    may_be_drafted: bool  # a draft with an unknown id may have reached the platform
    failures: int = 0  # attempts that failed for a known reason
    resends: int = 0  # attempts with an unknown outcome
    began_at: str | None = None  # when the newest attempt began, if the ledger was not asked to
    retry: Backoff = field(default_factory=lambda: Backoff(1.0, MAX_WAIT_SECONDS))
    outage: Backoff = field(default_factory=lambda: Backoff(0.5, MAX_OUTAGE_WAIT_SECONDS))

    @classmethod
    def of(cls, channel: Channel, row: OutboxRow) -> _Send:
        searchable = "lookup" in channel.capabilities
        draft_is_lost = row.drafted and row.platform_id is None and searchable
        return cls(channel, row, row, searchable, row.status == "sending", draft_is_lost)

    @property
    def is_unclear(self) -> bool:
        return self.may_be_sent or self.may_be_drafted


class OutboxSender:
    """Sends the rows of the outbox."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._clock = services.clock
        self._guard = services.guard
        self._meters = services.meters
        self._outbox = services.ledger.outbox
        self._hold = services.settings.delivery.ambiguous == "hold"
        self._chats: KeyedQueue[Chat] = KeyedQueue("delivery", services.spawn)
        self._queued: dict[int, OutboxRow] = {}
        self._dropped: set[int] = set()
        self._of_others: set[int] = set()  # rows that another process wrote
        self._left: dict[int, OutboxRow] = {}  # rows of a channel that is not set up

    def forget(self, outbox_id: int) -> None:
        """Skip a queued row; the ledger records separately that it was dropped."""
        self._left.pop(outbox_id, None)
        self._dropped.add(outbox_id)

    def enqueue(self, rows: Sequence[OutboxRow]) -> None:
        """Queue rows behind the other rows of their chats, unless they are already queued."""
        for row in rows:
            if not self._services.claims.holds(row.session_id):
                continue  # its holder hears of it
            chat = (row.message.channel, row.message.account, row.message.chat_id)
            self._dropped.discard(row.id)
            self._left.pop(row.id, None)
            if row.id not in self._queued:
                self._queued[row.id] = row
                self._chats.submit(chat, lambda row=row: self._deliver(row))  # type: ignore[misc]

    def enqueue_of_others(self, rows: Sequence[OutboxRow]) -> None:
        """Queue rows that other processes wrote, unless they turn out to be sent already."""
        self._of_others.update(row.id for row in rows if row.id not in self._queued)
        self.enqueue(rows)

    def resume(self, channel: str) -> None:
        """Queue what was left because a channel was not set up, which runs in another way now."""
        self.enqueue([row for row in self._left.values() if row.message.channel == channel])

    def abandon(self, session_id: str) -> None:
        """Send nothing more of what is queued for a session that another process works on now."""
        self._queued = {k: row for k, row in self._queued.items() if row.session_id != session_id}
        self._left = {k: row for k, row in self._left.items() if row.session_id != session_id}

    async def idle(self, chat: Chat | None = None) -> None:
        """Wait until no row of the chat is queued, or none at all if no chat is given."""
        await self._chats.idle(chat)

    async def _deliver(self, row: OutboxRow) -> None:
        try:
            if self._queued.get(row.id) is not row:
                return  # abandoned, and perhaps queued again as the database has it
            if row.id in self._dropped or not await self._is_ours(row):
                self._dropped.discard(row.id)
                return
            channel = self._services.router.channels.get(row.message.channel)
            if channel is None:
                await self._end(row, "dead", f"no channel is named {row.message.channel}")
                return
            send = _Send.of(channel, row)
            receipts = await self._send(send)
            if receipts is not None:
                await self._record_receipts(row, receipts, send.began_at)
        except SessionLost:
            get_log().info("delivery.taken_over", idem=row.message.idem)
        finally:
            if self._queued.get(row.id) is row:
                del self._queued[row.id]

    async def _is_ours(self, row: OutboxRow) -> bool:
        """Return whether this process holds the row's session, and nobody has sent the row."""
        services = self._services
        if services.shared is not None and row.id in self._of_others:
            self._of_others.discard(row.id)
            pending = services.shared.sessions.is_pending
            if not await self._guard.retrying("delivery", lambda: pending(row.id)):
                return False
        return services.claims.holds(row.session_id)

    async def _send(self, send: _Send) -> list[Receipt] | None:
        """Try until the platform has the message; return None if the send ends without that."""
        while send.failures < MAX_ATTEMPTS and send.resends < MAX_RESENDS:
            if send.is_unclear and not self._is_repeatable(send):
                found = await self._check_outcome(send)
                if found:
                    return found
                if send.may_be_sent and self._hold:
                    await self._end(send.row, "ambiguous", "it is unknown whether it arrived")
                    return None
                if send.may_be_sent:
                    send.row = with_resend_note(send.row)
            self._follow(send)
            try:
                receipts = await self._transmit(send)
                if receipts is not None:
                    return receipts
            except (StoreUnavailable, SessionLost):
                raise  # the process is ending, or it is another process's business now
            except Exception as cause:
                if not await self._goes_on_after(send, cause):
                    return None
        tried = send.failures + send.resends
        await self._end(send.row, "dead", f"it could not be sent in {tried} attempts")
        return None

    async def _transmit(self, send: _Send) -> list[Receipt] | None:
        """Try once; return None if the channel or what is safe has changed during a wait."""
        was_repeatable = self._is_repeatable(send)
        message = await send.channel.prepare(send.row.message)
        send.row = replace(send.row, message=message)
        if send.is_unclear and was_repeatable and not self._is_repeatable(send):
            return None
        if self._follow(send):
            return None
        if _always_idempotent(send.channel):
            send.began_at = utc_iso(self._clock.now())
        else:
            await self._guard.retrying("delivery", lambda: self._outbox.sending(send.row))
        await self._wait_for_lease(send)
        return await send.channel.transmit(message)

    def _follow(self, send: _Send) -> bool:
        """Send by the channel that runs now; return whether the former one was replaced."""
        former = send.channel
        send.channel = self._services.router.channels.get(former.name, former)
        return send.channel is not former

    async def _wait_for_lease(self, send: _Send) -> None:
        """Wait until enough of the lease is left for a request; raises SessionLost."""
        claims, session_id = self._services.claims, send.row.session_id
        while not claims.may_send(session_id) and claims.holds(session_id):
            await self._clock.sleep(LEASE_CHECK_SECONDS)
        if not claims.holds(session_id) or self._queued.get(send.row.id) is not send.queued:
            raise SessionLost("another process works on this session now")

    async def _goes_on_after(self, send: _Send, cause: Exception) -> bool:
        """Record a failed attempt and wait; return whether to make another attempt."""
        match cause:
            case SendDelayed():
                await self._record_unsent(send)
                await self._clock.sleep(cause.retry_after)
            case SendPostponed() if self._waited_too_long(send):
                await self._end(send.row, "dead", f"it has waited too long: {cause}")
                return False
            case ChannelDown():
                await self._record_unsent(send)
                await self._clock.sleep(send.outage.next())
            case DraftGone():
                if send.row.message.edits is None:  # a plain message has no draft: a failure
                    send.failures += 1
                    await self._clock.sleep(send.retry.next())
                await self._record_draft_gone(send)
            case ChannelUnfit():
                await self._record_unsent(send)
                get_log().error("delivery.left", idem=send.row.message.idem, why=str(cause))
                if self._follow(send):
                    return True
                status = "sending" if send.may_be_sent else "pending"
                self._left[send.row.id] = replace(send.row, status=status)
                return False
            case SendRefused():
                await self._end(send.row, "dead", str(cause), cause)
                return False
            case _:
                await self._count_unclear(send, cause)
        return True

    async def _count_unclear(self, send: _Send, cause: Exception) -> None:
        if isinstance(cause, SendAmbiguous):
            send.resends += 1
        else:
            send.failures += 1
        if send.resends >= MAX_RESENDS:
            return
        send.may_be_sent = True
        if not isinstance(cause, SendAmbiguous):
            get_log().error("delivery.failed", idem=send.row.message.idem, exc_info=cause)
        will_be_held = self._hold and not send.searchable and not self._is_repeatable(send)
        if not will_be_held:
            await self._clock.sleep(send.retry.next())

    def _is_repeatable(self, send: _Send) -> bool:
        """Return whether the channel would show the message only once after a resend now."""
        message, channel = send.row.message, send.channel
        if message.edits is not None or _always_idempotent(channel):
            return True
        window = channel.traits.idempotent_for
        if "idempotent_send" not in channel.capabilities or window is None or not message.date:
            return False
        # The message was written before its first attempt, so this age is an upper bound.
        age = (self._clock.now() - parse_date(message.date)).total_seconds()
        return 0 <= age < window

    async def _check_outcome(self, send: _Send) -> list[Receipt]:
        found = await self._find(send) if send.searchable else None
        # A lost draft leaves at most a partial text in the chat: only a lost send needs a decision.
        if found == [] or not send.may_be_sent:
            send.may_be_sent = send.may_be_drafted = False
        return found or []

    async def _find(self, send: _Send) -> list[Receipt] | None:
        """Search the chat until there is a result; return None if the channel refuses to search."""
        backoff = Backoff(1.0, MAX_WAIT_SECONDS)
        idem = send.row.message.idem
        await self._clock.sleep(OUTCOME_CHECK_DELAY_SECONDS)
        while True:
            pause = backoff.next()
            await self._wait_for_lease(send)  # who lost the session asks the platform no more
            self._follow(send)
            try:
                found = await send.channel.find(send.row.message)
            except (SendRefused, ChannelUnfit) as refused:
                get_log().warning("delivery.no_look_up", idem=idem, why=str(refused))
                return None
            except SendDelayed as later:
                pause = later.retry_after
            except Exception as cause:
                get_log().warning("delivery.not_looked_up", idem=idem, why=str(cause))
            else:
                get_log().info("delivery.looked_up", idem=idem, found=bool(found))
                return found
            await self._clock.sleep(pause)

    async def _record_unsent(self, send: _Send) -> None:
        if not send.may_be_sent:
            await self._guard.retrying("delivery", lambda: self._outbox.unsent(send.row))

    async def _record_draft_gone(self, send: _Send) -> None:
        row, unsure = send.row, send.may_be_sent
        await self._guard.retrying("delivery", lambda: self._outbox.unplaced(row, unsure=unsure))
        send.row = replace(row, platform_id=None, message=replace(row.message, edits=None))

    async def _record_receipts(
        self, row: OutboxRow, receipts: Sequence[Receipt], began_at: str | None
    ) -> None:
        unit = Unit()
        first = receipts[0].platform_id if receipts else None
        self._outbox.sent(unit, row, first, began_at)
        ids = [receipt.platform_id for receipt in receipts]
        await self._commit(unit, row, "send.receipt", platform_ids=ids)
        self._meters.add(SENDS, row.message.channel, "sent")
        if (
            row.turn_id
            and row.message.kind == "answer"
            and row.message.part == row.message.piece == 0
        ):
            asked = self._meters.asked_at(row.turn_id)
            with suppress(StoreUnavailable):  # the message is sent, whoever counts it
                asked = asked or await self._services.ledger.inbox.asked_at(row.turn_id)
                self._meters.observe_since(ANSWER, asked, row.message.channel)

    async def _end(
        self, row: OutboxRow, status: str, why: str, refused: SendRefused | None = None
    ) -> None:
        """Record that a send has ended without its message, and notify the person if possible."""
        get_log().error("delivery.given_up", idem=row.message.idem, status=status, why=why)
        notices = []
        if refused is not None:
            find = partial(refusal_notices, self._services, row, refused)
            notices = await self._guard.retrying("delivery", find)
        unit = Unit()
        self._outbox.end_send(unit, row, status, why)
        if is_refusal_notice(row.message):  # the answer's end is written down, once
            await self._services.commit(unit, waiting="receipt")
            return
        self.enqueue(await self._commit(unit, row, f"send.{status}", notices, why=why))
        self._meters.add(SENDS, row.message.channel, status)

    def _waited_too_long(self, send: _Send) -> bool:
        date = send.row.message.date
        if not date:
            return False
        hours = self._services.settings.delivery.replay_hours
        return self._clock.now() - parse_date(date) > timedelta(hours=hours)

    async def _commit(
        self,
        unit: Unit,
        row: OutboxRow,
        name: str,
        notices: Sequence[OutboundMessage] = (),
        **data: object,
    ) -> list[OutboxRow]:
        meta = {key: value for key, value in (("turn", row.turn_id), ("lane", row.lane)) if value}
        tape = self._services.tapes.session_tape(row.session_id).name
        ended = event(name, {"idem": row.message.idem, **data}, **meta)
        unit.append(tape, [ended], key=f"{name}:{row.message.idem}")
        if not notices:
            await self._services.commit(unit, waiting="receipt")
            return []
        write = partial(commit_with_sends, self._services, unit, notices, row.session_id, row.lane)
        return await self._guard.retrying("receipt", write)


def _always_idempotent(channel: Channel) -> bool:
    return "idempotent_send" in channel.capabilities and channel.traits.idempotent_for is None


def with_resend_note(row: OutboxRow) -> OutboxRow:
    """Return the row with a note in its text that the message may have arrived before."""
    if row.message.text.startswith(RESENT):
        return row
    return replace(row, message=replace(row.message, text=RESENT + row.message.text))
