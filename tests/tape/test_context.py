"""Views: the exact mapping, where a message stands, and what a provider is spared."""

from __future__ import annotations

import pytest

from tape.context import (
    FIRST_PAGE_SIZE,
    Message,
    TapeContext,
    default_tape_context,
    merge_neighbours,
    pair_up,
    to_messages,
    view,
    view_entries,
)
from tape.entry import Entry, NewEntry, anchor, event, message, tool_call, tool_result
from tape.errors import NotFound
from tape.handle import Tape
from tape.stores.memory import MemoryStore


@pytest.fixture
def tape() -> Tape:
    return Tape(MemoryStore(), "t")


def asked(text: str, **meta: object) -> NewEntry:
    """Make a person's message, which waits for a turn."""
    return message("user", text, inbox=1, **meta)


def takes(*ids: int, name: str = "turn.start", **meta: object) -> NewEntry:
    return event(name, {"turn": "t1", "takes": list(ids)}, **meta)


def call(number: int = 1, name: str = "tape.search") -> dict[str, object]:
    return {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": "{}"}}


async def shown(tape: Tape, lane: str | None = None) -> list[str]:
    return [str(said["content"]) for said in await view(tape, default_tape_context(), lane)]


START = '[Anchor created: session/start]: {"owner": "human"}'


def test_the_mapping_is_exact() -> None:
    state = {"goal": "café", "steps": [1, None]}
    news = [
        anchor("phase:one", state),
        message("user", "hi"),
        tool_call([call(1), call(2, "tape.info")]),
        tool_result(["found", {"größe": 2}]),
        event("turn.end"),
        NewEntry("system", {"content": "rules"}),
        NewEntry("error", {"message": "lost"}),
        message("assistant", "done"),
    ]
    entries = [Entry(n, new.kind, new.payload, {}, "") for n, new in enumerate(news, start=1)]
    assert to_messages(entries) == [
        {
            "role": "assistant",
            "content": '[Anchor created: phase:one]: {"goal": "café", "steps": [1, null]}',
        },
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "", "tool_calls": [call(1), call(2, "tape.info")]},
        {"role": "tool", "content": "found", "tool_call_id": "c1", "name": "tape.search"},
        {"role": "tool", "content": '{"größe": 2}', "tool_call_id": "c2", "name": "tape.info"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_result_beyond_the_calls_has_no_id() -> None:
    entries = [
        Entry(1, "tool_call", {"calls": [call(1)]}, {}, ""),
        Entry(2, "tool_result", {"results": ["one", "two"]}, {}, ""),
        Entry(3, "tool_result", {"results": ["three"]}, {}, ""),
    ]
    said = to_messages(entries)
    assert [one.get("tool_call_id") for one in said[1:]] == ["c1", None, None]


async def test_a_tape_without_turns_reads_in_plain_order(tape: Tape) -> None:
    await tape.append(asked("a"), message("assistant", "b"), asked("c"))
    assert await shown(tape) == [START, "a", "b", "c"]


async def test_a_view_begins_with_the_latest_anchor_of_all_or_of_a_name(tape: Tape) -> None:
    await tape.append(message("user", "a"), anchor("phase:one", {"n": 1}), message("user", "b"))
    await tape.append(anchor("phase:two"), message("user", "c"))
    two = "[Anchor created: phase:two]: {}"
    assert await shown(tape) == [two, "c"]
    named = await view(tape, TapeContext("phase:one", to_messages))
    assert [said["content"] for said in named][1:] == ["b", two, "c"]
    whole = await view(tape, TapeContext(None, to_messages))
    assert len(whole) == 6
    with pytest.raises(NotFound):
        await view(tape, TapeContext("phase:three", to_messages))


async def test_a_message_stands_where_a_turn_took_it(tape: Tape) -> None:
    await tape.append(asked("first"), takes(3), message("assistant", "working"))
    await tape.append(asked("second"), message("assistant", "answer to first"))
    assert await shown(tape) == [START, "first", "working", "answer to first"]
    await tape.append(takes(6), message("assistant", "answer to second"))
    assert await shown(tape) == [
        START,
        "first",
        "working",
        "answer to first",
        "second",
        "answer to second",
    ]


async def test_what_a_turn_takes_is_shown_in_the_order_of_the_taking(tape: Tape) -> None:
    await tape.append(asked("a"), asked("b"), asked("c"), takes(4, 3))
    assert await shown(tape) == [START, "b", "a"]


async def test_a_message_waits_also_behind_an_anchor_that_was_made_in_a_turn(tape: Tape) -> None:
    await tape.append(asked("question"), takes(3), anchor("phase:one"), asked("waiting"))
    phase = "[Anchor created: phase:one]: {}"
    assert await shown(tape) == [phase]
    await tape.append(message("assistant", "answer"), takes(6))
    assert await shown(tape) == [phase, "answer", "waiting"]


async def test_a_retake_shows_the_messages_again_behind_its_anchor(tape: Tape) -> None:
    await tape.append(asked("question"), takes(3), tool_call([call()]), tool_result(["found"]))
    await tape.append(anchor("auto_handoff/context_overflow"))
    await tape.append(takes(3, 5, 6, name="turn.retake"))
    said = await view(tape, default_tape_context())
    assert [one["role"] for one in said] == ["assistant", "user", "assistant", "tool"]
    assert said[1]["content"] == "question"
    assert said[3]["tool_call_id"] == "c1"


async def test_a_built_prompt_is_shown_instead_of_the_message(tape: Tape) -> None:
    await tape.append(asked("raw"), takes(3), message("user", "built", prompt_of=3))
    assert await shown(tape) == [START, "built"]


async def test_a_taken_id_that_is_not_on_the_tape_is_left_out(tape: Tape) -> None:
    await tape.append(asked("a"), takes(99, 3))
    assert await shown(tape) == [START, "a"]


async def test_a_lane_shows_its_own_entries_and_what_it_took_from_the_room(tape: Tape) -> None:
    await tape.append(asked("of a", lane="a"), asked("of b", lane="b"))
    await tape.append(takes(4, 3, lane="a"), message("assistant", "to a", lane="a"))
    await tape.append(takes(4, lane="b"), message("assistant", "to b", lane="b"))
    assert await shown(tape, "a") == [START, "of b", "of a", "to a"]
    assert await shown(tape, "b") == [START, "of b", "to b"]


async def test_a_lane_begins_at_its_own_anchor_and_not_at_anothers(tape: Tape) -> None:
    await tape.append(message("assistant", "old", lane="a"), anchor("own", lane="a"))
    await tape.append(message("assistant", "new", lane="a"), anchor("others", lane="b"))
    assert await shown(tape, "a") == ["[Anchor created: own]: {}", "new"]


def result(number: int, text: str = "found") -> Message:
    return {"role": "tool", "content": text, "tool_call_id": f"c{number}", "name": "n"}


def calling(*numbers: int, text: str = "") -> Message:
    return {"role": "assistant", "content": text, "tool_calls": [call(n) for n in numbers]}


def test_answered_calls_stay_as_they_are() -> None:
    said = [{"role": "user", "content": "a"}, calling(1, 2), result(1), result(2)]
    assert pair_up(said) == said


def test_a_call_without_a_result_is_dropped_and_its_answered_neighbour_kept() -> None:
    assert pair_up([calling(1, 2), result(2)]) == [calling(2), result(2)]


def test_a_result_without_a_call_is_dropped() -> None:
    after = {"role": "assistant", "content": "done"}
    assert pair_up([result(1), after, {"role": "tool", "content": "stray"}]) == [after]


def test_a_step_of_unanswered_calls_leaves_its_text_or_nothing() -> None:
    assert pair_up([calling(1), {"role": "user", "content": "b"}, result(1)]) == [
        {"role": "user", "content": "b"}
    ]
    assert pair_up([calling(1, text="I look")]) == [{"role": "assistant", "content": "I look"}]


def test_call_ids_that_come_again_in_a_later_step_are_paired_step_by_step() -> None:
    said = [calling(1), result(1, "first"), calling(1), result(1, "second")]
    assert pair_up(said) == said


def step_of(turn: str, *ids: str) -> tuple[NewEntry, NewEntry]:
    """Return the two entries of a turn's step, whose results name their turn."""
    calls = [{"id": one, "function": {"name": "n"}} for one in ids]
    return tool_call(calls, turn=turn), tool_result([f"{turn} {one}" for one in ids], turn=turn)


async def test_turns_side_by_side_keep_every_pair_even_with_equal_ids() -> None:
    (a1, a1_done), (b1, b1_done) = step_of("a", "c1", "c2"), step_of("b", "c1")
    (a2, a2_done), (b2, b2_done) = step_of("a", "c1"), step_of("b", "c3")
    tape = Tape(MemoryStore(), "tape")
    await tape.append(
        a1, b1, message("user", "between"), b1_done, b2, a1_done, a2, b2_done, a2_done
    )
    shown = pair_up((await tape.full_context())[1:])
    assert [one["content"] for one in shown if one["role"] == "tool"] == [
        *("a c1", "a c2", "b c1", "b c3", "a c1")
    ]
    assert sum(one["role"] == "assistant" for one in shown) == 4
    for position, one in enumerate(shown):
        calls = [call["id"] for call in one.get("tool_calls", ())]
        after = shown[position + 1 : position + 1 + len(calls)]
        assert [result.get("tool_call_id") for result in after] == calls
    assert pair_up(shown) == shown


async def test_a_result_never_answers_the_calls_of_another_turn() -> None:
    (a1, _lost), (b1, b1_done) = step_of("a", "c1"), step_of("b", "c1")
    tape = Tape(MemoryStore(), "tape")
    await tape.append(b1, a1, b1_done)
    shown = pair_up((await tape.full_context())[1:])
    assert [one.get("content") for one in shown] == ["", "b c1"]


def test_plain_messages_of_two_steps_in_a_row_are_paired_by_their_ids() -> None:
    assert pair_up([calling(1), calling(2), result(1), result(2)]) == [
        *(calling(1), result(1), calling(2), result(2))
    ]


def test_results_are_put_in_the_order_of_their_calls() -> None:
    assert pair_up([calling(1, 2), result(2), result(1)]) == [calling(1, 2), result(1), result(2)]


def test_pairing_does_not_touch_what_it_was_given() -> None:
    step = calling(1, 2)
    pair_up([step, result(1)])
    assert step == calling(1, 2)


def test_neighbours_of_one_role_are_joined_and_others_are_not() -> None:
    said = [
        {"role": "system", "content": "s1"},
        {"role": "system", "content": "s2"},
        {"role": "user", "content": "a"},
        {"role": "user", "content": "b"},
        {"role": "assistant", "content": "c"},
        calling(1),
        result(1),
        {"role": "assistant", "content": "d"},
        {"role": "assistant", "content": "e"},
    ]
    assert merge_neighbours(said) == [
        *said[:2],
        {"role": "user", "content": "a\n\nb"},
        *said[4:7],
        {"role": "assistant", "content": "d\n\ne"},
    ]


async def test_a_view_of_several_pages_is_whole_and_in_order() -> None:
    tape = Tape(MemoryStore(), "tape")
    count = FIRST_PAGE_SIZE * 2 + 5
    await tape.append(*(message("user", str(number)) for number in range(count)))
    shown = await view_entries(tape)
    assert [entry.text for entry in shown[1:] if entry.kind == "message"] == [
        str(number) for number in range(count)
    ]
    assert [entry.id for entry in shown] == [1, *range(2, count + 3)]


def edit(entry: int, content: str, **meta: object) -> NewEntry:
    """Tell that a message now reads otherwise."""
    return event("message.edit", {"entry": entry, "text": content, "content": content}, **meta)


async def test_a4_a_message_reads_as_it_did_when_it_was_taken(tape: Tape) -> None:
    await tape.append(asked("frist"), edit(3, "firts"), edit(3, "first"), takes(3))
    assert await shown(tape) == [START, "first"]


async def test_g3_a_later_edit_changes_nothing_that_was_shown(tape: Tape) -> None:
    await tape.append(asked("at four"), takes(3), message("assistant", "noted"))
    before = await view(tape, default_tape_context())
    await tape.append(edit(3, "at five"))
    assert await view(tape, default_tape_context()) == before
    await tape.append(asked("when?"), takes(6, 7))
    after = await view(tape, default_tape_context())
    assert after[: len(before)] == before
    assert [said["content"] for said in after[len(before) :]] == [
        "[The following message was edited and now reads:]\nat five",
        "when?",
    ]


async def test_a4_a_message_from_before_the_anchor_is_taken_again_as_it_reads_now(
    tape: Tape,
) -> None:
    await tape.append(asked("four"), takes(3), edit(3, "five"), anchor("overflow"))
    await tape.append(takes(3, name="turn.retake"))
    assert (await shown(tape))[1:] == ["five"]


async def test_a4_a_message_of_another_lane_is_shown_with_its_own_edits(tape: Tape) -> None:
    await tape.append(asked("four", lane="b"), edit(3, "five", lane="b"), asked("q", lane="a"))
    await tape.append(takes(3, 5, lane="a"))
    assert await shown(tape, "a") == [START, "five", "q"]
    assert await shown(tape, "b") == [START]


async def test_a4_an_edit_that_asked_is_shown_as_such_only_below_the_text_from_before(
    tape: Tape,
) -> None:
    await tape.append(asked("at four", lane="a"), takes(3, lane="a"))
    await tape.append(asked("@bot at five?", lane="a", edit_of=3), takes(5, lane="a"))
    await tape.append(asked("@bot at five?", lane="b", edit_of=3), takes(7, lane="b"))
    note = "[The following message was edited and now reads:]\n"
    assert await shown(tape, "a") == [START, "at four", f"{note}@bot at five?"]
    assert await shown(tape, "b") == [START, "@bot at five?"]


async def test_a4_an_edit_of_something_else_than_words_says_of_what(tape: Tape) -> None:
    change = event("message.edit", {"entry": 3, "content": "look\n[poll]", "changed": "poll"})
    await tape.append(asked("look"), takes(3), change, takes(5))
    note = "[The poll of the following message was changed. It now reads:]\n"
    assert await shown(tape) == [START, "look", f"{note}look\n[poll]"]


async def test_the_taint_that_an_edit_brings_is_that_of_the_message_taken(tape: Tape) -> None:
    await tape.append(asked("look"), edit(3, "look\n>> at this", taint=["quote"]), takes(3))
    (said,) = [one for one in await view_entries(tape) if one.kind == "message"]
    assert said.meta["taint"] == ["quote"]


def media(entry: int, *images: str, refused: tuple[str, ...] = (), **meta: object) -> NewEntry:
    data = {"entry": entry, "images": list(images), "refused": list(refused)}
    return event("message.media", data, **meta)


async def test_e8_a_message_has_its_images_and_why_others_are_not_shown(tape: Tape) -> None:
    await tape.append(asked("look"), takes(3), media(3, "m/a", "m/b", refused=("too large",)))
    said = (await view(tape, default_tape_context()))[1]
    assert said["content"] == [
        {"type": "text", "text": "look\n[too large]"},
        {"type": "image_url", "image_url": {"url": "m/a"}},
        {"type": "image_url", "image_url": {"url": "m/b"}},
    ]


async def test_a_message_whose_images_are_all_refused_stays_a_text(tape: Tape) -> None:
    await tape.append(asked("look"), edit(3, "see"), takes(3), media(3, refused=("too large",)))
    assert await shown(tape) == [START, "see\n[too large]"]


async def test_g3_images_are_shown_at_their_place_in_every_later_view(tape: Tape) -> None:
    await tape.append(asked("look"), takes(3), media(3, "m/a"), message("assistant", "a dog"))
    before = await view(tape, default_tape_context())
    await tape.append(asked("and now?"), takes(7))
    after = await view(tape, default_tape_context())
    assert after[: len(before)] == before


async def test_a_running_turn_s_images_are_shown_behind_its_own_anchor(tape: Tape) -> None:
    await tape.append(asked("look"), takes(3, turn="t1"), media(3, "m/a", turn="t1"))
    await tape.append(anchor("overflow", turn="t1"), takes(3, name="turn.retake", turn="t1"))
    entries = await view_entries(tape, turn="t1")
    (said,) = [entry for entry in entries if entry.kind == "message"]
    assert said.payload["content"][1]["image_url"] == {"url": "m/a"}
