"""The ledger's conformance suite: every check in `LEDGER_CHECKS` is run on each kind of store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from channels.message import Author, InboundMessage, OutboundMessage
from gateway.storage.ledger.ledger import Ledger
from gateway.storage.ledger.rows import InboxRow, OutboxRow, idem_key
from tape.entry import Entry, NewEntry, message, utc_iso
from tape.errors import TapeError
from tape.query import Query
from tape.unit_of_work import Unit

TAPE: Final = "tape-under-test"
SESSION: Final = "chat:1"
SAID: Final = InboundMessage(
    channel="chat",
    chat_id="1",
    ext_id="1/1",
    message_id="1",
    sender=Author("7", "Alice"),
    text="what is it?",
    date="2026-01-01T00:00:00+00:00",
)
ANSWER: Final = OutboundMessage(
    channel="chat", chat_id="1", text="it is a plum", idem=idem_key("t-1", 0), turn="t-1"
)


class MakeLedger(Protocol):
    """Makes one process's ledger on the store under test."""

    def __call__(self, owner: str = "a", lease: float = 60.0) -> Ledger: ...


LedgerCheck = Callable[[MakeLedger], Awaitable[None]]


def number(count: int, **change: Any) -> InboundMessage:
    return replace(SAID, ext_id=f"1/{count}", message_id=str(count), **change)


def entry(row: InboxRow) -> NewEntry:
    return message("user", row.message.text, inbox=row.id)


async def taken_in(
    ledger: Ledger, said: InboundMessage = SAID, status: str = "waiting"
) -> InboxRow:
    (row,) = await ledger.inbox.accept([said])
    async with committed(ledger) as unit:
        ledger.inbox.take_in(unit, row, SESSION, TAPE, entry(row), "lane", status)
    return replace(row, session_id=SESSION, status=status)


@asynccontextmanager
async def committed(ledger: Ledger) -> AsyncIterator[Unit]:
    """Yield a unit, and commit it at the end of the block."""
    unit = Unit()
    yield unit
    await ledger.store.commit(unit)


@asynccontextmanager
async def refused(ledger: Ledger) -> AsyncIterator[Unit]:
    """Yield a unit, and expect that committing it fails."""
    unit = Unit()
    yield unit
    try:
        await ledger.store.commit(unit)
    except TapeError:
        return
    raise AssertionError("the ledger committed a unit that breaks its guarantees")


async def texts(ledger: Ledger) -> list[str]:
    return [row.message.text for row in await ledger.inbox.open_rows()]


async def sends(ledger: Ledger) -> list[tuple[str, str, str | None]]:
    rows = await ledger.outbox.open_rows()
    return [(row.message.idem, row.status, row.message.edits) for row in rows]


async def send_later(ledger: Ledger, answer: OutboundMessage = ANSWER) -> list[OutboxRow]:
    async with committed(ledger) as unit:
        ledger.outbox.send_later(unit, answer, SESSION, None)
    return await ledger.outbox.open_rows()


async def an_event_is_accepted_once(make: MakeLedger) -> None:
    ledger = make()
    first = await ledger.inbox.accept([SAID, number(2)])
    changed = replace(SAID, alt_id="another", text="changed")
    again = await make("b").inbox.accept([changed, number(3)])
    assert [row.message.ext_id for row in first] == ["1/1", "1/2"]
    assert [row.message.ext_id for row in again] == ["1/3"]
    twins = await ledger.inbox.accept([number(4), number(4)])
    assert len(twins) == 1
    assert len(await ledger.inbox.open_rows()) == 4


async def events_of_other_accounts_are_others(make: MakeLedger) -> None:
    others = [SAID, replace(SAID, channel="talk"), replace(SAID, account="second")]
    assert len(await make().inbox.accept(others)) == 3


async def a_batch_is_taken_whole_or_not(make: MakeLedger) -> None:
    ledger = make()
    try:
        await ledger.inbox.accept([SAID, number(2, chat_id="\ud800")])
    except (TapeError, ValueError):
        assert await texts(ledger) == []
        return
    raise AssertionError("the store accepted a surrogate, which is not text")


