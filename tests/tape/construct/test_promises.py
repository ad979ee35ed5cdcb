"""What holds of a context, whatever is on the tape."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tape.construct import rebuild
from tape.construct.build import ids_of
from tape.context import pair_up
from tape.deletions import deletion
from tape.entry import NewEntry, bootstrap, dump, message, tool_call, tool_result
from tape.handle import Tape
from tape.tokens import estimate
from tests.tape.construct.entries import CALL, edit, said
from tests.tape.old_store import OldStore


def entry_of(kind: int, words: list[str], meta: dict[str, Any], about: int) -> NewEntry:
    text = " ".join(words)
    made = [
        said(text, **meta),
        message("assistant", text, **meta),
        tool_call([{**CALL, "id": f"c{about}"}], **meta),
        tool_result([text], **meta),
        tool_result([text, text], **meta),
        edit(about, text),
        deletion(about, "m"),
        message("user", text, prompt_of=about),
        NewEntry("anchor", {"name": "phase:x", "state": {"s": text}}, meta),
        NewEntry("message", {"odd": text}),
        NewEntry("tool_call", {"calls": "odd"}),
    ]
    return made[kind]


some_words = st.lists(st.sampled_from(["tea", "milk", "zebra", "的", "打印"]), max_size=4)
some_meta = st.fixed_dictionaries(
    {}, optional={"turn": st.sampled_from("xy"), "lane": st.sampled_from("ab")}
)
some_entries = st.lists(
    st.builds(entry_of, st.integers(0, 10), some_words, some_meta, st.integers(1, 30)), max_size=40
)


@given(some_entries, some_words, st.integers(0, 300), st.sampled_from([None, "a"]))
async def test_whatever_is_on_a_tape_the_context_keeps_its_promises(
    entries: list[NewEntry], words: list[str], budget: int, lane: str | None
) -> None:
    store = OldStore(*bootstrap(), *entries)
    tape = Tape(store, "t")
    found = await tape.context_for(" ".join(words), budget=budget, lane=lane)
    on_tape = {entry.id: entry for entry in await tape.read()}
    assert found.tokens == estimate(found.messages) <= budget
    assert len(set(found.entries)) == len(found.entries)
    assert set(found.entries) <= on_tape.keys()
    assert pair_up(found.messages) == found.messages
    gone = {e.payload["data"]["entry"] for e in on_tape.values() if e.name == "message.delete"}
    assert gone.isdisjoint(n for n in found.entries if on_tape[n].kind == "message")
    groups = [tuple(group) for group in found.record["shown"]]
    assert ids_of(groups) == found.entries
    await tape.append(*entries)
    assert dump((await rebuild(tape, found.record)).messages) == dump(found.messages)
    await store.close()
