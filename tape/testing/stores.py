"""Check what a store writes: atomic batches, keys, forks, and units of work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import anyio
from anyio.lowlevel import checkpoint

from tape.entry import NewEntry, anchor, bootstrap, message
from tape.errors import AppendRefused, ForkClosed, TapeError
from tape.handle import find_fork
from tape.query import Query
from tape.service import TapeService
from tape.store import TapeStore, UnitStore
from tape.testing.tapes import TAPE_CHECKS, T, refusal
from tape.unit_of_work import Unit

FORKS: Final = 25
WRITERS: Final = 4  # that write to each fork at once
WRITES: Final = 10  # that each of them tries
_WORKSPACE: Final = Path("workspace")
_ENDS: Final = ((True,), (False,), (True, False), (False, True), (True, True))
"""Who ends a fork at once: each merges it (True) or discards it."""

UNSHOWABLE: Final = (
    NewEntry("message", {}),
    NewEntry("message", {"role": "user"}),
    NewEntry("message", {"role": 7, "content": "a"}),
    NewEntry("message", {"role": "user", "content": ["a"]}),
    NewEntry("message", {"role": "assistant", "content": "", "tool_calls": ["a"]}),
    NewEntry("message", {"role": "user", "content": "a"}, {"prompt_of": [1]}),
    NewEntry("tool_call", {}),
    NewEntry("tool_call", {"calls": None}),
    NewEntry("tool_call", {"calls": ["a"]}),
    NewEntry("tool_call", {"calls": [{"id": "c", "function": "n"}]}),
    NewEntry("tool_result", {}),
    NewEntry("tool_result", {"results": {"a": 1}}),
    NewEntry("event", {"name": "turn.start"}),
    NewEntry("event", {"name": "turn.start", "data": {"takes": None}}),
    NewEntry("event", {"name": "turn.start", "data": {"takes": [[1]]}}),
    NewEntry("event", {"name": "turn.retake", "data": {"takes": [1], "include": "a"}}),
    NewEntry("event", {"name": "message.delete", "data": {}}),
    NewEntry("event", {"name": "message.delete", "data": {"entry": "1"}}),
    NewEntry("event", {"name": "message.edit", "data": {"entry": 2}}),
    NewEntry("event", {"name": "message.edit", "data": [2, "b"]}),
    NewEntry("event", {"name": "message.media", "data": {"entry": 2, "images": [1]}}),
)
"""Entries that would break every later view of their tape."""


def said(text: str, /, **meta: Any) -> NewEntry:
    return message("user", text, **meta)


async def texts(store: TapeStore, tape: str = T) -> list[str]:
    return [entry.text for entry in await store.query(Query(tape, kinds=("message",)))]


async def ids_are_contiguous_from_one_in_append_order(store: TapeStore) -> None:
    await store.append(T, [said("a"), said("b")])
    await store.append(T, [said("c"), said("d")])
    entries = await store.query(Query(T))
    assert [entry.id for entry in entries] == [1, 2, 3, 4, 5, 6]
    assert await texts(store) == ["a", "b", "c", "d"]
    assert await store.size(T) == 6


async def the_bootstrap_is_entry_one_and_only_once(store: TapeStore) -> None:
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
    assert await store.append(T, []) == []
    assert await store.size(T) == 2
    assert await store.append(T, []) == []
    assert await store.size(T) == 2


async def a_batch_with_its_own_bootstrap_gets_no_other(store: TapeStore) -> None:
    written = await store.append(T, [*bootstrap(), said("a")])
    assert [entry.id for entry in written] == [1, 2, 3]
    assert await store.size(T) == 3
    await refusal(store.append(T, [said("b"), *bootstrap()]), AppendRefused)
    assert await store.size(T) == 3


async def an_entry_is_read_as_it_was_written(store: TapeStore) -> None:
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
    payload = {"role": "user", "content": "before"}
    (written,) = await store.append(T, [NewEntry("message", payload)])
    payload["content"] = "after"
    written.payload["content"] = "after"  # type: ignore[index]
    (read,) = await store.query(Query(T, kinds=("message",)))
    read.payload["content"] = "after"  # type: ignore[index]
    assert await texts(store) == ["before"]


async def a_refused_batch_writes_nothing(store: TapeStore) -> None:
    bad = [
        NewEntry("gossip", {}),
        NewEntry("anchor", {"state": {}}),
        NewEntry("system", {"content": object()}),
        NewEntry("message", {"role": "user", "content": "\ud800"}),
        NewEntry("message", None),  # type: ignore[arg-type]
        NewEntry("system", {}, None),  # type: ignore[arg-type]
        NewEntry("system", {1: 2}),  # type: ignore[dict-item]
        NewEntry(["message"], {}),  # type: ignore[arg-type]
        {"kind": "message"},
        NewEntry("event", {"name": "message.delete", "data": {"entry": 0}}),
        *UNSHOWABLE,
    ]
    for entry in bad:
        batch = [said("good"), entry]
        await refusal(store.append(T, batch), AppendRefused, entry)  # type: ignore[arg-type]
    for tape, key in (("\ud800", None), (T, "\ud800")):
        await refusal(store.append(tape, [said("good")], key), TapeError, (tape, key))
    assert await texts(store) == []
    await store.append(T, [said("still alive")])
    assert await texts(store) == ["still alive"]


async def an_equal_key_returns_the_first_result(store: TapeStore) -> None:
    first = await store.append(T, [said("a"), said("b")], "k")
    again = await store.append(T, [said("c")], "k")
    assert again == first
    assert await texts(store) == ["a", "b"]
    await store.append("another", [said("d")], "k")
    assert await texts(store, "another") == ["d"]


async def equal_keys_at_once_write_one_block(store: TapeStore) -> None:
    results: list[list[int]] = []

    async def write(text: str) -> None:
        results.append([entry.id for entry in await store.append(T, [said(text)], "k")])

    async with anyio.create_task_group() as group:
        for number in range(8):
            group.start_soon(write, str(number))
    assert len(await texts(store)) == 1
    assert all(ids == results[0] for ids in results)


async def blocks_of_concurrent_appends_are_contiguous(store: TapeStore) -> None:
    async def write(name: str) -> None:
        await store.append(T, [said(name) for _ in range(5)])

    async with anyio.create_task_group() as group:
        for name in "abcdef":
            group.start_soon(write, name)
    found = await texts(store)
    assert sorted(found) == sorted("abcdef" * 5)
    assert all(len(set(found[start : start + 5])) == 1 for start in range(0, 30, 5))


async def tapes_are_separate(store: TapeStore) -> None:
    await store.append("x/1", [said("a")])
    await store.append("x/2", [said("b"), said("c")])
    await store.append("y", [said("d")])
    assert await texts(store, "x/1") == ["a"]
    listed = {info.name: info.size for info in await store.tapes("x/")}
    assert listed == {"x/1": 3, "x/2": 4}
    assert await store.query(Query("unknown")) == []
    assert await store.size("unknown") == 0


async def a_fork_reads_as_its_parent_and_itself(store: TapeStore) -> None:
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
    await store.append(T, [said("a"), anchor("phase:one"), said("b")])
    async with _service(store).fork_tape(T, at="phase:one") as fork:
        newest = await fork.recent(1)
        assert newest[0].name == "phase:one"


async def appends_beside_the_end_of_a_fork_are_merged_or_refused(store: TapeStore) -> None:
    """Write 1000 entries to forks while others merge and discard them."""
    service = _service(store)
    await store.append(T, [said("a")])
    for number in range(FORKS):
        fork = await service.tape(T).fork()
        taken: list[str] = []
        async with anyio.create_task_group() as group:
            for writer in range(WRITERS):
                group.start_soon(_write_until_closed, service, fork.name, writer, taken)
            for end in _ENDS[number % len(_ENDS)]:
                group.start_soon(_end_fork, service, fork.name, end, taken, number)
        merged = await store.query(Query(T, kinds=("message",), after=fork.at))
        if await fork.state() == "fork.merged":
            assert {entry.text for entry in merged} == set(taken), number
            assert len(merged) == len(taken), number
        else:
            assert merged == [], number
        own = await fork.own_entries()
        assert {entry.text for entry in own} == set(taken), number


async def _write_until_closed(
    service: TapeService, fork: str, writer: int, taken: list[str]
) -> None:
    own = await find_fork(service.tape(fork))  # as another process would
    for number in range(WRITES):
        await checkpoint()
        try:
            written = await own.append(said(f"{writer}.{number}"), key=f"{writer}.{number}")
        except ForkClosed:
            continue
        taken += [entry.text for entry in written]


async def _end_fork(
    service: TapeService, fork: str, merged: bool, taken: list[str], after: int
) -> None:
    own = await find_fork(service.tape(fork))
    while len(taken) < after:
        await checkpoint()
    if not merged:
        await own.discard("not wanted")
        return
    try:
        await own.merge()
    except TapeError:
        assert await own.state() == "fork.discarded"


async def a_unit_is_all_or_nothing(store: UnitStore) -> None:
    unit = Unit()
    unit.append(T, [said("a")], "k")
    unit.append("another", [said("b")])
    unit.run("tape.find_tape", expect=1, name=T)
    await refusal(store.commit(unit), TapeError, unit)
    assert await store.size(T) == 0
    assert await store.size("another") == 0
    await store.append(T, [said("a")], "k")
    assert await texts(store) == ["a"]


async def units_at_once_do_not_fail_each_other(store: UnitStore) -> None:
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
    a_batch_with_its_own_bootstrap_gets_no_other,
    an_entry_is_read_as_it_was_written,
    a_callers_own_dicts_are_not_the_tapes,
    a_refused_batch_writes_nothing,
    an_equal_key_returns_the_first_result,
    equal_keys_at_once_write_one_block,
    blocks_of_concurrent_appends_are_contiguous,
    tapes_are_separate,
    a_fork_reads_as_its_parent_and_itself,
    two_forks_merge_in_either_order,
    a_fork_inside_a_fork_merges_into_it,
    a_discarded_fork_leaves_the_parent_alone,
    a_fork_that_a_crash_left_is_found_and_merged_once,
    a_fork_at_an_anchor_reads_back_to_it,
    appends_beside_the_end_of_a_fork_are_merged_or_refused,
    *TAPE_CHECKS,
)

UNIT_CHECKS: Final[tuple[UnitCheck, ...]] = (
    a_unit_is_all_or_nothing,
    units_at_once_do_not_fail_each_other,
)