async def what_is_open_comes_back_in_order(make: MakeLedger) -> None:
    ledger = make()
    rows = await ledger.inbox.accept([number(count, text=str(count)) for count in range(5)])
    async with committed(ledger) as unit:
        ledger.inbox.end(unit, rows[1:3], "taped")
        ledger.inbox.end(unit, rows[3:4], "dead", "no reason")
    assert await texts(make("b")) == ["0", "4"]
    (dead,) = await ledger.store.select("ledger.inbox_row", {"id": rows[3].id})
    assert (dead["status"], dead["why"]) == ("dead", "no reason")


async def what_is_taken_in_twice_is_on_the_tape_once(make: MakeLedger) -> None:
    ledger = make()
    (row,) = await ledger.inbox.accept([SAID])
    for _time in range(2):
        unit = Unit()
        first = ledger.inbox.take_in(unit, row, SESSION, TAPE, entry(row), "lane", "waiting")
        outcomes = await ledger.store.commit(unit)
        assert outcomes[first.step].entries[0].text == "what is it?"
    entries = [one for one in await _tape(ledger) if one.kind == "message"]
    (known,) = await ledger.inbox.open_rows()
    assert len(entries) == 1
    assert (known.entry_id, known.status, known.lane) == (entries[0].id, "waiting", "lane")
    assert await ledger.inbox.waiting_entries(SESSION) == {entries[0].id}


async def a_turn_takes_only_what_is_open(make: MakeLedger) -> None:
    ledger = make()
    row = await taken_in(ledger)
    for _time in range(3):
        async with committed(ledger) as unit:
            ledger.inbox.take(unit, [row], "t-1")
    await ledger.inbox.hand_over(SESSION, "t-1")
    (open_row,) = await ledger.inbox.open_rows()
    assert (open_row.attempts, open_row.status, open_row.turn_id) == (2, "taken", "t-1")
    async with committed(ledger) as unit:
        ledger.inbox.end(unit, [row], "done")
    async with refused(ledger) as unit:
        ledger.inbox.take(unit, [row], "t-2")


async def a_crash_counts_against_all_turns_that_were_running(make: MakeLedger) -> None:
    ledger = make()
    first, second, third, waits = [await taken_in(ledger, number(n)) for n in range(4)]
    await ledger.inbox.count_crash(2)  # No turn was running: the process ended in another way.
    await _run_and_crash(ledger, first, second)
    assert await _crashes(ledger) == {first.id: 1, second.id: 1, third.id: 0, waits.id: 0}
    await ledger.inbox.count_crash(2)
    await _run_and_crash(ledger, second, third)
    assert await _crashes(ledger) == {first.id: 0, second.id: 2, third.id: 1, waits.id: 0}


async def a_crash_counts_against_the_running_suspect_only(make: MakeLedger) -> None:
    ledger = make()
    first, second, third = [await taken_in(ledger, number(n)) for n in range(3)]
    await _run_and_crash(ledger, first, second)
    await _run_and_crash(ledger, first, second)
    await _run_and_crash(ledger, second, third)
    assert await _crashes(ledger) == {first.id: 2, second.id: 3, third.id: 0}
    await _run_and_crash(ledger, second, third)
    assert await _crashes(ledger) == {first.id: 2, second.id: 4, third.id: 0}
    async with committed(ledger) as unit:
        ledger.inbox.take(unit, [second], f"t-{second.id}")
    await ledger.inbox.hand_over(SESSION, f"t-{second.id}")
    await ledger.inbox.count_crash(2)
    assert (await _crashes(ledger))[second.id] == 4
    await _run_and_crash(ledger, third)
    assert await _crashes(ledger) == {first.id: 2, second.id: 4, third.id: 1}
    await _run_and_crash(ledger, second)
    async with committed(ledger) as unit:
        ledger.inbox.end(unit, [second], "dead")
        unit.run("ledger.retry_inbox", id=second.id)
    assert (await _crashes(ledger))[second.id] == 0


async def what_was_lost_to_another_process_cannot_be_committed(make: MakeLedger) -> None:
    first, second = make("a", 0.0), make("b")
    row = await taken_in(first)
    epoch = await _claim(first)
    assert await _claim(first) == epoch
    later = await _claim(second)
    assert later > epoch
    async with refused(first) as unit:
        first.leases.fence(unit, SESSION, epoch)
        first.inbox.end(unit, [row], "done")
        first.outbox.send_later(unit, ANSWER, SESSION, None)
    assert await texts(second) == ["what is it?"]
    assert await sends(second) == []
    async with committed(second) as unit:
        second.leases.fence(unit, SESSION, later)
        second.inbox.end(unit, [row], "done")
    assert await texts(second) == []


