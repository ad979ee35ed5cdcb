"""The constructor: what it finds for a task, what it holds to, and building again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tape.construct import Candidate, Choice, ContextConstructor, rebuild
from tape.construct.build import ids_of
from tape.context import pair_up
from tape.deletions import deletion
from tape.entry import Entry, NewEntry, bootstrap, dump, event, message, tool_call, tool_result
from tape.errors import TapeError
from tape.handle import Tape
from tape.query import Query
from tape.search.query_text import SearchQuery
from tape.search.scan import scan_there, scanning
from tape.search.search import SearchStore
from tape.service import TapeService
from tape.snapshot import TapeSnapshot
from tape.store import TapeStore
from tape.tokens import estimate
from tests.tape.construct.entries import CALL, edit, noise, said, texts
from tests.tape.old_store import OldStore


async def test_what_was_said_long_ago_is_found_with_its_neighbours_in_order(tape: Tape) -> None:
    await tape.append(*noise(300))
    await tape.append(
        said("which printer do we use?"), said("the Zebra9 in the hall"), said("thanks, that one")
    )
    await tape.append(*noise(300))
    found = await tape.context_for("where is the Zebra9 printer?", budget=400)
    shown = texts(found.messages)
    start = shown.index("which printer do we use?")
    assert shown[start : start + 3] == [
        "which printer do we use?",
        "the Zebra9 in the hall",
        "thanks, that one",
    ]
    assert found.tokens == estimate(found.messages) <= 400
    assert list(found.entries) == sorted(found.entries)


async def test_the_latest_anchor_comes_first_and_others_where_the_task_speaks_of_them(
    tape: Tape,
) -> None:
    await tape.handoff("phase:deploy", {"summary": "the cluster moved to Oslo"})
    await tape.handoff("phase:holidays", {"summary": "nobody works"})
    await tape.append(*noise(250))
    await tape.handoff("phase:now", {"summary": "waiting"})
    await tape.append(*noise(250))
    found = await tape.context_for("where is the cluster?", budget=300)
    anchors = [text for text in texts(found.messages) if text.startswith("[Anchor created")]
    assert [text.split("]")[0] for text in anchors] == [
        "[Anchor created: phase:deploy",
        "[Anchor created: phase:now",
    ]


async def test_calls_come_with_their_results_or_not_at_all(tape: Tape) -> None:
    other = {**CALL, "id": "c2"}
    await tape.append(
        tool_call([CALL], turn="one"),
        tool_call([other], turn="two"),
        tool_result(["of one"], turn="one"),
        tool_result(["of two"], turn="two"),
        tool_call([CALL], turn="three"),
    )
    found = await tape.context_for("anything")
    results = [(m.get("tool_call_id"), m["content"]) for m in found.messages if m["role"] == "tool"]
    assert results == [("c1", "of one"), ("c2", "of two")]
    assert pair_up(found.messages) == found.messages


@pytest.mark.parametrize("name", ["tape_search", "tape.context", "tape_anchors", "subagent"])
async def test_results_that_say_again_what_the_tape_holds_are_not_found(
    tape: Tape, name: str
) -> None:
    echo = {**CALL, "function": {"name": name, "arguments": "{}"}}
    _plum, _call, _result, call, result = await tape.append(
        said("the plum is ripe"),
        tool_call([echo], turn="one"),
        tool_result(["somebody said: the plum is ripe"], turn="one"),
        tool_call([CALL], turn="one"),
        tool_result(["a page on the plum"], turn="one"),
    )
    found = await ContextConstructor().construct_for_task("is the plum ripe", tape)
    assert [one["content"] for one in found.messages if one["role"] == "tool"] == [
        "a page on the plum"
    ]
    assert set(found.entries) >= {call.id, result.id}
    assert await rebuild(tape, found.record) == found


async def test_an_edited_message_reads_as_it_does_now_and_a_deleted_one_is_gone(tape: Tape) -> None:
    first, second = await tape.append(said("tea at four"), said("tea at five"))
    await tape.append(edit(first.id, "tea at six"), deletion(second.id, "m2"))
    found = await tape.context_for("tea")
    assert texts(found.messages)[1:] == ["tea at six"]
    assert found.entries[-1] == first.id


async def test_the_same_messages_are_built_again_whatever_happened_since(tape: Tape) -> None:
    first, second = await tape.append(said("tea at four"), said("tea at five"))
    await tape.append(edit(second.id, "tea at six"))
    found = await tape.context_for("tea")
    await tape.append(edit(first.id, "coffee"), deletion(second.id, "m2"), said("tea again"))
    record = (await tape.append(event("context.constructed", found.record)))[0].payload["data"]
    again = await rebuild(tape, record)
    assert dump(again.messages) == dump(found.messages)
    assert (again.entries, again.tokens) == (found.entries, found.tokens)


async def test_a_record_that_no_longer_fits_its_tape_is_refused(tape: Tape) -> None:
    await tape.append(said("tea"))
    found = await tape.context_for("tea")
    for wrong in ({"shown": [[99]]}, {"digest": "0"}):
        with pytest.raises(TapeError, match="can't be rebuilt"):
            await rebuild(tape, {**found.record, **wrong})


async def test_a_record_stays_small_and_says_why_something_is_not_shown(tape: Tape) -> None:
    await tape.append(said("tea " + "x" * 4000), *[said(f"tea {n} " * 40) for n in range(600)])
    found = await tape.context_for("tea " * 10_000, budget=500)
    assert len(dump(found.record)) < 40_000
    whys = {one["why"] for one in found.record["candidates"] if not one["shown"]}
    assert "no room is left for it" in whys
    assert found.record["more"] > 0


@pytest.mark.parametrize(
    "task", ["", "   ", '"', "the of", "\ud800", "你好吗今天天气", "x" * 10**6]
)
async def test_any_text_is_a_task(tape: Tape, task: str) -> None:
    await tape.append(said("hello"), said("今天天气很好"))
    found = await tape.context_for(task)
    assert "hello" in texts(found.messages)


async def test_chinese_is_found_without_spaces(tape: Tape) -> None:
    await tape.append(said("打印机在大厅里"), *noise(400))
    found = await tape.context_for("我们的打印机在哪里?", budget=200)
    assert "打印机在大厅里" in texts(found.messages)


async def test_no_budget_shows_nothing(tape: Tape) -> None:
    await tape.append(said("tea"))
    found = await tape.context_for("tea", budget=0)
    assert (found.messages, found.entries, found.tokens) == ([], (), 0)


async def test_a_prompt_and_its_message_are_shown_once(tape: Tape) -> None:
    (asked,) = await tape.append(said("tea?", inbox=1))
    await tape.append(message("user", "tea? answer politely", prompt_of=asked.id))
    assert (await tape.context_for("politely tea")).entries[1:] == (asked.id,)


async def test_a_fork_sees_its_parent_and_itself(tape: Tape) -> None:
    await tape.append(said("the zebra is striped"), *noise(300))
    async with TapeService(tape.store, Path("w")).fork_tape(tape, merge_back=False) as fork:
        await fork.append(said("what of the zebra?"))
        found = await fork.context_for("zebra", budget=300)
        assert {"the zebra is striped", "what of the zebra?"} <= set(texts(found.messages))
        assert (await rebuild(fork, found.record)).messages == found.messages


class Careless:
    """Chooses everything twice, beyond the budget, and what nobody found."""

    name = "careless"

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        made_up = replace(candidates[0], ids=(10_000,))
        return [Choice(one, True, "why not") for one in (made_up, *candidates, *candidates)]


async def test_a_careless_strategy_is_mended_and_that_is_on_record(tape: Tape) -> None:
    await tape.append(*noise(20))
    careless = ContextConstructor(Careless())
    found = await careless.construct_for_task("tea", tape, budget=100)
    assert found.tokens <= 100
    assert len(set(found.entries)) == len(found.entries)
    whys = {one["why"] for one in found.record["mended"]}
    assert whys == {
        "it is not what was found",
        "it is shown already",
        "the budget does not hold it",
    }
    assert (await rebuild(tape, found.record)).messages == found.messages


class Nearest:
    """An index of meaning that knows one thing."""

    def __init__(self, store: TapeStore) -> None:
        self._store = store

    async def nearest(self, query: Query, text: str, limit: int) -> list[tuple[Entry, float]]:
        assert text == "where did I park my car?"
        found = await self._store.query(replace(query, ids=(3,), limit=limit))
        return [(entry, 0.9) for entry in [*found, *found]]


async def test_what_means_the_same_is_found_where_there_is_an_index(tape: Tape) -> None:
    task = "where did I park my car?"
    await tape.append(said("the vehicle is in the hall"), *noise(400))
    without = await tape.context_for(task, budget=150)
    assert "meaning" not in without.record["found"]
    knowing = Tape(tape.store, tape.name, Nearest(tape.store))
    for read in (knowing, await knowing.fork()):
        found = await read.context_for(task, budget=150)
        assert found.record["found"]["meaning"] == 1
        assert "the vehicle is in the hall" in texts(found.messages)
    assert (await TapeSnapshot(knowing, 2).context_for(task)).record["found"]["meaning"] == 0
    await tape.append(deletion(3, "m"))
    assert (await knowing.context_for(task)).record["found"]["meaning"] == 0


async def test_a_part_of_a_word_says_nothing_as_in_a_search(tape: Tape) -> None:
    await tape.handoff("phase:steam", {"summary": "the engine is mended"})
    await tape.handoff("phase:tea", {"summary": "the kettle is mended"})
    await tape.append(*noise(250))
    await tape.handoff("phase:now")
    found = await tape.context_for("tea")
    anchors = [text for text in texts(found.messages) if text.startswith("[Anchor created")]
    assert [text.split("]")[0] for text in anchors] == [
        "[Anchor created: phase:tea",
        "[Anchor created: phase:now",
    ]


async def test_neither_a_command_nor_a_hint_is_shown(tape: Tape) -> None:
    aside = [said("tea?", command="help"), said("[tea is over budget]", hint="handoff.suggest")]
    await tape.append(said("tea at four"), *aside)
    assert texts((await tape.context_for("tea")).messages)[1:] == ["tea at four"]


async def test_a_tape_as_it_was_gives_the_context_of_then(tape: Tape) -> None:
    (first,) = await tape.append(said("tea at four"))
    then = await tape.context_for("tea")
    await tape.append(edit(first.id, "tea at six"), said("more tea"))
    again = await TapeSnapshot(tape, first.id).context_for("tea")
    assert (again.messages, again.record) == (then.messages, then.record)


def counted(store: TapeStore, reads: list[int]) -> TapeStore:
    """Return a store that counts the entries that it gives."""

    class Counting:
        durable = False

        async def query(self, query: Any) -> Any:
            entries = await store.query(query)
            reads.append(len(entries))
            return entries

        async def size(self, name: str) -> int:
            return await store.size(name)

        async def search(self, query: Query, wanted: SearchQuery) -> list[Entry]:
            """Count hits: how a store finds them is its own matter."""
            if isinstance(store, SearchStore):
                hits = await store.search(query, wanted)
            else:
                hits = (await scan_there(scanning(query, wanted), store.query)).hits
            reads.append(len(hits))
            return hits

    return Counting()  # type: ignore[return-value]  # no more of a store is used


async def test_what_is_read_does_not_grow_with_the_tape(tape: Tape) -> None:
    costs = []
    for _more in range(3):
        await tape.append(
            *[said(f"tea talk {n}") for n in range(1000)], *[event("loop.step")] * 1000
        )
        await tape.append(*[edit(number, "tea") for number in range(3, 300)])
        reads: list[int] = []
        await Tape(counted(tape.store, reads), "t").context_for("tea talk 17 about nothing")
        costs.append(sum(reads))
    assert max(costs) < 2000
    assert max(costs) < 1.3 * min(costs[1:])


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
