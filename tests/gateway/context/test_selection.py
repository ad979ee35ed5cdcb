"""What a turn takes along, and what it takes again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gateway.context.reactions import REACTION
from gateway.context.selection import (
    MAX_LOOKBACK,
    Nearby,
    Selection,
    reselect_messages,
    select_messages,
)
from gateway.context.titles import TITLED
from tape.entry import NewEntry, anchor, event, message, tool_call, tool_result
from tape.handle import Tape
from tape.stores.memory import MemoryStore
from tape.turn_events import TURN_START, TurnStart

NAMES = (REACTION, TITLED)


def said(text: str, lane: str | None = "x", **more: object) -> NewEntry:
    meta = {"inbox": 1, "lane": lane, **more}
    return message("user", text, **{key: value for key, value in meta.items() if value})


def start(*takes: int, lane: str = "x", turn: str = "t") -> NewEntry:
    return event(TURN_START, {"turn": turn, "takes": list(takes)}, lane=lane, turn=turn)


async def tape_with(*entries: NewEntry) -> Tape:
    tape = Tape(MemoryStore(), "tape")
    await tape.append(*entries)  # ids from 3 on, after the bootstrap
    return tape


@pytest.mark.parametrize("lane", ["x", None])
async def test_thumbs_and_titles_push_no_message_out(lane: str | None) -> None:
    # Between what a turn took and what it did not, there is more than is looked back over.
    noise = [event(name, {"n": n}, **named(lane)) for n in range(MAX_LOOKBACK) for name in NAMES]
    taken = replace(start(3), meta=named(lane) | {"turn": "t"})
    tape = await tape_with(said("3", lane), taken, said("5", lane), *noise, said("last", lane))
    asked = 6 + len(noise)
    assert await select_messages(tape, lane, [asked], [], 1000) == Selection((), (5, asked))


def named(lane: str | None) -> dict[str, str]:
    return {"lane": lane} if lane else {}


async def test_the_question_is_last_after_what_its_lane_said_since() -> None:
    tape = await tape_with(said("3"), start(3), said("5"), said("6"), said("7"))
    assert await select_messages(tape, "x", [6], [], 1000) == Selection((), (5, 7, 6))


async def test_what_the_author_adds_is_shown_with_the_question_in_the_order_said() -> None:
    ann, ben = {"author": "1", "channel": "plain"}, {"author": "2", "channel": "plain"}
    tape = await tape_with(
        said("3", **ann), said("4", **ann), said("5", **ben), said("6", **ann), said("7", **ben)
    )
    assert await select_messages(tape, "x", [4], [], 1000) == Selection((), (3, 5, 7, 4, 6))


async def test_what_somebody_of_that_id_says_elsewhere_adds_nothing_to_a_question() -> None:
    ann, other = {"author": "1", "channel": "plain"}, {"author": "1", "channel": "web"}
    tape = await tape_with(said("3", **ann), said("4", **other))
    assert await select_messages(tape, "x", [3], [], 1000) == Selection((), (4, 3))


async def test_what_is_added_between_several_questions_stays_between_them() -> None:
    ann = {"author": "1", "channel": "plain"}
    tape = await tape_with(*(said(str(number), **ann) for number in range(3, 8)))
    assert await select_messages(tape, "x", [4, 6], [], 1000) == Selection((), (3, 4, 5, 6, 7))


async def test_the_parts_of_a_question_are_taken_whatever_they_cost() -> None:
    part = said("word " * 40, part_of=3)
    tape = await tape_with(said("3"), part, said("word " * 40, author="1"))
    assert (await select_messages(tape, "x", [3], [], 0)).takes == (3, 4)


async def test_a_retake_has_what_was_added_where_it_was_said() -> None:
    tape = await tape_with(*(said(str(number)) for number in range(3, 8)), start(3, 5, 4, 6, 7))
    assert (await reselect_messages(tape, "t", [4], 1000)).takes == (3, 5, 4, 6, 7)
    assert (await reselect_messages(tape, "t", [4], 0)).takes == (4,)
    old = await tape_with(*(said(str(number)) for number in range(3, 8)), start(3, 5, 6, 7, 4))
    assert (await reselect_messages(old, "t", [4], 1000)).takes == (3, 5, 6, 7, 4)


async def test_what_waits_for_a_turn_of_its_own_is_not_taken() -> None:
    tape = await tape_with(said("3"), said("4"), said("5"))
    assert await select_messages(tape, "x", [3], {4}, 1000) == Selection((), (5, 3))


async def test_what_asks_later_is_not_taken_even_if_it_is_not_known_to_wait() -> None:
    late, elsewhere = said("5", addressed=True), said("6", "y", addressed=True)
    tape = await tape_with(said("3", addressed=True), said("4"), late, elsewhere)
    assert await select_messages(tape, "x", [3], [], 1000) == Selection((), (4, 3))


async def test_commands_are_not_conversation() -> None:
    tape = await tape_with(said(",help", command=True), said("4"))
    assert await select_messages(tape, "x", [4], [], 1000) == Selection((), (4,))


async def test_nothing_before_the_lane_s_anchor_is_taken_but_the_question() -> None:
    tape = await tape_with(said("3"), said("4"), anchor("session/reset"), said("6"))
    assert await select_messages(tape, "x", [4], [], 1000) == Selection((), (6, 4))


async def test_an_overflow_beside_a_reset_does_not_bring_back_what_was_said_before_it() -> None:
    overflow = anchor("context:overflow", lane="x", turn="t")
    tape = await tape_with(
        said("3"), start(3), said("5"), anchor("session/reset"), said("7"), overflow, said("9")
    )
    assert await select_messages(tape, "x", [9], [], 1000) == Selection((), (7, 9))


async def test_the_budget_keeps_the_newest_and_always_the_question() -> None:
    tape = await tape_with(*(said("word " * 40) for _ in range(5)), said("question"))
    takes = await select_messages(tape, "x", [8], [], 120)
    assert takes.takes == (6, 7, 8)
    assert (await select_messages(tape, "x", [8], [], 0)).takes == (8,)


async def test_b4_a_young_lane_brings_the_last_few_of_the_room_and_takes_none_of_them() -> None:
    others = [said(f"room {number}", lane="y") for number in range(9)]
    tape = await tape_with(*others, said("question"))
    takes = await select_messages(tape, "x", [12], [], 1000)
    assert takes == Selection((6, 7, 8, 9, 10, 11), (12,))


async def test_g1_what_the_room_was_shown_once_is_not_shown_again() -> None:
    tape = await tape_with(said("room", lane="y"), said("one"))
    shown = event(TURN_START, {"turn": "t", "include": [3], "takes": [4]}, lane="x", turn="t")
    await tape.append(shown, said("two"))
    assert await select_messages(tape, "x", [6], [], 1000) == Selection((), (6,))


async def test_where_one_conversation_fills_the_room_its_last_fifty_messages_are_shown() -> None:
    others = [said(f"room {number}", lane="y") for number in range(80)]
    tape = await tape_with(*others, said("question"))
    takes = await select_messages(tape, "x", [83], [], 10_000, Nearby(whole=True))
    assert takes == Selection(tuple(range(34, 83)), (83,), whole=True)


async def test_a_lane_of_more_than_a_handful_brings_nobody_else() -> None:
    tape = await tape_with(said("room", lane="y"), *(said("own") for _ in range(5)), said("q"))
    assert (await select_messages(tape, "x", [9], [], 1000)).include == ()


async def test_a_retake_has_the_question_and_then_the_turn_s_calls_with_their_results() -> None:
    call = {"id": "c", "function": {"name": "n", "arguments": "{}"}}
    own = {"lane": "x", "turn": "t"}
    tape = await tape_with(
        said("3"),
        said("4"),
        start(3, 4),
        tool_call([call], **own),
        tool_result(["r"], **own),
        tool_call([{**call, "id": "open"}], **own),
    )
    assert (await reselect_messages(tape, "t", [4], 1000)).takes == (3, 4, 6, 7)
    assert (await reselect_messages(tape, "t", [4], 0)).takes == (4,)
    again = event("turn.retake", {"turn": "t", "takes": [3, 4, 6, 7]}, **own)
    await tape.append(again)
    assert (await reselect_messages(tape, "t", [4], 1000)).takes == (3, 4, 6, 7)


@pytest.mark.parametrize(("whole", "related"), [(False, True), (True, False)])
async def test_after_an_overflow_a_lane_shows_what_the_question_is_about(
    whole: bool, related: bool
) -> None:
    talk = [said(f"idle talk number {number}") for number in range(20)]
    tape = await tape_with(said("the Zebra9 printer is in the hall"), *talk)
    own = {"lane": "x", "turn": "t"}
    earlier = TurnStart("t0", tuple(range(3, 24))).to_entry()
    later = TurnStart("t", (25,), whole_room=whole).to_entry()
    await tape.append(replace(earlier, meta={"lane": "x", "turn": "t0"}))
    await tape.append(said("where is the Zebra9 printer?"), replace(later, meta=own))
    await tape.append(anchor("context:overflow", {}, **own))
    retaken = (await reselect_messages(tape, "t", [25], 240)).takes
    assert (3 in retaken) is related
    assert retaken[-1] == 25
    assert len(retaken) > 3
    assert list(retaken) == sorted(retaken)


def edited(entry: int, lane: str = "x") -> NewEntry:
    return event("message.edit", {"entry": entry, "content": "new"}, lane=lane)


async def test_a4_an_edit_of_what_was_shown_is_told_once() -> None:
    tape = await tape_with(said("3"), start(3), edited(3), said("6"))
    assert await select_messages(tape, "x", [6], [], 1000) == Selection((), (5, 6))
    await tape.append(start(5, 6), said("8"))
    assert await select_messages(tape, "x", [8], [], 1000) == Selection((), (8,))


async def test_a4_an_edit_of_what_is_only_taken_now_is_not_told_beside_it() -> None:
    tape = await tape_with(said("3"), edited(3), said("5"), edited(5))
    assert await select_messages(tape, "x", [5], [], 1000) == Selection((), (3, 5))


async def test_a4_an_edit_that_was_shown_with_its_message_is_not_told_again() -> None:
    tape = await tape_with(said("3"), edited(3), start(3), said("6"))
    assert await select_messages(tape, "x", [6], [], 1000) == Selection((), (6,))


async def test_a4_an_edit_of_what_still_waits_is_not_told() -> None:
    tape = await tape_with(said("3"), edited(3), said("5"))
    assert await select_messages(tape, "x", [5], {3}, 1000) == Selection((), (5,))


async def test_a4_an_edit_of_what_was_said_before_the_anchor_is_told() -> None:
    tape = await tape_with(said("3"), start(3), anchor("session/reset"), edited(3), said("7"))
    assert await select_messages(tape, "x", [7], [], 1000) == Selection((), (6, 7))


def asking(of: int, lane: str, asked_in: str) -> tuple[NewEntry, NewEntry]:
    """Return an edit that asks in a lane, and what it makes of the message in the lane `lane`."""
    data = {"entry": of, "content": "new", "asked_in": asked_in}
    edited = event("message.edit", data, lane=lane)
    return said("new", lane=asked_in, edit_of=of, addressed=True), edited


async def test_a4_a_message_that_was_edited_to_ask_is_not_shown_beside_the_edit() -> None:
    tape = await tape_with(said("3"), *asking(3, "x", "x"))
    assert await select_messages(tape, "x", [4], [], 1000) == Selection((), (4,))


async def test_a4_an_edit_that_asked_in_a_lane_is_not_told_there_once_more() -> None:
    tape = await tape_with(said("3"), start(3), *asking(3, "x", "x"))
    assert await select_messages(tape, "x", [5], [], 1000) == Selection((), (5,))


async def test_a4_an_edit_that_asks_in_another_lane_is_told_where_the_old_text_was_shown() -> None:
    tape = await tape_with(said("3"), start(3), *asking(3, "x", "y"), said("7"))
    assert (await select_messages(tape, "x", [7], [5], 1000)).takes == (6, 7)


async def test_a4_what_asks_in_another_lane_is_no_chatter_where_it_was_said_first() -> None:
    tape = await tape_with(said("3"), *asking(3, "x", "y"), said("6"))
    assert (await select_messages(tape, "x", [6], [4], 1000)).takes == (6,)
    near = Nearby(likely=(3, 4))
    asked = await select_messages(tape, "z", [6], [], 1000, near)
    assert 3 not in asked.include


async def test_an_edited_command_is_no_news() -> None:
    tape = await tape_with(said(",help", command=True), edited(3), said("5"))
    assert await select_messages(tape, "x", [5], [], 1000) == Selection((), (5,))


async def test_e8_what_came_with_images_is_pictured_the_question_apart() -> None:
    photo = [{"kind": "image", "file": "f"}]
    tape = await tape_with(
        said("room", lane="y", media=photo),
        said("4", media=photo),
        said("5"),
        said("6", media=photo),
    )
    takes = await select_messages(tape, "x", [6], [], 1000)
    assert takes == Selection((3,), (4, 5, 6), pictured=(3, 4))


async def test_the_room_s_last_messages_are_shown_only_to_what_refers_to_them() -> None:
    tape = await tape_with(said("3", lane="y"), said("4", lane="y"), said("5"))
    refers = await select_messages(tape, "x", [5], [], 1000, Nearby(refers=True))
    clear = await select_messages(tape, "x", [5], [], 1000, Nearby(refers=False))
    assert (refers.include, clear.include) == ((3, 4), ())


@pytest.mark.parametrize("whole", [False, True])
async def test_what_the_room_says_behind_a_question_that_waits_is_not_what_it_is_about(
    whole: bool,
) -> None:
    behind = [said("later", lane="z") for _ in range(60)]
    tape = await tape_with(said("3", lane="y"), said("4", lane="y"), said("5"), *behind)
    taken = await select_messages(tape, "x", [5], [], 10_000, Nearby(whole=whole))
    assert taken.include == (3, 4)


async def test_what_is_in_doubt_is_included_and_recorded_as_such() -> None:
    tape = await tape_with(*(said(str(number), lane="y") for number in range(3, 7)), said("7"))
    near = Nearby(refers=True, likely=(3,), doubted=(5, 7))
    taken = await select_messages(tape, "x", [7], [], 1000, near)
    assert taken == Selection((3, 5), (7,), doubted=(5,))
    data = taken.start("t").to_entry().payload["data"]
    assert data == {"turn": "t", "include": [3, 5], "takes": [7], "doubted": [5]}


async def test_what_is_in_doubt_is_not_shown_beyond_the_budget() -> None:
    tape = await tape_with(said("word " * 300, lane="y"), said("4", lane="y"), said("5"))
    near = Nearby(refers=False, doubted=(3, 4))
    taken = await select_messages(tape, "x", [5], [], 100, near)
    assert (taken.include, taken.doubted) == ((4,), (4,))


async def test_the_room_s_last_messages_are_recorded_as_such() -> None:
    tape = await tape_with(said("3", lane="y"), said("4", lane="z"), said("5"))
    near = Nearby(refers=False, likely=(3, 4), recent=True)
    taken = await select_messages(tape, "x", [5], [], 1000, near)
    assert taken == Selection((3, 4), (5,), recent=True)
    assert taken.start("t").to_entry().payload["data"]["view"] == "recent"


async def test_what_is_clearly_apart_is_left_out_where_one_conversation_fills_the_room() -> None:
    tape = await tape_with(said("3", lane="y"), said("4", lane="z"), said("5"))
    near = Nearby(whole=True, left_out=frozenset({3}))
    taken = await select_messages(tape, "x", [5], [], 1000, near)
    assert taken == Selection((4,), (5,), whole=True)
