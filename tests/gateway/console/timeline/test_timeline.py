"""What the timeline shows: rows, bins, chapters; a room as it was; chapters as files."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.app import Gateway
from gateway.console.reads import ConsoleReads
from gateway.console.screens.timeline import for_readers
from gateway.console.timeline.changes import changes_after
from gateway.console.timeline.chapter import NO_CHAPTER, chapter_text
from gateway.console.timeline.lanes import lane_names
from gateway.console.timeline.marks import MAX_TEXT, MAX_WHY
from gateway.console.timeline.overview import (
    MAX_BINS,
    chapter_beside,
    hits_of,
    joined,
    lanes_between,
    map_of,
    page_around,
)
from gateway.console.timeline.past import room_at, steps_after
from gateway.console.timeline.sparks import sparks_of
from gateway.errors import AdminError
from gateway.language.language import speaking
from gateway.settings.bounds import Bounds
from gateway.turn.runner import error_sentence
from tape.deletions import deletion
from tape.entry import Entry, NewEntry, anchor, bootstrap, event, message, tool_call
from tape.erasing import tombstone
from tape.errors import ReadTooSlow
from tape.handle import Tape
from tape.linking.recognition import MIN_REPLIES, Recognition
from tape.query import Query
from tape.rollups import Stretch
from tape.store import ErasingStore
from tests.gateway.console.filled_tape import fill
from tests.kit.gateways import gateway_of, tape_of

SECRET = "the key is under the mat"
KINDS = "chapter other chapter said turn tool answer out end edit said delete refused said error"


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    async with gateway_of(tmp_path) as running:
        yield running


@pytest.fixture
def reads(gateway: Gateway) -> ConsoleReads:
    return ConsoleReads(gateway.services)


@pytest.fixture
def tape(gateway: Gateway) -> Tape:
    return tape_of(gateway)


def at(minute: int, new: NewEntry) -> NewEntry:
    return NewEntry(new.kind, new.payload, new.meta, f"2026-01-02T10:{minute:02}:00.000000+00:00")


def said(text: str, number: int) -> NewEntry:
    how: dict[str, Any] = {"inbox": number, "author": "7", "name": "Ada", "lane": "said:1"}
    return message("user", f"[Ada] {text}", **how, text=text, message_id=str(number))


async def talked(tape: Tape) -> None:
    """Append a little of everything; the entries have the kinds of KINDS."""
    how = {"turn": "t1", "lane": "said:1"}
    await tape.append(
        *(at(0, new) for new in bootstrap()),
        at(0, anchor("Bread and tea")),
        at(1, said("what is bread?", 1)),
        at(1, event("turn.start", {"turn": "t1", "takes": [4]}, **how)),
        at(2, tool_call([{"id": "1", "function": {"name": "web.fetch"}}], **how)),
        at(3, message("assistant", "Bread is <b>baked</b>.", final=True, **how)),
        at(3, event("outbound", {"idem": "1", "kind": "answer"}, **how)),
        at(3, event("turn.end", {"turn": "t1", "status": "done"}, **how)),
        at(
            4,
            event(
                "message.edit",
                {"entry": 4, "content": "[Ada] what is rye bread?", "text": "what is rye bread?"},
            ),
        ),
        at(5, said(SECRET, 2)),
        at(6, deletion(11, "2")),
        at(7, event("access.refused", {"author": "9", "why": "closed", "inbox": 3})),
        at(8, said("thanks", 4)),
        at(9, NewEntry("error", {"message": "lost"}, {})),
    )


async def test_rows_have_what_is_drawn_and_no_deleted_text(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    page = await page_around(reads, tape.name, {})
    rows = {row["id"]: row for row in page["rows"]}
    assert " ".join(row["kind"] for row in page["rows"]) == KINDS
    assert (page["first"], page["last"], page["size"], page["at"]) == (1, 15, 15, 15)
    assert rows[4] | {"at": ""} == {
        "id": 4,
        "at": "",
        "kind": "said",
        "lane": "said:1",
        "who": "Ada",
        "text": "what is rye bread?",
        "inbox": 1,
    }
    assert rows[6]["text"] == "web.fetch"
    assert (rows[9]["turn"], rows[9]["status"]) == ("t1", "done")
    assert (rows[10]["to"], rows[12]["to"]) == (4, 11)
    assert rows[11]["gone"] is True
    assert rows[3]["text"] == "Bread and tea"
    assert (rows[13]["value"], rows[13]["why"], rows[13]["inbox"]) == ("message", "closed", 3)
    assert rows[15]["why"] == "lost"
    assert SECRET not in str(page)


async def test_a_row_says_why_something_was_refused_or_failed_and_what_a_notice_said(
    tape: Tape, reads: ConsoleReads
) -> None:
    failed = error_sentence(TimeoutError(), "E-1")
    rule = "the chat is not on the allowlist"
    await tape.append(
        event("access.refused", {"author": "9", "why": rule, "inbox": 3}),
        event("message.dropped", {"author": "9", "why": "a plugin dropped it", "inbox": 4}),
        event("confirm.refused", {"tool": "fs.write", "by": "9"}),
        event("turn.end", {"turn": "t1", "status": "failed", "error": "Down:\n" + "x" * 999}),
        event("outbound", {"idem": "t1:0", "kind": "notice", "text": failed}),
        event("outbound", {"idem": "n-refusal:plain::9", "kind": "notice", "text": "Not yet."}),
        event("outbound", {"idem": "n-command:7", "kind": "notice", "text": SECRET}),
        event("outbound", {"idem": "t2:0", "kind": "notice", "text": SECRET}),
    )
    *rows, first, second, command, card = (await page_around(reads, tape.name, {}))["rows"]
    refused, dropped, call, ended = rows[-4:]
    assert (refused["why"], refused["inbox"]) == ("the chat was not on the allowlist", 3)
    assert (dropped["value"], dropped["why"], dropped["inbox"]) == (
        *("dropped", "a plugin dropped it", 4),
    )
    assert (call["value"], call["text"]) == ("call", "fs.write")
    assert ended["why"].startswith("Down: x")
    assert len(ended["why"]) == MAX_WHY
    assert [one["kind"] for one in (first, second, command, card)] == ["notice"] * 4
    assert (first["sent"], second["sent"]) == (failed, "Not yet.")
    assert SECRET not in str((command, card))  # they may quote what was deleted since
    shown = for_readers({"rows": [refused, ended, first]})["rows"]
    assert all(one.keys().isdisjoint(("why", "sent", "inbox")) for one in shown)


async def test_an_erased_message_is_a_place_without_words(
    gateway: Gateway, tape: Tape, reads: ConsoleReads
) -> None:
    await talked(tape)
    store = gateway.services.store
    assert isinstance(store, ErasingStore)
    await store.erase(tape.name, [tombstone((await tape.entries([4]))[4], "2026-01-31")])
    page = await page_around(reads, tape.name, {"around": 4, "limit": 2})
    assert [row["kind"] for row in page["rows"]] == ["chapter", "erased"]
    assert page["rows"][1].keys() == {"id", "at", "kind"}


async def test_a_page_is_found_around_an_entry_a_date_and_beside_another(
    tape: Tape, reads: ConsoleReads
) -> None:
    await talked(tape)

    async def ids(**where: Any) -> list[int]:
        return [row["id"] for row in (await page_around(reads, tape.name, where))["rows"]]

    assert await ids(around=8, limit=4) == [6, 7, 8, 9]
    assert await ids(after=12, limit=500) == [13, 14, 15]
    assert await ids(before=4, limit=2) == [2, 3]
    assert await ids(around=10**9, limit=2) == [14, 15]
    date = await page_around(reads, tape.name, {"date": "2026-01-02T10:05:30+00:00", "limit": 2})
    assert date["at"] == 12
    late = await page_around(reads, tape.name, {"date": "2030-01-01T00:00:00+00:00", "limit": 2})
    assert late["at"] == 15
    assert (await page_around(reads, "nowhere", {}))["rows"] == []


async def test_a_date_is_found_by_the_hour_where_the_tape_is_in_no_order(
    gateway: Gateway, tape: Tape, reads: ConsoleReads
) -> None:
    class Slow(ConsoleReads):
        async def page(self, query: Query) -> list[Entry]:
            if query.until is not None:
                raise ReadTooSlow(0.2)
            return await super().page(query)

    await talked(tape)
    await gateway.services.store.indexed()  # type: ignore[attr-defined]
    slow = Slow(gateway.services)
    found = await page_around(slow, tape.name, {"date": "2026-01-02T09:05:30+00:00"})
    assert found["at"] == 1
    found = await page_around(slow, tape.name, {"date": "2026-02-02T10:05:30+00:00"})
    assert found["at"] == 15


async def test_a_long_text_is_cut_short(tape: Tape, reads: ConsoleReads) -> None:
    await tape.append(said("x" * 5000, 1))
    page = await page_around(reads, tape.name, {})
    assert len(page["rows"][-1]["text"]) == MAX_TEXT


async def test_the_whole_tape_is_in_a_few_bins(
    gateway: Gateway, tape: Tape, reads: ConsoleReads
) -> None:
    await fill(tape, 3000, lanes=20)
    await gateway.services.store.indexed()  # type: ignore[attr-defined]
    found = await map_of(reads, tape.name)
    assert (found["size"], found["low"], found["high"]) == (3002, 1, 3002)
    bins = found["bins"]
    assert 3 < len(bins) <= MAX_BINS
    assert sum(one[4] for one in bins) == 3002
    assert sum(one[5] for one in bins) > 300
    assert [one[0] for one in bins] == sorted(one[0] for one in bins)
    lanes = (await lanes_between(reads, tape.name, 1, 3002))["lanes"]
    assert len(lanes) == 20


async def test_a_conversation_is_named_by_who_began_it_unless_that_is_deleted(
    tape: Tape, reads: ConsoleReads
) -> None:
    await talked(tape)
    names = await lane_names(reads, tape.name, ["said:1", "said:1", "said:2"])
    assert names == {"said:1": {"entry": 4, "who": "Ada", "text": "what is rye bread?"}}
    await tape.append(deletion(4, "1"))
    names = await lane_names(reads, tape.name, ["said:1"])
    assert SECRET not in str(names)
    assert "rye" not in str(names)


def test_neighbours_are_joined_until_they_are_few() -> None:
    many = [Stretch(n, 1, 1, 0, 0, 0, 0, 0, n, n, f"{n:09}", f"{n:09}") for n in range(10_000)]
    few = joined(many)
    assert len(few) <= MAX_BINS
    assert sum(one.entries for one in few) == 10_000
    assert (few[-1].last, few[0].first) == (9999, 0)
    assert joined([]) == []


async def test_a_spark_has_a_number_for_each_hour_of_a_day(
    gateway: Gateway, tape: Tape, reads: ConsoleReads
) -> None:
    await talked(tape)
    await gateway.services.store.indexed()  # type: ignore[attr-defined]
    now = datetime(2026, 1, 2, 12, 30, tzinfo=UTC)
    found = await sparks_of(reads, [tape.name, "nowhere"], now)
    assert found == {tape.name: [0] * 21 + [4, 0, 0], "nowhere": [0] * 24}


async def test_chapters_are_stepped_through(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    found = await chapter_beside(reads, tape.name, 3, back=True)
    assert (found["id"], found["cut"], found["text"]) == (1, "start", "")
    found = await chapter_beside(reads, tape.name, 1, back=False)
    assert (found["id"], found["text"]) == (3, "Bread and tea")
    assert await chapter_beside(reads, tape.name, 3, back=False) == {"id": None}


async def test_a_page_hears_what_was_changed_of_what_it_shows(
    gateway: Gateway, tape: Tape, reads: ConsoleReads
) -> None:
    await talked(tape)

    async def changed(after: int | None, **bounds: int) -> dict[str, Any]:
        own = ConsoleReads(replace(gateway.services, bounds=Bounds(**bounds))) if bounds else reads
        return await changes_after(own, tape.name, after)

    nothing = {"upto": 15, "deleted": [], "edited": [], "all": False}
    assert [await changed(one) for one in (None, 15, 99)] == [nothing] * 3
    assert await changed(9) == {"upto": 15, "deleted": [11], "edited": [4], "all": False}
    assert await changed(10) == {"upto": 15, "deleted": [11], "edited": [], "all": False}
    await tape.append(event("erase", {"what": "message", "entries": 1}))
    assert await changed(15) == {"upto": 16, "deleted": [], "edited": [], "all": True}
    assert await changed(2, console_changed=10) == {
        "upto": 16,
        "deleted": [],
        "edited": [],
        "all": True,
    }
    assert (await changed(9, console_changes=1))["all"]


async def test_a_search_finds_no_deleted_message(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    assert [row["id"] for row in (await hits_of(reads, tape.name, "bread"))["rows"]] == [7, 4, 3]
    assert (await hits_of(reads, tape.name, "mat"))["rows"] == []


async def test_a_room_is_shown_as_it_was_but_nothing_deleted_since(
    tape: Tape, reads: ConsoleReads
) -> None:
    await talked(tape)
    early = await room_at(reads, tape.name, "2026-01-02T10:02:30Z")
    assert [one["text"] for one in early["messages"]] == ["what is bread?"]
    assert [one["turn"] for one in early["working"]] == ["t1"]
    assert early["next"].startswith("2026-01-02T10:03")
    later = await room_at(reads, tape.name, "2026-01-02T10:05:30Z")
    assert later["entry"] == 11
    assert [one["text"] for one in later["messages"]] == [
        "what is rye bread?",
        "Bread is <b>baked</b>.",
    ]
    assert later["working"] == []
    before = await room_at(reads, tape.name, "2020-01-01T00:00:00Z")
    assert (before["entry"], before["messages"]) == (0, [])


async def test_a_replay_goes_on_with_what_followed(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    found = await steps_after(reads, tape.name, 3)
    kinds = [step["kind"] for step in found["steps"]]
    assert kinds == ["said", "turn", "answer", "end", "edit", "said"]
    assert found["steps"][0]["text"] == "what is bread?"
    assert found["steps"][4]["text"] == "what is rye bread?"
    assert (found["upto"], found["more"]) == (15, False)
    assert SECRET not in str(found)


async def test_a_replay_shows_the_poll_that_an_edit_closed(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    closed = {"entry": 4, "text": "", "content": "[10:00 #1 Ann]\n[poll, tea? (yes, no); closed]"}
    await tape.append(at(20, event("message.edit", closed)))
    *_, step = (await steps_after(reads, tape.name, 15))["steps"]
    assert (step["kind"], step["text"]) == ("edit", "[poll, tea? (yes, no); closed]")


async def test_a_chapter_is_a_file_of_what_was_said(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    await tape.append(at(20, anchor("Another")), at(21, said("not of this chapter", 9)))
    found = await chapter_text(reads, tape.name, 3, "Lobby")
    markdown, page = found.markdown("Tapeway"), found.html("Tapeway")
    assert markdown.startswith("# Bread and tea\n\n3 messages since 2026-01-02 10:00 UTC\n")
    assert "**Ada**, 2026-01-02 10:01 UTC\n\n> what is rye bread?\n" in markdown
    assert "&lt;b&gt;baked&lt;/b&gt;" in page
    assert "<b>baked" not in page
    for text in (markdown, page):
        assert SECRET not in text
        assert "not of this chapter" not in text
    with pytest.raises(AdminError, match=NO_CHAPTER):
        await chapter_text(reads, tape.name, 4, "Lobby")


async def test_a_chapter_says_in_which_language_it_is(tape: Tape, reads: ConsoleReads) -> None:
    await talked(tape)
    found = await chapter_text(reads, tape.name, 3, "Lobby")
    for language in ("en", "zh"):
        with speaking(language):
            assert f'<html lang="{language}">' in found.html("Tapeway")


async def test_a_name_cannot_break_out_of_a_chapter(tape: Tape, reads: ConsoleReads) -> None:
    new = said("hello\n# not a heading", 1)
    meta = {**new.meta, "name": "**<script>**\n# Eve"}
    await tape.append(anchor("x <script> *y*"), NewEntry(new.kind, new.payload, meta, ""))
    found = await chapter_text(reads, tape.name, 3, "Lobby")
    markdown = found.markdown("Tapeway")
    assert "\n# " not in markdown.removeprefix("# ")
    assert "\\<script\\>" in markdown
    assert "<script>" not in found.html("Tapeway")


async def test_the_timeline_says_how_well_conversations_are_recognized(
    tape: Tape, reads: ConsoleReads
) -> None:
    def judged(number: int, known: Recognition) -> NewEntry:
        new = said("hello", number)
        return replace(new, meta={**new.meta, "link": {"recognized": known.to_json()}})

    await tape.append(judged(1, Recognition(MIN_REPLIES - 1, 0.5, 0.6, 0.7)), said("so", 2))
    assert (await map_of(reads, tape.name))["recognized"] == ""
    await tape.append(
        judged(3, Recognition(MIN_REPLIES, 0.61, 0.8, 0.9, by_recency=True)), said("so", 4)
    )
    shown = await map_of(reads, tape.name)
    assert shown["recognized"] == (
        "In this room, conversations are recognized in 61 of 100 replies,"
        " so views show its last messages"
    )
    with speaking("zh"):
        assert "61" in (says := (await map_of(reads, tape.name))["recognized"])
    assert "recognized" not in says
    assert "recognized" not in for_readers(shown)
