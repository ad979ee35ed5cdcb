"""What holds of every tape, whatever is done to it: found by hypothesis, against a plain list."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tape.entry import KINDS, Entry, NewEntry, bootstrap, from_line, to_line, utc_iso
from tape.errors import NotFound
from tape.handle import ForkTape, Tape
from tape.query import Query
from tape.store import TapeStore
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore
from tape.stores.sqlite import SqliteStore
from tests.kit.examples import examples
from tests.tape.plain import MOMENT, Model, NoSuchAnchor, answer, put

TAPES = ("one", "two")

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
json_object = st.dictionaries(text, json_value, max_size=3)
few_words = st.sampled_from(["", "Tea", "tea", "Straße", "你好", "a%_b", "\x00"])
names = ["phase:one", "phase:two", "turn.start", "message.edit", "message.media"]
few_names = st.sampled_from(names)
asked_names = st.sampled_from([*names, "session/start"])
few_keys = st.sampled_from(["k1", "k2"]) | st.none()
few_dates = st.sampled_from(
    [
        "",
        "2020-01-01T00:00:00.000000+00:00",
        "2023-05-06T07:08:09.000010+00:00",
        utc_iso(MOMENT),
        "2027-01-01T00:00:00.000000+00:00",
    ]
)
asked_dates = few_dates.filter(bool) | st.sampled_from(["2023", "2026-01-02T05:04:05+02:00"])
marks = st.none() | st.integers(0, 2) | st.sampled_from(["", "a", "b"])
metas = st.fixed_dictionaries({}, optional={"author": marks, "lane": marks, "turn": marks})


few_marks = st.sampled_from(["", "a", "b", "1"])


def rarely(some: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw a condition now and then: where all are set, nothing answers."""
    return st.one_of(st.none(), st.none(), st.none(), some)


@st.composite
def new_entries(draw: st.DrawFn) -> NewEntry:
    kind = draw(st.sampled_from(sorted(KINDS)))
    payload: dict[str, Any] = {"content": draw(few_words), "more": draw(json_value)}
    payload |= {"role": draw(few_words), "calls": [], "results": draw(st.lists(json_value))}
    if kind in ("anchor", "event"):
        payload = {"name": draw(few_names), "state": draw(json_object)}
        payload["data"] = {
            "entry": draw(st.integers(1, 4)),
            "content": draw(json_value),
            "takes": draw(st.lists(st.integers(0, 4), max_size=2)),
        }
    return NewEntry(kind, payload, draw(metas), draw(few_dates))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    optional: Callable[[st.SearchStrategy[Any]], Any] = lambda some: draw(st.none() | some)  # noqa: E731
    numbers = st.integers(-3, 12) | st.sampled_from([2**32 + 3, 2**32 - 3, -(2**32) + 3, 2**70])
    return Query(
        draw(st.sampled_from(TAPES)),
        after=draw(st.just(0) | numbers),
        before=optional(numbers),
        ids=optional(st.lists(numbers, max_size=4).map(tuple)),
        kinds=optional(st.lists(st.sampled_from(sorted(KINDS)), max_size=3).map(tuple)),
        after_anchor=draw(rarely(asked_names)),
        before_anchor=draw(rarely(asked_names)),
        name=draw(rarely(asked_names)),
        names=draw(rarely(st.lists(asked_names, max_size=3).map(tuple))),
        since=optional(asked_dates),
        until=optional(asked_dates),
        author=draw(rarely(few_marks)),
        authors=draw(rarely(st.lists(few_marks, max_size=3).map(tuple))),
        unauthored=draw(rarely(st.just(True))) or False,
        lane=optional(few_marks),
        unlaned=draw(st.booleans()),
        turn=draw(rarely(few_marks)),
        about=draw(rarely(st.lists(numbers, max_size=4).map(tuple))),
        text=optional(few_words),
        limit=optional(st.integers(0, 4)),
        newest=draw(st.booleans()),
    )


@dataclass(frozen=True)
class DoAppend:
    tape: str
    batch: tuple[NewEntry, ...]
    key: str | None


@dataclass(frozen=True)
class DoFork:
    tape: str


@dataclass(frozen=True)
class DoInFork:
    """Append to one of the open forks, ask it, or end it."""

    number: int
    batch: tuple[NewEntry, ...]
    query: Query
    end: bool | None


Operation: TypeAlias = DoAppend | DoFork | DoInFork | Query
batches = st.lists(new_entries(), max_size=3).map(tuple)
operations = st.lists(
    st.builds(DoAppend, st.sampled_from(TAPES), batches, few_keys)
    | queries()
    | st.builds(DoFork, st.sampled_from(TAPES))
    | st.builds(
        DoInFork, st.integers(0, 9), batches, queries(), st.sampled_from([None, True, False])
    ),
    max_size=12,
)


