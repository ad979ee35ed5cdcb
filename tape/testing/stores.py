"""The conformance suite of tape stores, free of any test framework.

Run every check of `STORE_CHECKS` on a fresh store; a plugin's store must pass them all, and those
of `UNIT_CHECKS` where it has a unit of work. Checks raise AssertionError.

    for check in STORE_CHECKS:
        store = make_store()
        try:
            await check(store)
        finally:
            await store.close()
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio

from tape.entry import NewEntry, anchor, bootstrap, event, message, tool_call
from tape.errors import AppendRefused, TapeError
from tape.query import Query
from tape.service import TapeService
from tape.store import TapeStore, UnitStore
from tape.testing.tapes import TAPE_CHECKS
from tape.unit_of_work import Unit

T: Final = "tape-under-test"
_WORKSPACE: Final = Path("workspace")


def said(text: str, **meta: Any) -> NewEntry:
    """Make a person's message."""
    return message("user", text, **meta)


async def texts(store: TapeStore, tape: str = T) -> list[str]:
    """Return what the messages of a tape say, in order."""
    return [entry.text for entry in await store.query(Query(tape, kinds=("message",)))]


async def ids_are_contiguous_from_one_in_append_order(store: TapeStore) -> None:
    """Two appends, four entries after the bootstrap's two."""
    await store.append(T, [said("a"), said("b")])
    await store.append(T, [said("c"), said("d")])
    entries = await store.query(Query(T))
    assert [entry.id for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert await texts(store) == ["a", "b", "c", "d"]
    assert await store.size(T) == 6


async def the_bootstrap_is_entry_one_and_only_once(store: TapeStore) -> None:
    """Also when several write the first entry at once."""

    async def write(text: str) -> None:
        await store.append(T, [said(text)])

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(write, str(number))
        group.start_soon(store.append, T, [])
    entries = await store.query(Query(T))
    first = entries[0]
    assert (first.kind, first.payload) == (
        "anchor",
        {"name": "session/start", "state": {"owner": "human"}},
    )
    assert sum(entry.name == "session/start" for entry in entries) == 1
    assert (entries[1].kind, entries[1].name) == ("event", "handoff")
    assert len(entries) == 10


async def an_append_of_nothing_bootstraps_an_empty_tape_only(store: TapeStore) -> None:
    """The first writes two entries, the second none."""
    assert await store.append(T, []) == []
    assert await store.size(T) == 2
    assert await store.append(T, []) == []
    assert await store.size(T) == 2


async def a_batch_that_brings_its_bootstrap_is_taken_as_it_is(store: TapeStore) -> None:
    """An import keeps its own first entries."""
    written = await store.append(T, [*bootstrap(), said("a")])
    assert [entry.id for entry in written] == [1, 2, 3]
    assert await store.size(T) == 3


async def an_entry_comes_back_as_it_went_in(store: TapeStore) -> None:
    """Payload, meta, key order, unicode and a given date."""
    payload = {
        "role": "user",
        "content": "z\u4e2d\U0001f600",
        "a": [1, 2.5, None, {"y": 1, "x": 2}],
    }
    date = "2026-01-02T03:04:05.000006+00:00"
    new = NewEntry("message", payload, {"lane": "l", "author": "7"}, date)
    (written,) = await store.append(T, [new])
    (read,) = await store.query(Query(T, ids=(written.id,)))
    assert written == read
    assert list(read.payload) == ["role", "content", "a"]
    assert list(read.payload["a"][3]) == ["y", "x"]
    assert (read.payload, read.meta, read.date) == (payload, new.meta, date)


async def a_callers_own_dicts_are_not_the_tapes(store: TapeStore) -> None:
    """What a hostile caller does to what it gave or got changes nothing."""
    payload = {"role": "user", "content": "before"}
    (written,) = await store.append(T, [NewEntry("message", payload)])
    payload["content"] = "after"
    written.payload["content"] = "after"  # type: ignore[index]
    (read,) = await store.query(Query(T, kinds=("message",)))
    read.payload["content"] = "after"  # type: ignore[index]
    assert await texts(store) == ["before"]


async def a_refused_batch_writes_nothing(store: TapeStore) -> None:
    """An unknown kind, a nameless anchor, and what JSON cannot hold."""
    bad = [
        NewEntry("gossip", {}),
        NewEntry("anchor", {"state": {}}),
        NewEntry("message", {"content": object()}),
        NewEntry("message", {"content": "\ud800"}),
        NewEntry("message", None),  # type: ignore[arg-type]
        NewEntry("message", {}, None),  # type: ignore[arg-type]
        NewEntry("message", {1: 2}),  # type: ignore[dict-item]
        NewEntry(["message"], {}),  # type: ignore[arg-type]
        {"kind": "message"},
    ]
    for entry in bad:
        try:
            await store.append(T, [said("good"), entry])  # type: ignore[list-item]
        except AppendRefused:
            continue
        raise AssertionError(f"the store took {entry}")
    for tape, key in (("\ud800", None), (T, "\ud800")):
        try:
            await store.append(tape, [said("good")], key)
        except TapeError:
            continue
        raise AssertionError("the store took a name or key that is no text")
    assert await texts(store) == []
    await store.append(T, [said("still alive")])
    assert await texts(store) == ["still alive"]


async def an_equal_key_returns_the_first_result(store: TapeStore) -> None:
    """Whatever the second batch holds; another tape has keys of its own."""
    first = await store.append(T, [said("a"), said("b")], "k")
    again = await store.append(T, [said("c")], "k")
    assert again == first
    assert await texts(store) == ["a", "b"]
    await store.append("another", [said("d")], "k")
    assert await texts(store, "another") == ["d"]


async def equal_keys_at_once_write_one_block(store: TapeStore) -> None:
    """The race ends with one winner, and everybody has its entries."""
    results: list[list[int]] = []

    async def write(text: str) -> None:
        results.append([entry.id for entry in await store.append(T, [said(text)], "k")])

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(write, str(number))
    assert len(await texts(store)) == 1
    assert all(ids == results[0] for ids in results)


async def blocks_of_concurrent_appends_are_contiguous(store: TapeStore) -> None:
    """No batch is interleaved with another."""

    async def write(name: str) -> None:
        await store.append(T, [said(name) for _ in range(5)])

    async with anyio.create_task_group() as group:
        for name in "abcdef":
            group.start_soon(write, name)
    found = await texts(store)
    assert sorted(found) == sorted("abcdef" * 5)
    assert all(len(set(found[start : start + 5])) == 1 for start in range(0, 30, 5))


async def tapes_are_apart(store: TapeStore) -> None:
    """Each has ids of its own, and is listed with its size."""
    await store.append("x/1", [said("a")])
    await store.append("x/2", [said("b"), said("c")])
    await store.append("y", [said("d")])
    assert await texts(store, "x/1") == ["a"]
    listed = {info.name: info.size for info in await store.tapes("x/")}
    assert listed == {"x/1": 3, "x/2": 4}
    assert await store.query(Query("unknown")) == []
    assert await store.size("unknown") == 0


async def queries_answer_as_the_reference_does(store: TapeStore) -> None:
    """Every condition alone and some together, from both ends."""
    await store.append(
        T,
        [
            said("Hello", author="1", lane="a", turn="t1"),
            tool_call([{"id": "c", "function": {"name": "n"}}], lane="a", turn="t1"),
            said("\u4f60\u597d", author="2", lane="b"),
            anchor("phase:one", {"goal": "caf\u00e9"}, lane="a"),
            anchor("phase:two"),
            event("turn.start", {"takes": [3]}, lane="b", turn="t2"),
            NewEntry(
                "message",
                {"role": "user", "content": "old"},
                {},
                "2020-01-01T00:00:00.000000+00:00",
            ),
        ],
    )
    everything = await store.query(Query(T))
    asked = [
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
    for query in asked:
        assert await store.query(query) == query.pick(everything), query


async def a_fork_reads_as_its_parent_and_itself(store: TapeStore) -> None:
    """Later entries of the parent are not seen inside."""
    service = _service(store)
    await store.append(T, [said("a")])
    async with service.fork_tape(T) as fork:
        await fork.append(said("inside"))
        await store.append(T, [said("later")])
        entries = await fork.read()
        assert [entry.text for entry in entries if entry.kind == "message"] == ["a", "inside"]
        assert [entry.id for entry in entries] == list(range(1, await fork.size() + 1))
        assert (await fork.recent(1))[0].text == "inside"
    assert await texts(store) == ["a", "later", "inside"]


async def two_forks_merge_in_either_order(store: TapeStore) -> None:
    """Each as one contiguous block."""
    for order in ((0, 1), (1, 0)):
        tape = f"{T}-{order[0]}"
        await store.append(tape, [said("a")])
        service = _service(store)
        async with (
            service.fork_tape(tape, merge_back=False) as one,
            service.fork_tape(tape, merge_back=False) as two,
        ):
            forks = [one, two]
            for text in ("1", "2"):
                await one.append(said(f"one{text}"))
                await two.append(said(f"two{text}"))
            for number in order:
                await forks[number].merge()
        blocks = [["one1", "one2"], ["two1", "two2"]]
        assert await texts(store, tape) == ["a", *blocks[order[0]], *blocks[order[1]]]


async def a_fork_inside_a_fork_merges_into_it(store: TapeStore) -> None:
    """Nesting goes as deep as it is asked to."""
    service = _service(store)
    await store.append(T, [said("a")])
    async with service.fork_tape(T) as outer:
        await outer.append(said("b"))
        async with service.fork_tape(outer) as inner:
            await inner.append(said("c"))
            read = [entry.text for entry in await inner.read() if entry.kind == "message"]
            assert read == ["a", "b", "c"]
        assert await texts(store) == ["a"]
        await outer.append(said("d"))
    assert await texts(store) == ["a", "b", "c", "d"]


async def a_discarded_fork_leaves_the_parent_alone(store: TapeStore) -> None:
    """Also one that ends with an error."""
    service = _service(store)
    await store.append(T, [said("a")])
    async with service.fork_tape(T, merge_back=False) as fork:
        await fork.append(said("b"))
    try:
        async with service.fork_tape(T) as fork:
            await fork.append(said("c"))
            raise ValueError("inside")
    except ValueError:
        pass
    assert await texts(store) == ["a"]
    assert await service.open_forks(T) == []


async def a_fork_that_a_crash_left_is_found_and_merged_once(store: TapeStore) -> None:
    """A second merge, as after a crash inside the first, adds nothing."""
    service = _service(store)
    await store.append(T, [said("a")])
    context = service.fork_tape(T)
    left = await context.__aenter__()
    await left.append(said("b"))
    (found,) = await _service(store).open_forks(T)
    await found.merge()
    await left.merge()
    assert await texts(store) == ["a", "b"]
    assert await service.open_forks(T) == []
    await context.__aexit__(None, None, None)
    assert await texts(store) == ["a", "b"]


async def a_fork_at_an_anchor_reads_back_to_it(store: TapeStore) -> None:
    """What came after the anchor is not seen."""
    service = _service(store)
    await store.append(T, [said("a"), anchor("phase:one"), said("b")])
    async with service.fork_tape(T, at="phase:one") as fork:
        newest = await fork.recent(1)
        assert newest[0].name == "phase:one"


async def a_unit_is_all_or_nothing(store: UnitStore) -> None:
    """A statement that changes nothing takes the appends of its unit with it."""
    unit = Unit()
    unit.append(T, [said("a")], "k")
    unit.append("another", [said("b")])
    unit.run("tape.find_tape", expect=1, name=T)
    try:
        await store.commit(unit)
    except TapeError:
        pass
    else:
        raise AssertionError("a unit with a failing statement was committed")
    assert await store.size(T) == 0
    assert await store.size("another") == 0
    await store.append(T, [said("a")], "k")
    assert await texts(store) == ["a"]


async def units_at_once_do_not_fail_each_other(store: UnitStore) -> None:
    """A unit that is refused leaves its neighbours in the same transaction alone."""
    failed: list[int] = []

    async def write(number: int) -> None:
        unit = Unit()
        unit.append(T, [said(str(number))])
        if number % 2:
            unit.run("no.such_statement")
        try:
            await store.commit(unit)
        except TapeError:
            failed.append(number)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(write, number)
    assert sorted(failed) == [1, 3, 5, 7, 9]
    assert sorted(await texts(store)) == ["0", "2", "4", "6", "8"]
    assert [entry.id for entry in await store.query(Query(T))] == list(range(1, 8))


def _service(store: TapeStore) -> TapeService:
    return TapeService(store, _WORKSPACE)


StoreCheck = Callable[[TapeStore], Awaitable[None]]
UnitCheck = Callable[[UnitStore], Awaitable[None]]

STORE_CHECKS: Final[tuple[StoreCheck, ...]] = (
    ids_are_contiguous_from_one_in_append_order,
    the_bootstrap_is_entry_one_and_only_once,
    an_append_of_nothing_bootstraps_an_empty_tape_only,
    a_batch_that_brings_its_bootstrap_is_taken_as_it_is,
    an_entry_comes_back_as_it_went_in,
    a_callers_own_dicts_are_not_the_tapes,
    a_refused_batch_writes_nothing,
    an_equal_key_returns_the_first_result,
    equal_keys_at_once_write_one_block,
    blocks_of_concurrent_appends_are_contiguous,
    tapes_are_apart,
    queries_answer_as_the_reference_does,
    a_fork_reads_as_its_parent_and_itself,
    two_forks_merge_in_either_order,
    a_fork_inside_a_fork_merges_into_it,
    a_discarded_fork_leaves_the_parent_alone,
    a_fork_that_a_crash_left_is_found_and_merged_once,
    a_fork_at_an_anchor_reads_back_to_it,
    *TAPE_CHECKS,
)

UNIT_CHECKS: Final[tuple[UnitCheck, ...]] = (
    a_unit_is_all_or_nothing,
    units_at_once_do_not_fail_each_other,
)
