"""Check what a tape reads: queries, anchors, contexts, summaries, forks, imported batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from tape.context import default_tape_context, view
from tape.deletions import DELETED_TEXT, deletion
from tape.entry import (
    Entry,
    NewEntry,
    anchor,
    bootstrap,
    dump,
    error,
    event,
    handoff,
    load,
    message,
    tool_call,
    tool_result,
)
from tape.errors import AppendRefused, NotFound, QueryRefused, TapeError, TapeMismatch
from tape.handle import Tape
from tape.query import Query
from tape.rewind import branch, find_anchor, out_of_view
from tape.service import TapeService
from tape.store import BatchStore, TapeStore
from tape.unit_of_work import Batch

T: Final = "tape-under-test"

E = TypeVar("E", bound=TapeError)


async def refusal(call: Awaitable[object], error: type[E], what: object = "") -> E:
    """Await a call that must raise `error`, and return the error raised."""
    try:
        await call
    except error as found:
        return found
    raise AssertionError(f"the store accepted a call that must raise {error.__name__}: {what}")


def _dated(new: NewEntry, day: int) -> NewEntry:
    return replace(new, date=f"2026-01-{day:02}T12:00:00.000000+00:00")


async def _two_tasks(store: TapeStore) -> Tape:
    """Write two tasks to a tape, with messages before, between and after them."""
    tape = Tape(store, T)
    await tape.append(_dated(message("user", "before", author="1", lane="a"), 1))
    await tape.append(_dated(anchor("task/start", {"n": 1}), 2))
    await tape.append(_dated(message("user", "one", author="2", lane="b"), 3))
    await tape.append(_dated(anchor("task/done"), 4), _dated(message("user", "gap"), 5))
    await tape.append(_dated(anchor("task/start", {"n": 2}), 6))
    await tape.append(_dated(message("user", "two", author="1", lane="b"), 7))
    await tape.append(_dated(anchor("task/done", {"n": 2}), 8), _dated(error("late", lane="a"), 9))
    await tape.append(_dated(anchor("task/done"), 10), _dated(message("user", "end"), 11))
    return tape


def _said(entries: list[Entry]) -> list[str]:
    return [entry.text for entry in entries if entry.kind == "message"]


async def a_tape_is_read_from_both_ends(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    entries = await tape.read()
    assert [entry.id for entry in entries] == list(range(1, 14))
    assert await tape.recent(3) == entries[-3:]
    assert await tape.recent(0) == []
    assert await tape.recent(99) == entries
    assert await tape.size() == 13
    assert await tape.entries([4, 2, 99]) == {4: entries[3], 2: entries[1]}


async def anchors_are_found_by_name_and_by_position(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    names = [entry.name for entry in await tape.anchors()]
    assert names == ["session/start", *("task/start", "task/done") * 2, "task/done"]
    assert [entry.id for entry in await tape.anchors(2)] == [10, 12]
    latest = await tape.last_anchor()
    assert latest is not None
    assert (latest.id, latest.name) == (12, "task/done")
    assert (await tape.anchor("task/start")).payload["state"] == {"n": 2}
    earlier = await tape.last_anchor("task/done", before=10)
    assert earlier is not None
    assert earlier.id == 6
    assert await tape.last_anchor("nothing") is None


async def after_and_between_read_from_the_latest_anchor_on(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    assert _said(await tape.after("task/start")) == ["two", "end"]
    assert _said(await tape.after("task/start", limit=1)) == ["two"]
    assert _said(await tape.after()) == ["end"]
    assert _said(await tape.between("task/start", "task/done")) == ["two"]
    assert _said(await tape.between("session/start", "task/start")) == ["before"]


async def an_unknown_anchor_names_the_nearest(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    for reading in (
        tape.after("task/stat"),
        tape.anchor("task/stat"),
        tape.between("task/stat", "task/done"),
        tape.find(before_anchor="task/stat"),
    ):
        assert (await refusal(reading, NotFound)).nearest[0] == "task/start"
    assert (await refusal(tape.between("task/done", "task/start"), NotFound)).name == "task/start"
    assert (await refusal(Tape(store, "empty").after("task/start"), NotFound)).nearest == ()
    assert len(str(await refusal(tape.after("task/" * 200_000), NotFound))) < 1000


async def conditions_compose(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    everything = await tape.read()
    for query, ids in (
        (Query(T, after_anchor="task/start", kinds=("message",)), [9, 13]),
        (Query(T, before_anchor="task/start", kinds=("message",)), [3, 5, 7]),
        (Query(T, after_anchor="session/start", before_anchor="task/done", author="1"), [3]),
        (Query(T, after_anchor="task/start", lane="b", text="TWO", limit=1), [9]),
        (Query(T, after_anchor="task/start", after=10, limit=2), [11, 12]),
        (Query(T, names=("task/start", "handoff")), [2, 4, 8]),
        (Query(T, names=("task/start", "task/done"), name="task/done", limit=1), [6]),
        (Query(T, names=("task/start",), kinds=("event",)), []),
        (Query(T, names=("task/start",), kinds=("message", "anchor"), newest=True, limit=1), [8]),
        (Query(T, authors=("1", "2"), newest=True, limit=2), [5, 9]),
        (Query(T, authors=("1", "2"), author="2"), [5]),
        (Query(T, authors=()), []),
        (Query(T, names=()), []),
        (Query(T, kinds=("error", "anchor"), after=8), [10, 11, 12]),
        (Query(T, since="2026-01-03", until="2026-01-06", kinds=("message",)), [5, 7]),
        (Query(T, since="2026-01-07T14:00+02:00", until="2026-01-07 12:00:01Z"), [9]),
        (Query(T, since="2026", until="2026-02", newest=True, limit=1, kinds=("message",)), [13]),
        (Query(T, until="2026-01-02", kinds=("message",)), [3]),
        (Query(T, kinds=("error",), text="LATE", lane="a", since="2026-01-09"), [11]),
    ):
        found = await store.query(query)
        assert [entry.id for entry in found] == ids, query
        assert found == query.pick(everything), query


async def queries_answer_as_the_reference_does(store: TapeStore) -> None:
    await store.append(
        T,
        [
            message("user", "Hello", author="1", lane="a", turn="t1"),
            tool_call([{"id": "c", "function": {"name": "n"}}], lane="a", turn="t1"),
            message("user", "\u4f60\u597d", author="2", lane="b"),
            anchor("phase:one", {"goal": "caf\u00e9"}, lane="a"),
            anchor("phase:two"),
            event("turn.start", {"takes": [3]}, lane="b", turn="t2"),
            replace(message("user", "old"), date="2020-01-01T00:00:00.000000+00:00"),
        ],
    )
    entries = await store.query(Query(T))
    queries = [
        Query(T, after=3),
        Query(T, before=4),
        Query(T, after=2, before=7),
        Query(T, ids=(3, 5, 99)),
        Query(T, ids=()),
        Query(T, kinds=("message", "anchor")),
        Query(T, kinds=()),
        Query(T, kinds=("anchor",)),
        Query(T, kinds=("anchor",), name="phase:one"),
        Query(T, kinds=("anchor",), lane="a", unlaned=True, newest=True, limit=1),
        Query(T, name="turn.start"),
        Query(T, since="2021", until="2999"),
        Query(T, until="2021"),
        Query(T, author="1"),
        Query(T, lane="a"),
        Query(T, lane="b", unlaned=True),
        Query(T, unauthored=True),
        Query(T, lane="b", unauthored=True, limit=2, newest=True),
        Query(T, turn="t1", kinds=("message",)),
        Query(T, text="HELLO"),
        Query(T, text="\u597d"),
        Query(T, text="CAF\u00c9"),
        Query(T, text="no such thing"),
        Query(T, text="%"),
        Query(T, limit=2),
        Query(T, limit=0),
        Query(T, limit=2, newest=True),
        Query(T, limit=100, newest=True, kinds=("message",)),
    ]
    for query in queries:
        assert await store.query(query) == query.pick(entries), query


async def dates_that_are_out_of_order_are_found_where_they_stand(store: TapeStore) -> None:
    tape = Tape(store, T)
    for day in (20, 10, 25, 10, 25, 5, 28):
        await tape.append(_dated(message("user", str(day)), day))
    for since, until, days in (
        ("2026-01-10", "2026-01-11", ["10", "10"]),
        ("2026-01-25", "2026-01-26", ["25", "25"]),
        ("2025", "2026-01-20", ["10", "10", "5"]),
        ("2026-01-20", "2026-02", ["20", "25", "25", "28"]),
        ("2026-01-01", "2026-01-04", []),
    ):
        for newest in (False, True):
            query = Query(T, since=since, until=until, kinds=("message",), newest=newest, limit=2)
            found = [entry.text for entry in await store.query(query)]
            assert found == (days[-2:] if newest else days[:2]), query


async def invalid_conditions_are_refused_and_hostile_text_finds_nothing(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    invalid: tuple[dict[str, Any], ...] = (
        {"limit": -1},
        {"since": "yesterday-ish"},
        {"until": "2026-13-01"},
        {"since": ""},
        {"until": "0001-01-01T00:00:00+14:00"},
        {"since": "2" * 1_000_000},
        {"text": "\ud800"},
        {"lane": "\ud800"},
        {"names": ("\ud800",)},
    )
    for conditions in invalid:
        await refusal(tape.find(**conditions), QueryRefused, conditions)
    for text in ("' OR 1=1 --", '"', "%", "\x00", "NEAR(a b)", "a" * 1_000_000, "\u597d", "*"):
        assert await tape.find(text=text, kinds=("message",)) == []
        assert await tape.find(lane=text) == []
        assert await tape.find(names=(text, text)) == []
    assert len(await tape.find(text="", kinds=("message",))) == 5


async def a_context_begins_at_the_latest_anchor_and_the_full_one_at_the_start(
    store: TapeStore,
) -> None:
    tape = await _two_tasks(store)
    await tape.append(
        tool_call([{"id": "c1", "function": {"name": "look"}}]), tool_result([{"found": 1}])
    )
    now, whole = await tape.context(), await tape.full_context()
    assert [one["role"] for one in now] == ["assistant", "user", "assistant", "tool"]
    assert now[0]["content"] == "[Anchor created: task/done]: {}"
    assert now[-1] == {
        "role": "tool",
        "content": '{"found": 1}',
        "tool_call_id": "c1",
        "name": "look",
    }
    assert whole[-len(now) :] == now
    assert [one["content"] for one in whole if one["role"] == "user"] == [
        *("before", "one", "gap", "two", "end")
    ]
    assert await view(tape, default_tape_context()) == now


async def a_summary_is_json(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    await tape.append(*handoff("task/done", {"next": "\u597d"}))
    await tape.append(message("user", "word " * 40), event("loop.step"), message("user", "end"))
    summary = await tape.context_summary()
    assert load(dump(summary)) == summary
    assert summary["entries"] == 18
    assert list(summary["anchors"]) == ["session/start", "task/start", "task/done"]
    assert summary["anchors"]["task/start"].startswith("2026-01-06")
    last = summary["last_anchor"]
    assert (last["id"], last["name"], last["state"]) == (14, "task/done", {"next": "\u597d"})
    assert summary["since"] == {"event": 2, "message": 2}
    assert 50 < summary["tokens"] < 150
    nothing = await Tape(store, "empty").context_summary()
    assert (nothing["entries"], nothing["last_anchor"], nothing["since"]) == (0, None, {})


async def a_fork_has_the_whole_surface(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    fork = await tape.fork()
    await fork.append(message("user", "inside"), anchor("sub/done"), message("user", "more"))
    assert _said(await fork.after("task/start")) == ["two", "end", "inside", "more"]
    assert _said(await fork.between("task/start", "sub/done")) == ["two", "end", "inside"]
    assert _said(await fork.find(before_anchor="sub/done", newest=True, limit=1)) == ["inside"]
    assert (await refusal(fork.after("sub/don"), NotFound)).nearest[0] == "sub/done"
    assert [one["content"] for one in await fork.context()][1:] == ["more"]
    assert (await fork.context_summary())["entries"] == 16
    inner = await fork.fork(at="sub/done", merge_back=False)
    assert _said(await inner.recent(2)) == ["inside"]
    assert (await refusal(fork.fork(at="nowhere"), NotFound)).name == "nowhere"
    await inner.discard("done")
    assert _said(await tape.recent(1)) == ["end"]
    await fork.merge()
    assert _said(await tape.after("task/start")) == ["two", "end", "inside", "more"]


async def a_fork_at_an_anchor_is_its_context(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    start = await tape.anchor("task/start")
    for at in ("task/start", start):
        fork = await tape.fork(at=at)
        assert await fork.context() == [
            {"role": "assistant", "content": '[Anchor created: task/start]: {"n": 2}'}
        ]
        await fork.discard("seen")


async def a_rewind_goes_on_from_an_older_anchor(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    older = await tape.anchor("task/start")
    entry = await tape.rewind("task/start")
    await tape.append(message("user", "other way"))
    assert (entry.name, entry.meta["rewind"]) == ("session/rewind", older.id)
    assert await tape.context() == [
        {"role": "assistant", "content": '[Anchor created: session/rewind]: {"n": 2}'},
        {"role": "user", "content": "other way"},
    ]
    assert [found.text for found in await tape.search("end")] == ["end"]
    assert _said(await tape.read())[-2:] == ["end", "other way"]
    assert await out_of_view(tape) == [range(older.id + 1, entry.id)]
    assert (await refusal(tape.rewind("task/stat"), NotFound)).nearest[0] == "task/start"
    assert (await tape.rewind(str(older.id - 2))).payload["state"] == {}


async def the_past_of_a_tape_begins_another(store: TapeStore) -> None:
    tape = await _two_tasks(store)
    past = await tape.find(before=9)
    (gone,) = await tape.find(text="gap")
    await tape.append(deletion(gone.id, "m"))
    other = Tape(store, "what-if")
    assert await branch(tape, await find_anchor(tape, "8"), other.name) == 10
    entries = await other.read()
    assert entries[:8] == past
    assert [entry.name for entry in entries[8:]] == ["message.delete", "tape.branch"]
    assert DELETED_TEXT in str(await other.full_context())
    await other.append(message("user", "otherwise"))
    assert _said(await tape.recent(2)) == ["end"]
    await refusal(branch(tape, past[-1], other.name), TapeMismatch)


async def a_fork_hides_what_was_deleted_before_it(store: TapeStore) -> None:
    tape = Tape(store, T)
    (secret,) = await tape.append(message("user", "a secret"))
    await tape.append(deletion(secret.id, "7"))
    async with TapeService(store, Path("workspace")).fork_tape(tape, merge_back=False) as fork:
        await fork.append(message("user", "inside"))
        assert [one["content"] for one in await fork.context()][1:] == [DELETED_TEXT, "inside"]
        assert await fork.search("secret") == []


async def a_batch_is_appended_whole_or_not_at_all(store: TapeStore) -> None:
    if not isinstance(store, BatchStore):
        return
    whole = [*bootstrap(), *(message("user", str(number), lane="a") for number in range(2500))]

    def broken() -> Iterator[NewEntry]:
        yield from whole[:2000]
        raise AppendRefused("the rest cannot be read")

    await store.append("another", [message("user", "before")])
    for batch in (Batch(broken, 0, 2502), Batch(lambda: iter(whole[:9]), 0, 2502)):
        await refusal(store.append_batch(T, batch), AppendRefused)
        assert await store.size(T) == 0
    await store.append_batch(T, Batch(lambda: iter(whole), 0, 1300))
    await refusal(store.append_batch(T, Batch(lambda: iter(whole), 0, 1300)), AppendRefused)
    await refusal(store.append_batch("another", Batch(lambda: iter(whole), 1, 9)), AppendRefused)
    await store.append_batch(T, Batch(lambda: iter(whole), 1300, 1202))
    entries = await store.query(Query(T))
    assert [entry.id for entry in entries] == list(range(1, 2503))
    assert [entry.text for entry in entries[2:]] == [str(number) for number in range(2500)]
    assert len(await store.query(Query(T, lane="a", after=2400))) == 102
    assert [entry.id for entry in await store.append(T, [message("user", "on")])] == [2503]


TAPE_CHECKS: Final[tuple[Callable[[TapeStore], Awaitable[None]], ...]] = (
    a_tape_is_read_from_both_ends,
    anchors_are_found_by_name_and_by_position,
    after_and_between_read_from_the_latest_anchor_on,
    an_unknown_anchor_names_the_nearest,
    conditions_compose,
    queries_answer_as_the_reference_does,
    dates_that_are_out_of_order_are_found_where_they_stand,
    invalid_conditions_are_refused_and_hostile_text_finds_nothing,
    a_context_begins_at_the_latest_anchor_and_the_full_one_at_the_start,
    a_summary_is_json,
    a_fork_has_the_whole_surface,
    a_fork_at_an_anchor_is_its_context,
    a_rewind_goes_on_from_an_older_anchor,
    the_past_of_a_tape_begins_another,
    a_fork_hides_what_was_deleted_before_it,
    a_batch_is_appended_whole_or_not_at_all,
)