async def a_leased_session_is_one_process_s(make: MakeLedger) -> None:
    first, second = make("a"), make("b")
    await _claim(first)
    async with refused(second) as unit:
        second.leases.claim(unit, SESSION, TAPE)
    await second.leases.end_others()
    epoch = await _claim(second)
    await first.leases.renew([SESSION])  # The session has moved to another process.
    await make("b", 0.0).leases.renew([SESSION])
    assert await _claim(first) > epoch


async def a_send_is_written_once(make: MakeLedger) -> None:
    ledger = make()
    await send_later(ledger)
    (row,) = await send_later(ledger, replace(ANSWER, text="something else"))
    assert row.message.text == "it is a plum"
    async with committed(ledger) as unit:
        ledger.outbox.sent(unit, row, "77")
    assert await send_later(ledger, replace(ANSWER, text="once more")) == []
    found = await ledger.inbox.find("chat", "1", "77")
    assert found is not None
    assert (found.lane, found.said) == (None, "it is a plum")


async def a_draft_becomes_the_answer_in_its_place(make: MakeLedger) -> None:
    ledger = make()
    place = await ledger.outbox.open_draft(SAID, SESSION, "t-1", None)
    assert place is not None
    assert not place.again
    await ledger.outbox.locate_draft(replace(place, platform_id="55"))
    found = await make("b").outbox.open_draft(SAID, SESSION, "t-1", None)
    assert found is not None
    assert (found.platform_id, found.again) == ("55", True)
    assert await sends(ledger) == []  # Drafts are not sends.
    await send_later(ledger)
    assert await sends(ledger) == [(ANSWER.idem, "pending", "55")]
    assert await ledger.outbox.open_draft(SAID, SESSION, "t-1", None) is None
    (row,) = await ledger.outbox.open_rows()
    await ledger.outbox.unplaced(row)
    assert await sends(ledger) == [(ANSWER.idem, "pending", None)]


async def a_draft_that_becomes_no_answer_is_dropped(make: MakeLedger) -> None:
    ledger = make()
    assert await ledger.outbox.open_draft(SAID, SESSION, "t-1", None) is not None
    async with committed(ledger) as unit:
        ledger.outbox.drop_draft(unit, "t-1")
    assert await send_later(ledger) == []


async def a_send_that_begins_is_known_until_its_end(make: MakeLedger) -> None:
    ledger = make()
    (row,) = await send_later(ledger)
    await ledger.outbox.sending(row)
    assert await sends(make("b")) == [(ANSWER.idem, "sending", None)]
    await ledger.outbox.unsent(row)
    assert await sends(ledger) == [(ANSWER.idem, "pending", None)]
    async with committed(ledger) as unit:
        ledger.outbox.end_send(unit, row, "ambiguous", "no reply came")
    assert await sends(ledger) == []
    (held,) = await ledger.store.select("ledger.outbox_row", {"id": row.id})
    assert (held["status"], held["why"]) == ("ambiguous", "no reply came")


async def a_row_that_cannot_be_read_is_dead_and_wedges_nothing(make: MakeLedger) -> None:
    ledger = make()
    rows = await ledger.inbox.accept([number(1, text="one"), number(2, text="two")])
    await send_later(ledger)
    await send_later(ledger, replace(ANSWER, idem="other"))
    async with committed(ledger) as unit:
        unit.run("ledger.rewrite", id=rows[0].id, payload='{"of": "another version"}')
    assert await texts(ledger) == ["two"]
    (dead,) = await ledger.store.select("ledger.inbox_row", {"id": rows[0].id})
    assert dead["status"] == "dead"
    assert "cannot read it" in dead["why"]


async def a_deleted_question_is_not_asked_unless_a_turn_has_it(make: MakeLedger) -> None:
    ledger = make()
    waits = await taken_in(ledger)
    runs = await taken_in(ledger, number(2))
    async with committed(ledger) as unit:
        ledger.inbox.take(unit, [runs], "t-1")
    unit = Unit()
    steps = [ledger.inbox.unask(unit, row) for row in (waits, runs)]
    outcomes = await ledger.store.commit(unit)
    assert [outcomes[step].changed for step in steps] == [1, 0]
    assert [row.id for row in await ledger.inbox.open_rows()] == [runs.id]


