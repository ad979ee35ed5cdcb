"""What a message is good for months later, when the ledger has been emptied of its content."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import cast

import anyio
import pytest

from channels.message import Author, InboundMessage, Media, OutboundMessage, Quote
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.errors import AdminError
from gateway.explain.explainer import Explainer
from gateway.explain.report import Report
from gateway.storage.erasures import Erasure
from gateway.storage.folding import LedgerFolder, fold_payload
from tape.entry import Entry, load
from tape.errors import OutcomeUnknown
from tape.right_of_way import RightOfWay
from tape.store import UnitStore
from tape.unit_of_work import Row, Unit
from tests.fakes.openai.script import Failure, Text
from tests.kit.chats import PrivateChat
from tests.kit.clock import QuickClock
from tests.kit.gateways import settled

SAID = InboundMessage(
    channel="editing",
    chat_id="-100",
    chat_kind="group",
    chat_title="Orchard",
    ext_id="-100/1",
    message_id="1",
    thread_id="7",
    sender=Author("7", "Alice", handle="alice"),
    text="what are plums?",
    date="2026-01-01T00:00:00+00:00",
    addressed=True,
    why="mention",
    owner=True,
    media=(Media("image", "photo", "key", width=4, height=3),),
    forwarded=Quote("Bob", "8", "words of Bob"),
    raw={"a": "b"},
)
SESSION = "editing:-100"


@pytest.fixture
def clock() -> QuickClock:
    return QuickClock()


def _says(report: Report) -> str:
    return "\n".join([report.head, *(line.says for line in report.lines)])


async def _later(gateway: Gateway) -> None:
    """Fold everything, as it is done after some days."""
    clock = QuickClock()
    clock.jump(timedelta(days=31))
    folder = LedgerFolder(gateway.services.store, clock, 30, gateway.is_busy, RightOfWay())
    for box in ("inbox", "outbox"):
        await folder.fold(box)


async def _rows(gateway: Gateway, box: str) -> list[Row]:
    store = gateway.services.store
    shown = [await store.select(f"ledger.{box}_row", {"id": number}) for number in range(1, 9)]
    return [row for rows in shown for row in rows]


async def _answered(chat: PrivateChat, *said: InboundMessage) -> list[Entry]:
    for message in said:
        await chat.accept(message)
        await chat.gateway.taken_in()
        await settled(chat.gateway, SESSION)
    return await settled(chat.gateway, SESSION)


async def test_a_folded_row_keeps_what_identifies_it_and_none_of_its_content(
    chat: PrivateChat,
) -> None:
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, SAID)
    (asked,), (sent,) = await _rows(chat.gateway, "inbox"), await _rows(chat.gateway, "outbox")
    await _later(chat.gateway)
    (folded,), (gone,) = await _rows(chat.gateway, "inbox"), await _rows(chat.gateway, "outbox")
    for before, after in ((asked, folded), (sent, gone)):
        kept = {**after, "payload": "", "folded": 0}
        assert kept == {**before, "payload": "", "folded": 0}
        assert after["folded"] == 1
        assert len(after["payload"]) < len(before["payload"]) * 0.6
    for word in ("plums", "fruit", "Alice", "alice", "photo", "Bob", "words"):
        assert word not in folded["payload"] + gone["payload"]
    message = InboundMessage.from_payload(load(folded["payload"]))
    assert (message.sender.id, message.thread_id, message.addressed) == ("7", "7", True)
    assert message.forwarded == Quote("", "8")
    OutboundMessage.from_payload(load(gone["payload"]))


async def test_a_message_that_the_platform_delivers_again_is_not_answered_again(
    chat: PrivateChat,
) -> None:
    chat.model.enqueue(Text(("fruit",)))
    entries = await _answered(chat, SAID)
    await _later(chat.gateway)
    again = await _answered(chat, SAID, replace(SAID, text="changed"))
    assert again == entries
    assert len(chat.model.requests) == 1


async def test_an_edit_of_a_folded_message_is_recorded_as_its_author_s(chat: PrivateChat) -> None:
    edit = replace(SAID, kind="edit", ext_id="-100/1/e1", text="what are pears?", addressed=False)
    same = replace(edit, ext_id="-100/1/e2")
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, SAID)
    await _later(chat.gateway)
    unchanged = replace(edit, ext_id="-100/1/e0", text=SAID.text)
    await _answered(chat, unchanged, edit)
    await _later(chat.gateway)
    entries = await _answered(chat, same)
    (row, *_others) = await _rows(chat.gateway, "inbox")
    edits = [one.payload["data"] for one in entries if one.name == "message.edit"]
    assert [one["text"] for one in edits] == ["what are pears?"]
    assert "#1 Alice, forwarding #2 Bob] what are pears?" in edits[0]["content"]
    assert "photo" in edits[0]["content"]
    assert "pears" not in row["payload"]


async def test_a_deletion_hides_a_folded_message(chat: PrivateChat) -> None:
    gone = replace(SAID, kind="delete", ext_id="-100/1/delete", text="", addressed=False)
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, SAID)
    await _later(chat.gateway)
    entries = await _answered(chat, gone)
    (asked,) = [one for one in entries if one.meta.get("text") == SAID.text]
    (deleted,) = [one for one in entries if one.name == "message.delete"]
    assert deleted.payload["data"]["entry"] == asked.id


async def test_a_reply_to_a_folded_answer_finds_its_lane(chat: PrivateChat) -> None:
    chat.model.enqueue(Text(("fruit",)), Text(("stone fruit",)))
    await _answered(chat, SAID)
    await _later(chat.gateway)
    (sent,) = await _rows(chat.gateway, "outbox")
    reply = replace(SAID, ext_id="-100/2", message_id="2", reply_to=sent["platform_id"])
    await _answered(chat, replace(reply, thread_id=None, forwarded=None))
    first, second = await _rows(chat.gateway, "inbox")
    assert first["lane"] is not None
    assert second["lane"] == first["lane"]


async def test_what_is_known_of_a_folded_message_is_explained(chat: PrivateChat) -> None:
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, SAID)
    await _later(chat.gateway)
    explainer = Explainer(chat.gateway.services.store, chat.gateway.services.redactor)
    asked = _says(await explainer.explain("-100/1"))
    threaded = _says(await explainer.explain("7/1"))
    answer = _says(await explainer.explain("out-1"))
    for part in ('written by "Alice" (id 7)', "emptied here", "what are plums?", "thread 7", "yes"):
        assert part in asked
    assert "answered by the turn t-" in threaded
    assert "out-1" in answer


async def test_a_person_is_forgotten_whose_messages_are_folded(chat: PrivateChat) -> None:
    others = replace(SAID, ext_id="-100/2", message_id="2", sender=Author("9", "Eve"), owner=False)
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, SAID)
    await _answered(chat, replace(others, addressed=False, forwarded=None))
    await _later(chat.gateway)
    table = chat.gateway.services.ledger.erasures
    for person, ids in (("7", [1]), ("8", [1]), ("9", [2])):
        about = Erasure("e", "person", "operator", channel="editing", person=person)
        rows = await table.rows_of(about, "", "")
        assert [row["id"] for row in rows] == ids


async def test_what_failed_is_not_asked_again_once_it_is_folded(chat: PrivateChat) -> None:
    chat.model.enqueue(Failure(500, "boom", None, "server_error"))
    await _answered(chat, SAID)
    await _later(chat.gateway)
    desk = LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery)
    with pytest.raises(AdminError, match="removed from the ledger after 30 days"):
        await desk.retry("in-1")


async def test_rows_that_somebody_may_still_need_stay_whole(chat: PrivateChat) -> None:
    parts = replace(SAID, parts=(("1", "what"), ("2", "are plums?")))
    assert fold_payload("inbox", parts.to_payload()) is None
    assert fold_payload("inbox", {"of": "another version"}) is None
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, SAID)
    ledger = chat.gateway.services.ledger
    unit = Unit()
    held = replace(SAID, ext_id="-100/3", message_id="3")
    rows = await ledger.inbox.accept([held, replace(held, ext_id="-100/4")])
    ledger.inbox.end(unit, rows[:1], "dead", "a reason")
    await ledger.store.commit(unit)
    await _later(chat.gateway)
    folded = [row["folded"] for row in await _rows(chat.gateway, "inbox")]
    assert folded == [1, 0, 0]


async def test_rows_are_folded_in_the_background_once_they_are_old(
    clock: QuickClock, chat: PrivateChat
) -> None:
    chat.model.enqueue(Text(("fruit",)))
    await _answered(chat, replace(SAID, date=clock.now().isoformat()))
    await clock.sleep(1)
    assert [row["folded"] for row in await _rows(chat.gateway, "inbox")] == [0]
    clock.jump(timedelta(days=31))
    while not (await _rows(chat.gateway, "inbox"))[0]["folded"]:
        await clock.sleep(1)


async def _folded(gateway: Gateway, clock: QuickClock, *wanted: int) -> None:
    """Wait until these messages are folded, and no others."""
    while [row["folded"] for row in await _rows(gateway, "inbox")] != [*wanted]:
        await clock.sleep(1)


async def test_what_was_accepted_while_the_clock_was_a_day_ahead_is_folded_a_day_later(
    clock: QuickClock, chat: PrivateChat
) -> None:
    clock.jump(timedelta(days=3))
    early = replace(SAID, addressed=False, date=clock.now().isoformat())
    await _answered(chat, early)
    clock.jump(timedelta(days=-3))
    await _answered(chat, replace(early, ext_id="-100/2", message_id="2"))
    clock.jump(timedelta(days=31))
    await _folded(chat.gateway, clock, 0, 1)
    clock.jump(timedelta(days=3))
    await _folded(chat.gateway, clock, 1, 1)


async def test_what_ends_only_after_the_rows_behind_it_were_folded_is_folded_too(
    clock: QuickClock, chat: PrivateChat
) -> None:
    said = replace(SAID, addressed=False, date=clock.now().isoformat())
    await _answered(chat, said)
    unit, ledger = Unit(), chat.gateway.services.ledger
    (row,) = await ledger.inbox.accept([replace(said, ext_id="-100/2", message_id="2")])
    ledger.inbox.end(unit, [row], "dead", "a reason")
    await ledger.store.commit(unit)
    await _answered(chat, replace(said, ext_id="-100/3", message_id="3"))
    clock.jump(timedelta(days=31))
    await _folded(chat.gateway, clock, 1, 0, 1)
    await LedgerAdmin(chat.gateway.services, chat.gateway.parts.recovery).drop("in-2")
    await _folded(chat.gateway, clock, 1, 1, 1)


class LosingAnswers:
    """A store that loses the answer to every query."""

    def __init__(self) -> None:
        self.asked = 0
        self.was_asked_again = anyio.Event()

    async def select(self, _statement: str, _values: Row, **_how: bool) -> list[Row]:
        self.asked += 1
        if self.asked > 1:
            self.was_asked_again.set()
        raise OutcomeUnknown(["t"])


async def test_folding_goes_on_after_an_answer_of_the_database_was_lost() -> None:
    store = LosingAnswers()
    folder = LedgerFolder(cast("UnitStore", store), QuickClock(), 30, lambda: False, RightOfWay())
    async with anyio.create_task_group() as group:
        group.start_soon(folder.run)
        await store.was_asked_again.wait()
        group.cancel_scope.cancel()
