"""A store that withholds threads answers as if their entries were not there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.entry import Entry, NewEntry, anchor, event, message, tool_call, tool_result
from tape.query import Query
from tape.service import TapeService
from tape.store import TapeStore
from tape.stores.memory import MemoryStore
from tape.withholding import WithheldThreads, WithholdingStore
from tests.kit.examples import examples

T = "tape"


def said(text: str, **meta: object) -> NewEntry:
    return message("user", text, **meta)


ENTRIES = [
    said("plums one", thread="7", lane="thread:7", inbox=1),
    said("plums two", lane="a"),
    message("assistant", "plums three", lane="thread:7", turn="t-1"),
    said("plums four", thread="8"),
    event("message.edit", {"entry": 4, "content": "x"}),
    said("plums five", inbox=2),
    message("assistant", "plums six", turn="t-2"),
    anchor("phase:a", {"summary": "plums"}, lane="thread:7"),
    event("message.edit", {"entry": 8, "content": "plums"}),
    said("plums seven", thread=["7"]),
]
HIDDEN = {3, 5, 8, 9, 10, 11}
"""The ids of those of the thread 7; the bootstrap has the ids 1 and 2."""

BOTH = len(ENTRIES) + 2


@pytest.fixture
async def store() -> AsyncIterator[WithholdingStore]:
    plain = MemoryStore()
    await plain.append(T, ENTRIES)
    made = WithholdingStore(plain)
    made.tapes_with[T] = WithheldThreads({"7"}, {8: "7"}, {"t-2": "7"})
    yield made
    await made.close()


def ids(entries: list[Entry]) -> list[int]:
    return [entry.id for entry in entries]


async def test_entries_of_a_withheld_thread_are_left_out_however_they_are_marked(
    store: WithholdingStore,
) -> None:
    assert ids(await store.query(Query(T))) == [
        number for number in range(1, BOTH + 1) if number not in HIDDEN
    ]


async def test_another_tape_and_a_thread_that_is_open_again_are_whole(
    store: WithholdingStore,
) -> None:
    await store.append("other", ENTRIES)
    assert len(await store.query(Query("other"))) == BOTH
    store.withheld(T).threads.discard("7")
    assert len(await store.query(Query(T))) == BOTH


async def test_a_tape_that_is_read_through_the_store_finds_nothing_withheld() -> None:
    plain = MemoryStore()
    tapes = TapeService(plain, Path("workspace"))
    name = tapes.session_tape("discord:1").name
    await plain.append(name, ENTRIES)
    tapes.withhold().withheld(name).threads.add("7")
    tape = tapes.session_tape("discord:1")
    assert [entry.text for entry in await tape.search("plums")] == [
        "plums seven",
        "plums six",
        "plums",
        "plums four",
    ]
    assert [entry.name for entry in await tape.anchors()] == ["session/start"]
    assert "plums one" not in str((await tape.context_for("plums one")).messages)
    assert "plums one" not in str(await tape.full_context())
    assert len(await tapes.store.query(Query(name))) == BOTH


async def test_a_result_that_quotes_a_withheld_entry_is_taken_out_of_others_views() -> None:
    plain = MemoryStore()
    tapes = TapeService(plain, Path("workspace"))
    tape = tapes.session_tape("discord:1")
    function = {"name": "tape_search", "arguments": "{}"}
    calls = [{"id": "c", "type": "function", "function": function}]
    for number in (3, 4):
        result = f'{{"hits": [{{"id": {number}, "text": "plums {number}"}}]}}'
        await plain.append(tape.name, [] if number == 4 else ENTRIES)
        await tape.append(tool_call(calls, lane="a"), tool_result([result], lane="a"))
    assert "plums 3" in str(await tape.full_context())
    tapes.withhold().withheld(tape.name).threads.add("7")
    shown = str(await tapes.session_tape("discord:1").full_context())
    assert "plums 3" not in shown
    assert "plums 4" in shown


CONDITIONS = st.fixed_dictionaries(
    {},
    optional={
        "after": st.integers(0, 12),
        "before": st.integers(0, 12),
        "kinds": st.sampled_from([("message",), ("message", "event"), ("anchor",)]),
        "limit": st.integers(0, 12),
        "newest": st.booleans(),
        "unlaned": st.booleans(),
        "lane": st.sampled_from(["a", "thread:7"]),
    },
)


@examples(200)
@given(conditions=CONDITIONS)
async def test_a_limit_counts_what_is_shown(conditions: dict[str, object]) -> None:
    plain = MemoryStore()
    await plain.append(T, ENTRIES * 3)
    made = WithholdingStore(plain)
    made.tapes_with[T] = WithheldThreads({"7"}, {8: "7"}, {"t-2": "7"})
    shown = [entry for entry in await plain.query(Query(T)) if not made.withheld(T).hides(entry)]
    asked = Query(T, **conditions)  # type: ignore[arg-type]
    assert ids(await made.query(asked)) == ids(asked.pick(shown))


async def test_the_protocol_of_stores_holds(store: WithholdingStore) -> None:
    assert isinstance(store, TapeStore)
    assert await store.size(T) == BOTH
    assert [info.name for info in await store.tapes()] == [T]