async def marks_go_forward_only(make: MakeLedger) -> None:
    ledger = make()
    hour, week = timedelta(hours=1), timedelta(days=7)
    now = datetime.now(UTC)

    def at(count: int, hours: int, chat: str = "1") -> InboundMessage:
        return number(count, chat_id=chat, date=utc_iso(now - hours * hour))

    await ledger.inbox.accept([at(1, 5)])
    since = (await ledger.cursors.read("a new channel", hour, week)).of("1")
    # Nothing was accepted there: the first process may have ended before it could accept anything.
    assert since is not None
    assert abs(since - (now - hour)) < hour / 60
    await ledger.inbox.accept([at(2, 5), at(3, 3), at(4, 4)], ())
    await ledger.inbox.accept([at(5, 6), at(6, 9, "2")], ())
    await ledger.inbox.accept([at(7, 1)])
    await ledger.inbox.accept([at(8, 1)], [("", "1")])
    await ledger.inbox.accept([at(12, 1)], [("", "")])
    await ledger.inbox.accept([at(9, -48), at(10, 1, "3")], ())  # The sender's clock is wrong.
    await ledger.inbox.accept([number(11, date="yesterday", chat_id="4")], ())
    marks = await ledger.cursors.read("chat", hour, week)
    assert marks.of("1") == now - 4 * hour
    assert marks.of("2") == now - 10 * hour
    assert marks.of("3") == marks.of("never heard of") == now - 2 * hour
    assert marks.of("1", "another account") is None
    assert ("", "1") not in (await ledger.cursors.read("ch", hour, week)).chats
    await ledger.cursors.advance_all("chat", now - 2 * hour)
    marks = await ledger.cursors.read("chat", hour, week)
    assert {marks.of(chat) for chat in ("1", "2", "4")} == {now - 3 * hour, now - 2 * hour}
    assert marks.of("1", "another account") == now - 3 * hour


async def a_session_goes_on_under_another_id(make: MakeLedger) -> None:
    ledger = make()
    for same_as in ("chat:0", "chat:1"):
        async with committed(ledger) as unit:
            ledger.inbox.alias(unit, "chat:2", same_as)
    assert await make("b").inbox.aliases() == {"chat:2": "chat:1"}


LEDGER_CHECKS: Final[Sequence[LedgerCheck]] = (
    an_event_is_accepted_once,
    events_of_other_accounts_are_others,
    a_batch_is_taken_whole_or_not,
    what_is_open_comes_back_in_order,
    what_is_taken_in_twice_is_on_the_tape_once,
    a_turn_takes_only_what_is_open,
    a_crash_counts_against_all_turns_that_were_running,
    a_crash_counts_against_the_running_suspect_only,
    what_was_lost_to_another_process_cannot_be_committed,
    a_leased_session_is_one_process_s,
    a_send_is_written_once,
    a_draft_becomes_the_answer_in_its_place,
    a_draft_that_becomes_no_answer_is_dropped,
    a_send_that_begins_is_known_until_its_end,
    a_row_that_cannot_be_read_is_dead_and_wedges_nothing,
    a_deleted_question_is_not_asked_unless_a_turn_has_it,
    marks_go_forward_only,
    a_session_goes_on_under_another_id,
)


async def _claim(ledger: Ledger) -> int:
    unit = Unit()
    step = ledger.leases.claim(unit, SESSION, TAPE)
    outcomes = await ledger.store.commit(unit)
    return int(outcomes[step].rows[0]["epoch"])


async def _run_and_crash(ledger: Ledger, *rows: InboxRow) -> None:
    """Begin a turn for each row, and count a crash, with two in a row for a suspect."""
    async with committed(ledger) as unit:
        for row in rows:
            ledger.inbox.take(unit, [row], f"t-{row.id}")
    await ledger.inbox.count_crash(2)


async def _crashes(ledger: Ledger) -> dict[int, int]:
    return {row.id: row.crashes for row in await ledger.inbox.open_rows()}


async def _tape(ledger: Ledger) -> Sequence[Entry]:
    return await ledger.store.query(Query(TAPE))
