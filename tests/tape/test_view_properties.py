"""What holds of the view of every tape: it is only appended to."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tape.context import default_tape_context, view
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
