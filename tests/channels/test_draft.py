"""Partial text: the renderer, and the editor at the chat's pace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
import pytest
from anyio.abc import TaskGroup

from channels.draft import Draft, DraftEditor, DraftReference, Pace
from channels.errors import SendDelayed, SendRefused
from channels.message import Author, InboundMessage
from channels.pacing import Budget, Pacing, Priority
from channels.tally import Tally
from tests.kit.clock import ManualClock, settle

MESSAGE = InboundMessage("web", "lobby", "lobby/1", "1", Author("7", "Anna"), "hi", "2026-01-02")


def test_a_draft_is_its_pieces_joined() -> None:
    draft = Draft()
    assert draft.render() == ""
    for piece in ("Hel", "", "lo", " 中"):
        draft.push(piece)
    assert draft.render() == draft.render() == "Hello 中"


def test_a_draft_begins_anew_after_a_reset() -> None:
    draft = Draft()
    draft.push("wrong")
    draft.reset()
    draft.push("right")
    assert draft.render() == "right"


def _sent() -> anyio.Event:
    event = anyio.Event()
    event.set()
    return event


@dataclass
class Platform:
    """A chat on a platform whose edits take as long as they are told to, and a journal."""

    clock: ManualClock
    takes: float = 0.0
    refuses: list[Exception] = field(default_factory=list)
    open: bool = True
    shown: list[tuple[float, str | None, str]] = field(default_factory=list)
    journal: list[DraftReference | str] = field(default_factory=list)
    sent: anyio.Event = field(default_factory=_sent)

    async def show(self, message: InboundMessage, place: DraftReference, text: str) -> str:
        await self.clock.sleep(self.takes)
        if self.refuses:
            raise self.refuses.pop(0)
        self.shown.append((self.clock.monotonic(), place.platform_id, text))
        return "p1"

    async def wait_sent(self, message: InboundMessage) -> None:
        await self.sent.wait()

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        self.journal.append(f"open {message.ext_id}")
        return DraftReference("idem") if self.open else None

    async def locate_draft(self, place: DraftReference) -> None:
        self.journal.append(place)


PACE = Pace()


class Editing:
    """An editor at work, one edit a second at most."""

    def __init__(self, group: TaskGroup, pace: Pace = PACE, budget: float = 1.0) -> None:
        self.clock = ManualClock()
        self.platform = Platform(self.clock)
        self.tally = Tally()
        self.pacing = Pacing(lambda _chat: Budget(budget), self.clock)
        self.editor = DraftEditor(
            MESSAGE, self.platform.show, self.platform, self.pacing, self.clock, pace, self.tally
        )
        self.failed: Exception | None = None
        group.start_soon(self._run)

    async def _run(self) -> None:
        try:
            await self.editor.run()
        except ValueError as cause:
            self.failed = cause

    async def push(self, *deltas: str) -> None:
        for delta in deltas:
            self.editor.push(delta)
        await settle()


@pytest.fixture
async def editing() -> AsyncIterator[Editing]:
    async with anyio.create_task_group() as group:
        yield Editing(group)
        group.cancel_scope.cancel()


async def test_the_first_text_is_posted_at_once_and_later_text_edits_it(editing: Editing) -> None:
    await editing.push("Hel")
    await editing.push("lo")
    await editing.push(" you")
    assert editing.platform.shown == [(0, None, "Hel")]
    await editing.clock.advance(10)
    assert editing.platform.shown == [(0, None, "Hel"), (1, "p1", "Hello you")]


async def test_a_draft_that_moves_is_edited_by_the_other_connection(editing: Editing) -> None:
    await editing.push("Hel")
    other = Platform(editing.clock)
    editing.editor.move(other.show, editing.pacing)
    await editing.push("lo")
    await editing.clock.advance(2)
    assert editing.platform.shown == [(0, None, "Hel")]
    assert [(place, text) for _at, place, text in other.shown] == [("p1", "Hello")]


async def test_the_first_text_waits_for_what_the_chat_is_sent_before_it(editing: Editing) -> None:
    editing.platform.sent = anyio.Event()
    await editing.push("Hel")
    await editing.clock.advance(5)
    await editing.push("lo")
    assert editing.platform.shown == []
    editing.platform.sent.set()
    await editing.clock.advance(0)
    assert editing.platform.shown == [(5, None, "Hello")]


async def test_a_first_text_that_still_waits_holds_up_no_answer(editing: Editing) -> None:
    editing.platform.sent = anyio.Event()
    await editing.push("Hel")
    assert await editing.editor.close() is None
    assert editing.platform.journal == []


async def test_where_a_draft_stands_is_written_down_before_and_after_it_is_posted(
    editing: Editing,
) -> None:
    editing.platform.takes = 5
    await editing.push("a")
    assert editing.platform.journal == ["open lobby/1"]
    assert editing.platform.shown == []
    await editing.clock.advance(5)
    await editing.push("b")
    await editing.clock.advance(60)
    assert editing.platform.journal == ["open lobby/1", DraftReference("idem", "p1")]


async def test_the_next_edit_starts_after_the_last_returned(editing: Editing) -> None:
    editing.platform.takes = 5
    await editing.push("a")
    for delta in "bcd":
        await editing.push(delta)
        await editing.clock.advance(1)
    assert editing.platform.shown == []
    await editing.clock.advance(60)
    assert [text for _, _, text in editing.platform.shown] == ["a", "abcd"]


async def test_text_that_did_not_change_is_not_shown_again(editing: Editing) -> None:
    await editing.push("a")
    await editing.push("")
    await editing.clock.advance(10)
    assert editing.platform.shown == [(0, None, "a")]


async def test_white_space_alone_is_not_shown(editing: Editing) -> None:
    await editing.push(" \n")
    assert editing.platform.shown == []
    await editing.clock.advance(1)
    await editing.push("a")
    await editing.clock.advance(1)
    assert [text for _, _, text in editing.platform.shown] == [" \na"]


async def test_after_a_reset_the_old_text_stays_until_there_is_other(editing: Editing) -> None:
    await editing.push("wrong")
    editing.editor.reset()
    await editing.clock.advance(10)
    assert len(editing.platform.shown) == 1
    await editing.push("right")
    assert [text for _, _, text in editing.platform.shown] == ["wrong", "right"]


async def test_a_draft_that_must_not_be_opened_is_never_shown(editing: Editing) -> None:
    editing.platform.open = False
    await editing.push("a")
    await editing.push("b")
    await editing.clock.advance(10)
    assert editing.platform.shown == []
    assert editing.platform.journal == ["open lobby/1"]
    await editing.editor.close()


async def test_a_platform_that_says_wait_is_asked_again_with_the_newest_text(
    editing: Editing,
) -> None:
    editing.platform.refuses = [SendDelayed(40)]
    await editing.push("a")
    await editing.push("b")
    await editing.clock.advance(39)
    assert editing.platform.shown == []
    await editing.clock.advance(10)
    assert editing.platform.shown == [(40, None, "ab")]


async def test_a_text_that_had_to_wait_is_shown_also_when_no_more_comes(editing: Editing) -> None:
    editing.platform.refuses = [SendDelayed(40)]
    await editing.push("a")
    await editing.clock.advance(60)
    assert editing.platform.shown == [(40, None, "a")]


async def test_a_platform_that_refuses_gets_no_more_partial_text(editing: Editing) -> None:
    editing.platform.refuses = [SendRefused("kicked")]
    await editing.push("a")
    await editing.push("b")
    await editing.clock.advance(60)
    assert editing.platform.shown == []
    await editing.editor.close()


async def test_another_error_goes_up_and_closing_does_not_hang(editing: Editing) -> None:
    editing.platform.refuses = [ValueError("no answer")]
    await editing.push("a")
    assert isinstance(editing.failed, ValueError)
    await editing.editor.close()


async def test_closing_waits_for_the_edit_that_is_under_way_and_shows_no_more(
    editing: Editing,
) -> None:
    editing.platform.takes = 5
    await editing.push("a")
    async with anyio.create_task_group() as group:
        closed = anyio.Event()

        async def close() -> None:
            await editing.editor.close()
            closed.set()

        group.start_soon(close)
        await editing.clock.advance(4)
        editing.editor.push("late")
        assert not closed.is_set()
        await editing.clock.advance(1)
        assert closed.is_set()
    await editing.clock.advance(60)
    assert editing.platform.shown == [(5, None, "a")]


async def test_closing_does_not_wait_for_the_chats_pace(editing: Editing) -> None:
    await editing.push("a")
    editing.pacing.close("lobby", 40)
    await editing.push("b")
    with anyio.fail_after(30):
        await editing.editor.close()
    assert editing.clock.monotonic() == 0
    assert editing.platform.shown == [(0, None, "a")]


async def test_an_edit_that_is_not_made_leaves_its_slot_to_the_final(editing: Editing) -> None:
    await editing.push("a")
    await editing.push("b")
    await editing.clock.advance(0.5)
    wrote: list[float] = []

    async def send_final() -> None:
        await editing.editor.close()
        await editing.pacing.permit("lobby", Priority.FINAL)
        wrote.append(editing.clock.monotonic())

    async with anyio.create_task_group() as group:
        group.start_soon(send_final)
        await editing.clock.advance(60)
    assert wrote == [1.0]


async def test_an_editor_that_is_closed_before_any_text_ends(editing: Editing) -> None:
    await settle()
    await editing.editor.close()
    await editing.push("late")
    assert editing.platform.journal == []


async def test_an_answer_is_waited_for_before_partial_text_is_shown() -> None:
    async with anyio.create_task_group() as group:
        editing = Editing(group, Pace(first_after=0.7))
        await editing.push("a")
        await editing.clock.advance(0.6)
        assert editing.platform.journal == []
        await editing.push("b")
        await editing.clock.advance(0.1)
        assert editing.platform.shown == [(0.7, None, "ab")]
        await editing.editor.close()


async def test_an_answer_that_is_there_before_is_never_shown_in_part() -> None:
    async with anyio.create_task_group() as group:
        editing = Editing(group, Pace(first_after=0.7))
        await editing.push("a")
        with anyio.fail_after(30):
            assert await editing.editor.close() is None
        await editing.clock.advance(60)
        assert editing.platform.shown == []


async def test_showings_that_cost_nothing_keep_their_own_interval_and_use_no_slot() -> None:
    async with anyio.create_task_group() as group:
        editing = Editing(group, Pace(interval=0.5, charged=lambda: False), budget=100.0)
        for delta in "abcd":
            await editing.push(delta)
            await editing.clock.advance(0.3)
        await editing.pacing.permit("lobby", Priority.FINAL)
        assert [(at, text) for at, _, text in editing.platform.shown] == [
            (0, "a"),
            (0.5, "ab"),
            (1.0, "abcd"),
        ]
        await editing.editor.close()


async def test_after_a_showing_that_is_much_work_the_next_one_waits_longer() -> None:
    async with anyio.create_task_group() as group:
        editing = Editing(group, Pace(interval=0.06, rest=5.0, charged=lambda: False), budget=100.0)
        editing.platform.takes = 0.1
        for delta in "abcdefghijklmn":
            await editing.push(delta)
            await editing.clock.advance(0.1)
        assert [(round(at, 1), text) for at, _, text in editing.platform.shown] == [
            (0.1, "a"),
            (0.7, "abcdef"),
            (1.3, "abcdefghijkl"),
        ]
        await editing.editor.close()


async def test_only_the_beginning_of_a_long_text_is_shown_while_it_is_written() -> None:
    async with anyio.create_task_group() as group:
        editing = Editing(group, Pace(longest=3))
        for delta in ("ab", "cd", "ef"):
            await editing.push(delta)
            await editing.clock.advance(2)
        assert [text for _, _, text in editing.platform.shown] == ["ab", "abc"]
        await editing.editor.close()
