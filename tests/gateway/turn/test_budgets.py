"""Budgets: what each kind of person may use per chat and day."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.tool import Role
from channels.message import InboundMessage
from gateway.settings.sections import BudgetSettings
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.budgets import DayLimits
from gateway.turn.budgets import USED_UP, limits_of
from tests.fakes.openai.script import Call, Request, Text, ToolCalls, Usage
from tests.gateway.scheduling.people import OWNER, Group, group_of
from tests.kit.clock import ManualClock
from tests.kit.gateways import make_environ, names, run_tapeway

ANN, BOB = "7", "8"


def answered(room: Group, *asked: InboundMessage) -> int:
    return sum("ok" in text for one in asked for text in room.replies(one))


async def ask(room: Group, person: str, times: int) -> list[InboundMessage]:
    room.server.default = lambda _request: Text(("ok",))
    return [await room.say(person, f"question {number}") for number in range(times)]


@pytest.mark.parametrize(
    ("role", "limits"),
    [
        (Role.OWNER, None),
        (Role.ADMIN, DayLimits(300, 0, 0)),
        (Role.MEMBER, DayLimits(300, 0, 0)),
        (Role.STRANGER, DayLimits(100, 0, 0)),
    ],
)
def test_the_owner_has_no_budget_and_strangers_the_smallest(
    role: Role, limits: DayLimits | None
) -> None:
    settings = BudgetSettings()
    assert limits_of(settings, role) == limits
    assert (settings.parallel_per_person, settings.model_calls) == (4, 40)


@pytest.mark.parametrize(
    ("access", "setting"),
    [({}, "BUDGET__MEMBER_TURNS"), ({"ACCESS__MODE": "open"}, "BUDGET__STRANGER_TURNS")],
)
async def test_beyond_the_day_s_turns_a_person_is_refused_with_one_notice(
    tmp_path: Path, access: dict[str, str], setting: str
) -> None:
    more = {setting: "2", **({"ACCESS__ALLOW": "", **access} if access else {})}
    async with group_of(tmp_path, **more) as room:
        mine = await ask(room, ANN, 4)
        entries = await room.entries()
        others = await ask(room, BOB, 1)
        owners = await ask(room, OWNER, 3)
        assert len(room.server.requests) == 6
    assert [room.replies(one) for one in mine] == [["ok"], ["ok"], [USED_UP], []]
    assert (answered(room, *others), answered(room, *owners)) == (1, 3)
    ends = [e.payload["data"] for e in entries if e.name == "message.end"]
    assert [end["why"] for end in ends] == ["the day's budget is used up"] * 2
    assert names(entries).count("turn.start") == 2


async def test_where_tapes_are_files_no_turn_begins_beyond_the_budget(tmp_path: Path) -> None:
    more = {"BUDGET__MEMBER_TURNS": "1", "TAPE__URL": f"file://{tmp_path / 'tapes'}"}
    async with group_of(tmp_path, **more) as room:
        mine = await ask(room, ANN, 2)
        entries = await room.entries()
    assert [room.replies(one) for one in mine] == [["ok"], [USED_UP]]
    assert names(entries).count("turn.start") == 1


async def test_a_budget_survives_a_restart_and_is_whole_again_the_next_day(tmp_path: Path) -> None:
    clock = ManualClock()
    limits: dict[str, Any] = {"BUDGET__MEMBER_TURNS": "2", "clock": clock}
    async with group_of(tmp_path, **limits) as room:
        assert answered(room, *await ask(room, ANN, 1)) == 1
    async with group_of(tmp_path, first=10, **limits) as room:
        assert answered(room, *await ask(room, ANN, 2)) == 1
        clock.jump(timedelta(days=1))
        assert answered(room, *await ask(room, ANN, 1)) == 1


async def test_of_questions_at_once_no_more_are_answered_than_the_budget_has(
    tmp_path: Path,
) -> None:
    more = {"BUDGET__MEMBER_TURNS": "3", "TURN__PARALLEL_PER_CHAT": "8"}
    async with group_of(tmp_path, **more) as room:
        room.server.default = lambda _request: Text(("ok",))
        asked = [room.message(ANN, f"q {n}", thread_id=f"t{n}") for n in range(6)]
        await room.accept(*asked)
        await room.entries()
        assert answered(room, *asked) == 3
        assert [text for one in asked for text in room.replies(one)].count(USED_UP) == 1


async def test_a_turn_that_is_resumed_counts_once(tmp_path: Path) -> None:
    more = {"BUDGET__MEMBER_TURNS": "1"}
    async with group_of(tmp_path, **more) as room:
        begun = asyncio.Event()
        room.server.default = lambda _request: Text(("wait",), gate=begun)
        asked = room.message(ANN, "a question")
        await room.accept(asked)
        await room.server.wait_for_requests(1)
    async with group_of(tmp_path, first=10, **more) as room:
        room.server.default = lambda _request: Text(("ok",))
        await room.entries()
        assert room.replies(asked) == ["ok"]
        assert answered(room, *await ask(room, ANN, 1)) == 0


async def test_however_many_questions_wait_the_owner_s_is_taken(tmp_path: Path) -> None:
    more = {"TURN__QUEUE_PER_CHAT": "2", "TURN__PARALLEL_PER_CHAT": "1"}
    async with group_of(tmp_path, **more) as room:
        gate = asyncio.Event()
        room.server.default = lambda _request: Text(("ok",), gate=gate)
        await room.accept(*(room.message(ANN, f"q {n}", thread_id=f"t{n}") for n in range(5)))
        await room.server.wait_for_requests(1)
        asked = room.message(OWNER, "mine", thread_id="o")
        await room.accept(asked)
        gate.set()
        await room.entries()
        assert room.replies(asked) == ["ok"]


async def test_a_person_has_so_many_turns_running_and_others_do_not_wait(tmp_path: Path) -> None:
    more = {"BUDGET__PARALLEL_PER_PERSON": "2", "TURN__PARALLEL_PER_CHAT": "8"}
    async with group_of(tmp_path, **more) as room:
        gate = asyncio.Event()
        room.server.default = lambda _request: Text(("ok",), gate=gate)
        mine = [room.message(ANN, f"q {n}", thread_id=f"t{n}") for n in range(4)]
        bob = room.message(BOB, "mine", thread_id="b")
        owner = [room.message(OWNER, f"o {n}", thread_id=f"o{n}") for n in range(3)]
        await room.accept(*mine, bob, *owner)
        await room.server.wait_for_requests(6)
        texts = [request.last_user_text for request in room.server.requests]
        assert sum("q " in text for text in texts) == 2
        gate.set()
        await room.entries()
        assert answered(room, *mine, bob, *owner) == 8


def delegates(request: Request) -> Any:
    """Obey whoever asks for helpers: give eight tasks whenever the tool is there."""
    offered = [tool["function"]["name"] for tool in request.body.get("tools", ())]
    if request.body.get("tool_choice") == "none" or not offered:
        return Text(("ok",))
    if "subagent" not in offered:
        return ToolCalls((Call("h", "help", '{"tools": ["subagent"]}'),))
    return ToolCalls(tuple(Call(f"s{n}", "subagent", '{"task": "more"}') for n in range(8)))


@pytest.mark.parametrize("person", [ANN, OWNER])
async def test_one_message_makes_at_most_forty_model_calls(tmp_path: Path, person: str) -> None:
    async with group_of(tmp_path) as room:
        room.server.default = delegates
        said = await room.say(person, "use every helper")
        assert len(room.server.requests) == 40
    assert room.replies(said) == ["ok"]


async def test_a_stranger_has_no_subagents(tmp_path: Path) -> None:
    async with group_of(tmp_path, ACCESS__ALLOW="", ACCESS__MODE="open") as room:
        room.server.default = delegates
        await room.say(ANN, "use every helper")
        assert "subagent.start" not in names(await room.entries())
        refused = await room.say(ANN, ",subagent task=x")
    assert room.replies(refused) == ["You may not use `,subagent` here."]


async def test_money_and_tokens_have_limits_where_they_are_set(tmp_path: Path) -> None:
    prices = json.dumps({"model": {"price_input": 1.0, "price_output": 1.0}})
    usage = Usage(400_000, 100_000)
    for limit in ({"BUDGET__MEMBER_COST": "1"}, {"BUDGET__MEMBER_TOKENS": "1000000"}):
        home = tmp_path / next(iter(limit)).lower()
        async with group_of(home, MODELS=prices, **limit) as room:
            room.server.default = lambda _request: Text(("ok",), usage=usage)
            asked = [await room.say(ANN, f"question {n}") for n in range(3)]
            assert [room.replies(one) for one in asked] == [["ok"], ["ok"], [USED_UP]]


async def test_where_no_price_is_known_the_budget_of_tokens_decides(tmp_path: Path) -> None:
    usage = Usage(400_000, 100_000)
    for tokens, answers in (("1000000", 2), ("0", 3)):
        limits = {"BUDGET__MEMBER_COST": "0.01", "BUDGET__MEMBER_TOKENS": tokens}
        async with group_of(tmp_path / tokens, **limits) as room:
            room.server.default = lambda _request: Text(("ok",), usage=usage)
            asked = [await room.say(ANN, f"question {n}") for n in range(3)]
            assert answered(room, *asked) == answers


async def test_tokens_that_a_server_does_not_report_are_estimated_and_marked(
    tmp_path: Path,
) -> None:
    async with group_of(tmp_path, BUDGET__MEMBER_TURNS="1") as room:
        room.server.default = lambda _request: Text(("ok",), usage=Usage(0, 0))
        for number in range(2):
            await room.say(ANN, f"question {number}")
        (row,) = await room.gateway.services.ledger.usage.read("person", "")
        code, out, _err = await run_tapeway(make_environ(tmp_path), "usage", "--by", "person")
    assert code == 0
    assert (row["key"], row["name"]) == (f"plain:{ANN}", f"P{ANN}")
    assert (row["turns"], row["calls"], row["estimated"], row["refused"]) == (1, 1, 1, 1)
    assert row["input"] > 100
    assert row["output"] > 0
    header, line = (line.split() for line in out.splitlines())
    assert header[-3:] == ["output", "estimated", "refused"]
    assert line[-2:] == ["1", "1"]


async def test_an_owner_hears_once_a_day_that_somebody_s_budget_is_used_up(tmp_path: Path) -> None:
    async with group_of(tmp_path, BUDGET__MEMBER_TURNS="1") as room:
        owner = AccessRule("plain", "99", "owner", private_chat="p99")
        room.gateway.parts.requests.openings.access.put(owner)
        for person in (ANN, BOB):
            await ask(room, person, 3)
        heard = [post.text for post in room.channel.posts if post.chat_id == "p99"]
    assert len(heard) == 1
    assert heard[0].startswith("`P7` has used up today's answers in `plain:-100`.")
