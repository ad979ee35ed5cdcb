"""The tape as a library: what its users write, on every store of the registry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

import agent
from agent.testing import ScriptedModel
from tape import (
    Entry,
    ForkTape,
    NewEntry,
    NotFound,
    QueryRefused,
    Tape,
    TapeContext,
    TapeError,
    TapeService,
    anchor,
    event,
    message,
)
from tape.construct import Candidate, Choice, ContextConstructor
from tape.context import Message
from tape.fork import Forking
from tape.store import BatchStore
from tape.stores.registry import TAPE_STORES, UNIT_STORES
from tape.unit_of_work import Batch
from tests.contracts.opened import opened, params


@pytest.fixture(params=params({**UNIT_STORES, **TAPE_STORES}))
async def tape(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Tape]:
    async with opened(request.param, tmp_path) as store:
        yield Tape(store, "notes")


def said(text: str, **meta: Any) -> NewEntry:
    return message("user", text, **meta)


def texts(messages: Sequence[Message]) -> list[str]:
    return [str(one["content"]) for one in messages]


async def test_a_context_without_arguments_begins_at_the_latest_anchor(tape: Tape) -> None:
    await tape.append(said("before"))
    await tape.handoff("phase:x", {"summary": "tea"})
    await tape.append(said("after"))
    shown = await tape.context(TapeContext())
    assert shown == await tape.context()
    assert texts(shown) == ['[Anchor created: phase:x]: {"summary": "tea"}', "after"]


async def test_an_async_selection_gets_the_entries_and_the_state_of_the_anchor(tape: Tape) -> None:
    async def pick(entries: Sequence[Entry], context: TapeContext) -> list[Message]:
        size = await tape.size()
        newest = entries[-1].text
        return [{"role": "user", "content": f"{context.state['summary']} {newest} {size}"}]

    await tape.handoff("phase:x", {"summary": "tea"})
    await tape.append(said("after"))
    await tape.handoff("phase:y", {"summary": "coffee"})
    await tape.append(said("end"))
    shown = await tape.context(TapeContext(anchor="phase:x", select=pick))
    assert texts(shown) == ["tea end 8"]


async def test_a_selection_of_the_entries_alone_needs_no_context(tape: Tape) -> None:
    def pick(entries: Sequence[Entry], role: str = "user") -> list[Message]:
        return [{"role": role, "content": entry.text} for entry in entries]

    await tape.append(said("one"))
    assert await tape.context(TapeContext(anchor=None, select=pick)) == [
        {"role": "user", "content": entry.text} for entry in await tape.read()
    ]


async def test_the_whole_tape_has_no_anchor_and_so_no_state(tape: Tape) -> None:
    def pick(_entries: Sequence[Entry], context: TapeContext) -> list[Message]:
        return [{"role": "user", "content": f"{dict(context.state)}"}]

    await tape.handoff("phase:x", {"summary": "tea"})
    assert texts(await tape.context(TapeContext(anchor=None, select=pick))) == ["{}"]


async def test_a_handoff_without_arguments_has_a_name_and_no_state(tape: Tape) -> None:
    assert (await tape.handoff()).payload == {"name": "handoff", "state": {}}
    assert (await tape.recent(1))[0].payload == {"name": "handoff", "data": {"name": "handoff"}}


async def test_a_fork_as_a_block_is_merged_at_its_end(tape: Tape) -> None:
    await tape.append(said("one"))
    async with tape.fork() as f:
        await f.append(said("two"))
        messages = await f.context()
    assert texts(messages)[1:] == ["one", "two"]
    assert texts(await tape.context())[1:] == ["one", "two"]


async def test_a_fork_as_a_block_is_discarded_after_an_error(tape: Tape) -> None:
    async def failing(forking: Forking[ForkTape]) -> None:
        async with forking as f:
            await f.append(said("two"))
            raise ZeroDivisionError

    await tape.append(said("one"))
    with pytest.raises(ZeroDivisionError):
        await failing(tape.fork())
    assert texts(await tape.context())[1:] == ["one"]
    assert await TapeService(tape.store, Path("w")).open_forks(tape.name) == []


async def test_a_fork_that_is_not_merged_back_is_discarded_at_its_end(tape: Tape) -> None:
    await tape.handoff("phase:x")
    await tape.append(said("one"))
    async with tape.fork(at="phase:x", merge_back=False) as f:
        await f.append(said("two"))
        assert texts(await f.context())[1:] == ["two"]
    assert texts(await tape.context())[1:] == ["one"]


async def test_a_fork_that_is_awaited_stays_open(tape: Tape) -> None:
    fork = await tape.fork()
    await fork.append(said("two"))
    assert await fork.state() == "open"
    await fork.merge()
    assert texts(await tape.context())[1:] == ["two"]


async def test_a_fork_within_a_fork_ends_before_it(tape: Tape) -> None:
    service = TapeService(tape.store, Path("w"))
    async with service.fork_tape(tape) as outer, outer.fork() as inner:
        await inner.append(said("deep"))
    assert texts(await tape.context())[1:] == ["deep"]


def dated(new: NewEntry, day: int) -> NewEntry:
    return replace(new, date=f"2026-01-{day:02}T12:00:00.000000+00:00")


async def kettles(tape: Tape) -> None:
    await tape.append(
        dated(said("a Kettle", author="7", lane="a"), 1),
        dated(anchor("phase:kettle", {"summary": "a kettle"}), 2),
        dated(said("the kettle boils", author="8", lane="a"), 3),
        dated(event("kettle"), 4),
        dated(said("tea", author="7", lane="b"), 5),
        dated(anchor("phase:end"), 6),
        dated(said("kettle, off", author="7", lane="b"), 7),
    )


async def test_a_query_is_composed_of_conditions(tape: Tape) -> None:
    await kettles(tape)
    query = tape.query.kinds("message", "anchor").between_dates("2026-01-02", "2026-01-07")
    found = await query.text("kettle").limit(20).all()
    assert [entry.date[:10] for entry in found] == ["2026-01-02", "2026-01-03"]
    assert [entry.id for entry in await query.text("kettle").limit(1).all()] == [found[0].id]
    assert [e.id for e in await query.text("kettle").limit(1, newest=True).all()] == [found[1].id]


@pytest.mark.parametrize(
    ("narrow", "days"),
    [
        (lambda query: query.authors("7"), [1, 5, 7]),
        (lambda query: query.authors("7", "8").lane("a"), [1, 3]),
        (lambda query: query.after_anchor("phase:kettle").kinds("message"), [3, 5, 7]),
        (lambda query: query.before_anchor("phase:kettle").kinds("message"), [1]),
        (lambda query: query.between_anchors("phase:kettle", "phase:end"), [3, 4, 5]),
        (lambda query: query.names("kettle", "phase:end"), [4, 6]),
        (lambda query: query.kinds("message").since(date(2026, 1, 5)), [5, 7]),
        (lambda query: query.until(datetime(2026, 1, 3, 12, tzinfo=UTC)), [1, 2]),
        (lambda query: query.kinds("anchor").kinds("event"), [4]),
        (lambda query: query.turn("t"), []),
    ],
)
async def test_each_condition_of_a_query_narrows_it(
    tape: Tape, narrow: Any, days: list[int]
) -> None:
    await kettles(tape)
    found = await narrow(tape.query).all()
    assert [int(entry.date[8:10]) for entry in found if entry.id > 2] == days


async def test_a_query_is_kept_and_narrowed_again(tape: Tape) -> None:
    await kettles(tape)
    messages = tape.query.kinds("message")
    first = await messages.text("tea").first()
    assert first is not None
    assert first.text == "tea"
    assert await messages.text("none such").first() is None
    assert len(await messages.all()) == 4
    fork = await tape.fork()
    await fork.append(said("kettle, on"))
    newest = await fork.query.text("kettle").limit(2, newest=True).all()
    assert [entry.text for entry in newest] == ["kettle, off", "kettle, on"]


async def test_an_impossible_query_is_refused_and_an_unknown_anchor_is_not_found(
    tape: Tape,
) -> None:
    await kettles(tape)
    with pytest.raises(QueryRefused):
        tape.query.since("last Tuesday")
    with pytest.raises(QueryRefused):
        tape.query.limit(-1)
    with pytest.raises(NotFound, match="phase:end"):
        await tape.query.after_anchor("phase:ende").all()


async def test_a_context_is_constructed_for_a_task(tape: Tape) -> None:
    await tape.append(said("the kettle is in the hall"), *[said(f"talk {n}") for n in range(250)])
    found = await ContextConstructor().construct_for_task("where is the kettle?", tape)
    assert "the kettle is in the hall" in texts(found.messages)
    same = await tape.context_for("where is the kettle?")
    assert (found.messages, found.record) == (same.messages, same.record)


class Heading(ContextConstructor):
    """Overrides every step, and notes that it ran."""

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[str] = []

    async def explore(self, task: str, tape: Any, lane: str | None) -> Any:
        self.steps.append("explore")
        return await super().explore("kettle", tape, lane)

    async def select(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        self.steps.append("select")
        return [Choice(one, "kettle" in one.text, "says kettle") for one in candidates]

    async def verify(self, choices: Any, candidates: Any, entries: Any, budget: int) -> Any:
        self.steps.append("verify")
        return await super().verify(choices, candidates, entries, budget)

    async def build(self, groups: Any, entries: Any) -> list[Message]:
        self.steps.append("build")
        return [{"role": "system", "content": "Kettles:"}, *await super().build(groups, entries)]


async def test_a_subclass_overrides_the_steps_of_the_constructor(tape: Tape) -> None:
    await tape.append(said("a kettle"), said("a pan"), said("another kettle"))
    constructor = Heading()
    found = await constructor.construct_for_task("task", tape)
    assert constructor.steps == ["explore", "select", "verify", "build"]
    assert texts(found.messages) == ["Kettles:", "a kettle", "another kettle"]
    assert (await constructor.rebuild(tape, found.record)).messages == found.messages
    with pytest.raises(TapeError, match="can't be rebuilt"):
        await ContextConstructor().rebuild(tape, found.record)


async def test_a_model_answers_on_a_tape_with_options_of_the_request(tape: Tape) -> None:
    model = ScriptedModel("one", "two")
    assert await agent.answer(model, tape, "text", max_tokens=200) == "one"
    assert dict(model.requests[0].options) == {"max_tokens": 200}
    assert await agent.answer(model, tape, "more") == "two"
    assert dict(model.requests[1].options) == {}
    assert texts(await tape.context())[1:] == ["text", "one", "more", "two"]


async def test_a_tape_that_has_entries_but_no_anchor_gets_one(tape: Tape) -> None:
    service = TapeService(tape.store, Path("w"))
    assert isinstance(tape.store, BatchStore)
    await tape.store.append_batch(tape.name, Batch(lambda: iter([said("first")]), 0, 1))
    assert await tape.last_anchor() is None
    for _ in range(2):
        await service.ensure_bootstrap_anchor(tape)
    assert [entry.name for entry in await tape.read()] == [None, "session/start", "handoff"]
    await tape.append(said("second"))
    assert texts(await tape.context())[1:] == ["second"]


async def test_a_fork_has_the_anchor_of_its_parent(tape: Tape) -> None:
    service = TapeService(tape.store, Path("w"))
    await tape.append(said("first"))
    async with tape.fork() as fork:
        await service.ensure_bootstrap_anchor(fork)
        await fork.append()
        assert await fork.size() == 3
