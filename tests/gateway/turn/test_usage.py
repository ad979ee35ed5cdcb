"""Counting: tokens and their cost, per turn, however the turn ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from gateway.scheduling.notices import GIVEN_UP
from gateway.storage.ledger.usage import MAX_LISTED, TurnUsage
from tape.unit_of_work import Unit
from tests.fakes.openai.script import Call, Failure, Hang, Request, Text, ToolCalls, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, make_environ, run_tapeway, settled
from tests.kit.play import opened
from tests.kit.visitor import visit

LOOK = ToolCalls((Call("a", "tape_info", "{}"),), usage=Usage(100, 10, 40))
GIVE = ToolCalls((Call("g", "subagent", '{"task": "look"}'),), usage=Usage(10, 1))
DONE = Text(("Done.",), usage=Usage(200, 20, 150))
PRICES = {"price_input": 1.0, "price_cached": 0.1, "price_output": 4.0}
NAMES = ("turns", "calls", "input", "cached", "output")


async def used(gateway: Gateway, by: str = "day") -> list[dict[str, Any]]:
    await settled(gateway)
    return [dict(row) for row in await gateway.services.ledger.usage.read(by, "")]


def counts(rows: Sequence[dict[str, Any]]) -> list[tuple[int, ...]]:
    return [tuple(row[name] for name in NAMES) for row in rows]


@pytest.mark.settings(MODELS=json.dumps({"model": PRICES}))
async def test_every_step_of_a_turn_counts_with_cached_tokens_apart(
    gateway: Gateway, model: FakeOpenAI
) -> None:
    model.enqueue(LOOK, DONE)
    async with visit(gateway.url, "Alice") as (alice,):
        await alice.answer(await alice.say("how much is on it?"))
        who = alice.id
    (row,) = await used(gateway, "person")
    assert (row["key"], row["name"]) == (f"web:{who}", "Alice")
    assert counts([row]) == [(1, 2, 110, 190, 30)]
    assert row["cost"] == pytest.approx((110 * 1.0 + 190 * 0.1 + 30 * 4.0) / 1e6)


async def test_without_prices_tokens_count_and_what_they_cost_is_unknown(
    gateway: Gateway, model: FakeOpenAI
) -> None:
    model.enqueue(DONE)
    async with visit(gateway.url, "Alice") as (alice,):
        await alice.answer(await alice.say("one"))
    (row,) = await used(gateway, "model")
    assert (row["key"], row["cost"], row["unpriced"]) == ("model", None, 1)


async def test_what_a_failed_turn_used_counts(model: FakeOpenAI, gateway: Gateway) -> None:
    model.enqueue(LOOK, Failure(401, "no", "invalid_api_key", "auth"))
    async with visit(gateway.url, "Alice") as (alice,):
        assert (await alice.answer(await alice.say("one")))["role"] == "notice"
    assert counts(await used(gateway)) == [(1, 1, 60, 40, 10)]


async def test_what_a_stopped_turn_used_counts(gateway: Gateway, model: FakeOpenAI) -> None:
    hangs = anyio.Event()
    model.enqueue(LOOK)
    model.default = hanging(hangs)
    async with visit(gateway.url, "Alice") as (alice,):
        asked = await alice.say("one")
        await hangs.wait()
        await alice.stop()
        await alice.answer(asked)
    assert counts(await used(gateway)) == [(1, 1, 60, 40, 10)]


class Waits:
    """Holds the tool `tape.info` until its turn is cut off."""

    def __init__(self) -> None:
        self.begun = anyio.Event()

    @hookimpl
    async def before_tool_call(self, name: str) -> None:
        if name == "tape.info":
            self.begun.set()
            await anyio.sleep_forever()


async def test_a_step_counts_whose_tool_runs_when_the_turn_is_stopped(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    waits = Waits()
    async with gateway_of(tmp_path, model, waits) as gateway:
        model.enqueue(LOOK)
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("one")
            await waits.begun.wait()
            await alice.stop()
            await alice.answer(asked)
        assert counts(await used(gateway)) == [(1, 1, 60, 40, 10)]


@pytest.mark.parametrize(
    ("steps", "both"),
    [((LOOK,), (1, 2, 110, 190, 30)), ((GIVE, LOOK), (1, 3, 120, 190, 31))],
    ids=["own", "subagent"],
)
async def test_a_step_counts_whose_tool_runs_when_the_process_ends(
    model: FakeOpenAI, tmp_path: Path, steps: tuple[ToolCalls, ...], both: tuple[int, ...]
) -> None:
    waits = Waits()
    model.enqueue(*steps)
    async with gateway_of(tmp_path, model, waits) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.say("one")
            await waits.begun.wait()
    model.enqueue(DONE)
    async with gateway_of(tmp_path, model) as gateway:
        assert counts(await used(gateway)) == [both]


async def test_subagents_count_for_the_turn_that_gave_them_their_task(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    model.enqueue(GIVE, GIVE, LOOK, DONE, DONE, DONE)
    async with visit(gateway.url, "Alice") as (alice,):
        await alice.answer(await alice.say("ask a helper"))
    assert counts(await used(gateway)) == [(1, 6, 20 + 60 + 150, 40 + 450, 2 + 10 + 60)]


async def test_a_resumed_turn_counts_once_what_was_used_before_and_after(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    hangs = anyio.Event()
    model.enqueue(LOOK)
    model.default = hanging(hangs)
    async with gateway_of(tmp_path, model) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.say("one")
            await hangs.wait()
    model.enqueue(DONE)
    async with gateway_of(tmp_path, model) as gateway:
        assert counts(await used(gateway)) == [(1, 2, 110, 190, 30)]


async def test_what_a_turn_used_that_was_given_up_counts(tmp_path: Path) -> None:
    async with opened("telegram", lasts=True) as house:
        alice = house.stage.person("Alice")
        house.model.enqueue(LOOK)
        house.model.default = hanging(anyio.Event())
        for requests in range(2, 7):
            async with house.playing(tmp_path) as play:
                if requests == 2:
                    await play.stage.say(house.stage.private(alice), alice, "poison")
                await play.run(play.model.wait_for_requests(requests))
                await play.clock.advance(1)
                play.kill()
        async with house.playing(tmp_path) as play:
            await play.settle()
            assert play.texts(house.stage.private(alice)) == [GIVEN_UP]
            assert counts(await used(play.gateway)) == [(1, 1, 60, 40, 10)]


def hanging(begun: anyio.Event) -> Any:
    def hang(_request: Request) -> Hang:
        begun.set()
        return Hang()

    return hang


async def test_usage_shows_what_was_used_by_chat_and_as_json(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ = make_environ(tmp_path)
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(DONE, DONE)
        for room in ("kitchen", "garden"):
            async with visit(gateway.url, "Alice", room=room) as (alice,):
                await alice.answer(await alice.say("one"))
        await gateway.idle()
        code, remote, _err = await run_tapeway(environ, "usage", "--by", "chat")
    assert code == 0
    header, *lines = [line.split() for line in remote.splitlines()]
    assert header == ["chat", "name", "turns", "calls", "input", "cached", "output"]
    assert sorted(lines[:-1]) == [
        ["web:garden", "garden", "1", "1", "50", "150", "20"],
        ["web:kitchen", "kitchen", "1", "1", "50", "150", "20"],
    ]
    assert lines[-1] == ["total", "2", "2", "100", "300", "40"]
    code, local, _err = await run_tapeway(environ, "usage", "--json")
    assert code == 0
    row = json.loads(local)
    assert {name: row[name] for name in NAMES} == dict(
        zip(NAMES, (2, 2, 100, 300, 40), strict=True)
    )
    code, _out, err = await run_tapeway(environ, "usage", "--by", "moon")
    assert code == 2
    assert "'day', 'chat', 'person', 'model', 'turn'" in " ".join(err.split())


async def test_usage_tells_an_unknown_price_apart_from_what_costs_nothing(
    gateway: Gateway, tmp_path: Path
) -> None:
    unit, ledger = Unit(), gateway.services.ledger
    for model, cost in (("dear", 1.5), ("free", 0.0), ("strange", None)):
        used = TurnUsage("t-1", model, "2999-01-01", "c:1", "c:7", "Al", 1, 2, 0, 1, cost)
        ledger.usage.record(unit, used)
    await ledger.store.commit(unit)
    code, out, _err = await run_tapeway(make_environ(tmp_path), "usage", "--by", "model")
    assert code == 0
    header, *lines = [line.split() for line in out.splitlines()]
    assert header[-2:] == ["cost", "unpriced"]
    shown = {line[0]: line[5:] for line in lines}
    assert shown == {
        "dear": ["1.50"],
        "free": [],
        "strange": ["unknown", "1"],
        "total": ["1.50", "1"],
    }


async def test_usage_says_when_lines_are_left_out_and_its_total_counts_them(
    gateway: Gateway, model: FakeOpenAI, tmp_path: Path
) -> None:
    unit, ledger = Unit(), gateway.services.ledger
    for number in range(MAX_LISTED + 1):
        turn = TurnUsage(f"t-{number}", "m", "2999-01-01", "c:1", "c:7", "Al", 1, 2, 0, 1, 0)
        ledger.usage.record(unit, turn)
    await ledger.store.commit(unit)
    code, out, err = await run_tapeway(make_environ(tmp_path), "usage", "--by", "turn")
    assert code == 0
    *lines, total = out.splitlines()
    assert (len(lines), total.split()) == (1001, ["total", "1001", "1001", "2002", "1001"])
    assert "(1000 of 1001 lines, without the oldest)" in err
