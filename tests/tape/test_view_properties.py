"""What holds of every view, which is only appended to, and of the calls and results in it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tape.context import Message, default_tape_context, pair_up, view
from tape.entry import NewEntry, dump, event, message, tool_call, tool_result
from tape.handle import Tape
from tape.stores.memory import MemoryStore

# What may be appended: messages of people, takes, steps of a turn, and other events.


def said(number: int) -> NewEntry:
    return message("user", f"said {number}", inbox=number)


def step_of_a_turn(number: int, calls: int, results: int) -> list[NewEntry]:
    made = [{"id": f"c{number}.{n}", "function": {"name": "n"}} for n in range(calls)]
    return [tool_call(made), tool_result([f"r{n}" for n in range(results)])]


@st.composite
def allowed_appends(draw: st.DrawFn) -> list[NewEntry]:
    """Draw the entries of a tape with turns, after its first turn.start (ids: 3 and on)."""
    entries = [event("turn.start", {"takes": []})]
    waiting: list[int] = []
    for number in range(draw(st.integers(1, 15))):
        what = draw(st.sampled_from(["said", "said", "take", "retake", "step", "answer", "event"]))
        if what == "said":
            waiting.append(len(entries) + 3)
            entries.append(said(number))
        elif what in ("take", "retake") and waiting:
            some = draw(st.lists(st.sampled_from(waiting), unique=True, min_size=1))
            name = "turn.start" if what == "take" else "turn.retake"
            entries.append(event(name, {"takes": some}))
        elif what == "step":
            entries += step_of_a_turn(number, draw(st.integers(1, 3)), draw(st.integers(0, 3)))
        elif what == "answer":
            entries.append(message("assistant", f"answer {number}"))
        else:
            entries.append(event("outbound", {"number": number}))
    return entries


async def is_only_appended_to(entries: list[NewEntry]) -> None:
    tape = Tape(MemoryStore(), "t")
    before: list[bytes] = []
    for new in entries:
        await tape.append(new)
        shown, again = [await view(tape, default_tape_context()) for _ in range(2)]
        assert [dump(one) for one in shown] == [dump(one) for one in again]
        after = [dump(one).encode() for one in shown]
        assert after[: len(before)] == before
        before = after


@given(allowed_appends())
async def test_a_view_is_the_same_bytes_twice_and_is_only_appended_to(
    entries: list[NewEntry],
) -> None:
    await is_only_appended_to(entries)


@given(allowed_appends())
async def test_a_view_of_a_tape_without_turns_is_only_appended_to(entries: list[NewEntry]) -> None:
    await is_only_appended_to(
        [new for new in entries if "takes" not in new.payload.get("data", {})]
    )


@given(allowed_appends(), allowed_appends())
async def test_a_view_is_only_appended_to_also_behind_an_anchor_in_a_turn(
    earlier: list[NewEntry], later: list[NewEntry]
) -> None:
    tape = Tape(MemoryStore(), "t")
    await tape.append(*earlier)
    await tape.handoff("phase:one")
    shift = await tape.size() - 2
    before = await view(tape, default_tape_context())
    for new in later[1:]:
        await tape.append(_moved(new, shift - 1))
        after = await view(tape, default_tape_context())
        assert after[: len(before)] == before
        before = after


def _moved(new: NewEntry, shift: int) -> NewEntry:
    data = new.payload.get("data", {})
    if "takes" not in data:
        return new
    taken = [number + shift for number in data["takes"]]
    return replace(new, payload={**new.payload, "data": {"takes": taken}})


call_ids = st.sampled_from(["c1", "c2", "c3"])
wire_messages = st.lists(
    st.builds(lambda n: {"role": "user", "content": f"u{n}"}, st.integers(0, 9))
    | st.builds(
        lambda ids, content: {
            "role": "assistant",
            "content": content,
            "tool_calls": [{"id": one} for one in ids],
        },
        st.lists(call_ids | st.none(), max_size=3, unique=True),
        st.sampled_from(["", "I look"]),
    )
    | st.builds(lambda one: {"role": "tool", "tool_call_id": one, "content": "r"}, call_ids)
    | st.just({"role": "tool", "content": "stray"}),
    max_size=12,
)


def unpaired(messages: list[Message]) -> list[Message]:
    """Return what a provider would refuse: calls and results that do not meet at once."""
    wrong: list[Message] = []
    open_calls: list[str] = []
    for one in [*messages, {"role": "end"}]:
        if one["role"] == "tool":
            call_id = one.get("tool_call_id")
            if call_id is not None and call_id in open_calls:
                open_calls.remove(call_id)
            else:
                wrong.append(one)
            continue
        if open_calls:
            wrong.append(one)
        open_calls = [call["id"] for call in one.get("tool_calls") or ()]
    return wrong


def is_in_order(kept: list[Message], given: list[Message]) -> bool:
    """Return whether the kept messages are in their original order."""
    plain = [one for one in kept if one["role"] == "user"]
    if plain != [one for one in given if one["role"] == "user"]:
        return False
    rest = iter(one for one in given if one["role"] != "tool")
    steps = (one for one in kept if one["role"] != "tool")
    return all(any(_is_from(step, other) for other in rest) for step in steps)


def _is_from(step: Message, other: Message) -> bool:
    return bool((step["role"], step["content"]) == (other["role"], other["content"]))


@given(wire_messages)
def test_pairing_leaves_nothing_unpaired_and_keeps_the_order(messages: list[Message]) -> None:
    kept = pair_up(messages)
    assert unpaired(kept) == []
    assert is_in_order(kept, messages)
    assert pair_up(kept) == kept


@given(wire_messages)
def test_pairing_keeps_everything_that_is_paired(messages: list[Message]) -> None:
    if not unpaired(messages) and all(one.get("tool_calls", True) for one in messages):
        assert pair_up(messages) == messages