async def follow(store: TapeStore, steps: list[Operation]) -> None:
    """Do the operations on a store and on the model, and compare at every step."""
    model = Model({name: [] for name in TAPES})
    forks: list[tuple[ForkTape, list[Entry]]] = []
    for step in steps:
        if isinstance(step, DoAppend):
            written = await store.append(step.tape, step.batch, step.key)
            assert written == model.append(step.tape, step.batch, step.key)
        elif isinstance(step, Query):
            await is_answered(Tape(store, step.tape), step, model.tapes[step.tape])
        elif isinstance(step, DoFork):
            fork = await Tape(store, step.tape).fork()
            entries = list(model.tapes[step.tape])
            put(entries, [] if entries else list(bootstrap()))
            forks.append((fork, entries))
        elif forks:
            await go_on(model, forks, step)
    for name, entries in model.tapes.items():
        assert await store.query(Query(name)) == entries
        assert await store.size(name) == len(entries)


async def is_answered(tape: Tape, query: Query, entries: list[Entry]) -> None:
    try:
        wanted = answer(entries, query)
    except NoSuchAnchor:
        with pytest.raises(NotFound):
            await tape.run_query(query)
    else:
        assert await tape.run_query(query) == wanted


async def go_on(model: Model, forks: list[tuple[ForkTape, list[Entry]]], step: DoInFork) -> None:
    fork, entries = forks[step.number % len(forks)]
    written = await fork.append(*step.batch)
    put(entries, list(step.batch))
    assert written == entries[len(entries) - len(step.batch) :]
    await is_answered(fork, step.query, entries)
    if step.end is None:
        return
    forks.remove((fork, entries))
    if not step.end:
        await fork.discard("not wanted")
        return
    own = entries[fork.at or len(bootstrap()) :]
    first = len(model.tapes[fork.parent.name] or bootstrap()) + 1
    places = {entry.id: first + place for place, entry in enumerate(own)}
    block = tuple(
        NewEntry(entry.kind, moved(entry, places), {**entry.meta, "fork": fork.name}, entry.date)
        for entry in own
    )
    assert await fork.merge() == (model.append(fork.parent.name, block, None) if block else [])


def moved(entry: Entry, places: Mapping[int, int]) -> Mapping[str, Any]:
    """Return the payload that a merge gives an entry of a fork, by the places of the fork's own."""
    floor = min(places) - 1
    data = entry.payload.get("data")
    if entry.kind != "event" or not isinstance(data, dict):
        return entry.payload

    def of(number: int) -> int:
        return number if number <= floor else places.get(number, 0)

    if entry.name == "turn.start":
        # The parent has no entry 0: only what lay outside of the fork becomes none.
        takes = [of(number) for number in data["takes"] if number <= floor or number in places]
        return {**entry.payload, "data": {**data, "takes": takes}}
    if entry.name in ("message.edit", "message.media"):
        return {**entry.payload, "data": {**data, "entry": of(data["entry"])}}
    return entry.payload


def start_of_fork(*own: NewEntry) -> list[Operation]:
    """Return the operations that merge a fork into a parent that moved on meanwhile."""
    said = NewEntry("message", {"role": "user", "content": "tea"})
    return [
        DoAppend("one", (said,), None),
        DoFork("one"),
        DoAppend("one", (said, said), None),
        DoInFork(0, own, Query("one"), True),
    ]


EDIT = NewEntry("event", {"name": "message.edit", "data": {"entry": 4, "content": "x"}})
TAKE = NewEntry("event", {"name": "turn.start", "data": {"turn": "a", "takes": [3, 4, 9]}})


@given(operations)
@example(start_of_fork(NewEntry("message", {"role": "user", "content": "own"}), EDIT, TAKE))
@example(start_of_fork(TAKE))
@examples(60)
async def test_the_memory_store_is_a_plain_list_to_everybody(steps: list[Operation]) -> None:
    await follow(MemoryStore(now=lambda: MOMENT), steps)


@given(operations)
@examples(40)
async def test_the_sqlite_store_is_a_plain_list_to_everybody(steps: list[Operation]) -> None:
    with TemporaryDirectory() as folder:
        store = SqliteStore.open(Path(folder) / "tapeway.db", now=lambda: MOMENT)
        try:
            await follow(store, steps)
        finally:
            await store.close()


@given(operations)
@examples(30)
async def test_the_file_store_is_a_plain_list_to_everybody_and_so_are_its_files(
    steps: list[Operation],
) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tapes"
        store = FileStore.open(path, now=lambda: MOMENT)
        try:
            await follow(store, steps)
            entries = {
                info.name: await store.query(Query(info.name)) for info in await store.tapes()
            }
        finally:
            await store.close()
        for index in path.glob("index.db*"):
            index.unlink()
        again = FileStore.open(path)
        try:
            for name, whole in entries.items():
                assert await again.query(Query(name)) == whole
        finally:
            await again.close()


@given(st.integers(1, 2**32), new_entries(), json_object, text)
def test_an_entry_comes_back_from_its_line(
    number: int, new: NewEntry, meta: dict[str, Any], date: str
) -> None:
    entry = Entry(number, new.kind, new.payload, {**new.meta, **meta}, date)
    line = to_line(entry)
    assert "\n" not in line
    assert from_line(line) == entry
    assert to_line(from_line(line.encode())) == line
    assert json.loads(line) == {
        "id": entry.id,
        "kind": entry.kind,
        "payload": entry.payload,
        "meta": entry.meta,
        "date": entry.date,
    }
