"""The database is away for a while: nothing is taken, nothing is lost, and it resumes by itself."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import apsw
import httpx2
import pytest

from channels.errors import ChannelDown
from gateway.hooks.specs import hookimpl
from gateway.storage.holding import hold_all
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.ledger import ledger_schema
from gateway.turn.budgets import USED_UP
from tape.errors import OutcomeUnknown
from tape.stores.sqlite import tape_schema
from tape.unit_of_work import Unit
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.clock import QuickClock
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform
from tests.kit.gateways import every, gateway_of, names, over, settled
from tests.kit.mortal import LastingStore, MortalStore
from tests.kit.plain_channels import Brings
from tests.kit.visitor import visit


async def test_d7_a_locked_database_is_waited_for(model: FakeOpenAI, tmp_path: Path) -> None:
    async with gateway_of(tmp_path, model, internals=every(database_busy=0.02)) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("before"))
            await settled(gateway)
            other = apsw.Connection(str(tmp_path / "tapeway.db"))
            other.set_busy_timeout(60_000)
            other.execute("BEGIN IMMEDIATE")
            response = await alice.try_to_say("while it is away")
            assert response.status_code == 503
            assert "later" in response.json()["error"]
            other.execute("ROLLBACK")
            other.close()
            await alice.answer(await alice.say("after"))


async def test_a_turn_that_cannot_be_written_down_is_finished_when_the_database_is_back(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, internals=every(database_busy=0.02)) as gateway:
        async with visit(gateway.url, "Alice") as (alice,):
            other = apsw.Connection(str(tmp_path / "tapeway.db"))
            other.set_busy_timeout(60_000)
            asked = await alice.say("one")
            await model.wait_for_requests(1)
            other.execute("BEGIN IMMEDIATE")
            while gateway.services.guard.away_for() is None:
                await anyio.lowlevel.checkpoint()
            ready = await alice.ready()
            assert ready.status_code == 503
            assert ready.json()["store"]["state"] == "away"
            async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as balancer:
                assert (await balancer.get("/health/serving")).status_code == 503
            other.execute("ROLLBACK")
            other.close()
            answer = await alice.answer(asked)
            assert answer["role"] == "agent"
            assert (await alice.ready()).status_code == 200


async def test_a_turn_whose_writes_fail_in_the_middle_is_run_again_and_answered(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, internals=every(database_busy=0.02)) as gateway:
        gate = asyncio.Event()
        model.enqueue(ToolCalls((Call("c", "tape_info", "{}"),), pieces=("a ",), gate=gate))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("one")
            await alice.draft(asked)
            other = apsw.Connection(str(tmp_path / "tapeway.db"))
            other.set_busy_timeout(60_000)
            other.execute("BEGIN IMMEDIATE")
            gate.set()
            while gateway.services.guard.away_for() is None:
                await anyio.lowlevel.checkpoint()
            other.execute("ROLLBACK")
            other.close()
            answer = await alice.answer(asked)
            entries = await settled(gateway)
    assert answer["role"] == "agent"
    assert sum(entry.name == "turn.end" for entry in entries) == 1


async def test_a_turn_that_waits_to_begin_again_can_be_stopped(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model, internals=every(database_busy=0.02)) as gateway:
        gate = asyncio.Event()
        model.enqueue(ToolCalls((Call("c", "tape_info", "{}"),), pieces=("a ",), gate=gate))
        async with visit(gateway.url, "Alice") as (alice,):
            asked = await alice.say("one")
            draft = await alice.draft(asked)
            other = apsw.Connection(str(tmp_path / "tapeway.db"))
            other.set_busy_timeout(60_000)
            other.execute("BEGIN IMMEDIATE")
            gate.set()
            while gateway.services.guard.away_for() is None:
                await anyio.lowlevel.checkpoint()
            assert await alice.stop(draft["id"])
            other.execute("ROLLBACK")
            other.close()
            with anyio.fail_after(60):
                answer = await alice.answer(asked)
            entries = await settled(gateway)
    assert answer["text"] == "Stopped."
    ends = [entry.payload["data"]["status"] for entry in entries if entry.name == "turn.end"]
    assert ends == ["stopped"]


async def test_d7_a_channel_hears_that_nothing_can_be_written_down_as_that_it_is_down(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = EditingChannel(Platform())
    hasty = every(database_busy=0.02)
    async with gateway_of(tmp_path, model, Brings(channel), internals=hasty):
        other = apsw.Connection(str(tmp_path / "tapeway.db"))
        other.set_busy_timeout(60_000)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ChannelDown, match="the database is unavailable"):
            await channel.host.accept([QUESTION])
        other.execute("ROLLBACK")
        other.close()
        assert await channel.host.accept([QUESTION]) == {QUESTION.ext_id}


@pytest.fixture
def store() -> MortalStore:
    """The store of the next gateway, whose answers may be lost."""
    return MortalStore(LastingStore([tape_schema(), ledger_schema()]))


async def test_a_turn_begins_once_if_the_database_s_answer_to_its_beginning_is_lost(
    model: FakeOpenAI, tmp_path: Path, store: MortalStore
) -> None:
    channel, clock = EditingChannel(Platform()), QuickClock()
    more = {"ACCESS__ALLOW": "editing:1", "BUDGET__MEMBER_TURNS": "9", "TAPE__URL": "memory:"}
    how: dict[str, Any] = {"clock": clock, "internals": over(store)}
    async with gateway_of(tmp_path, model, Brings(channel), **how, **more) as gateway:
        store.lose_answer(lambda held: "turn.start" in held)
        await channel.host.accept([replace(QUESTION, owner=False, chat_kind="group")])
        entries = await settled(gateway, "editing:1")
        budget = await store.select("ledger.list_usage", USAGE)
        spent = await store.select("ledger.budget", {**SPENDER, "day": budget[0]["latest"]})
        (row,) = await store.select("ledger.list_inbox", {"status": "", "limit": 9})
    assert [names(entries).count(name) for name in ("turn.start", "turn.end")] == [1, 1]
    assert (spent[0]["turns"], row["status"], row["attempts"]) == (1, "done", 1)


SPENDER = {"person": f"editing:{QUESTION.sender.id}", "session_id": "editing:1"}
USAGE = {"by": "day", "since": "", "limit": 9}


@pytest.mark.parametrize("at", ["tool_call", "tool.done"])
async def test_a_turn_goes_on_if_nobody_can_say_whether_an_entry_of_it_was_written(
    model: FakeOpenAI, tmp_path: Path, store: MortalStore, at: str
) -> None:
    channel = EditingChannel(Platform())
    model.enqueue(ToolCalls((Call("c", "tape_info", "{}"),)), Text(("It is so.",)))
    own = gateway_of(
        tmp_path,
        model,
        Brings(channel),
        clock=QuickClock(),
        TAPE__URL="memory:",
        internals=over(store),
    )
    async with own as gateway:
        store.lose_answer(lambda held: at in held, OutcomeUnknown(["editing:1"]))
        await channel.host.accept([QUESTION])
        entries = await settled(gateway, "editing:1")
    assert list(channel.platform.messages.values()) == ["It is so."]
    assert names(entries).count("turn.resume") == 1
    assert names(entries).count("tool_result") == 1


async def test_who_is_refused_gets_the_notice_if_the_database_s_answer_to_that_is_lost(
    model: FakeOpenAI, tmp_path: Path, store: MortalStore
) -> None:
    channel, clock = EditingChannel(Platform()), QuickClock()
    more = {"ACCESS__ALLOW": "editing:1", "BUDGET__MEMBER_TURNS": "1", "TAPE__URL": "memory:"}
    said = replace(QUESTION, owner=False, chat_kind="group")
    how: dict[str, Any] = {"clock": clock, "internals": over(store)}
    async with gateway_of(tmp_path, model, Brings(channel), **how, **more) as gateway:
        owner = AccessRule("editing", "99", "owner", private_chat="p99")
        gateway.parts.requests.openings.access.put(owner)
        store.lose_answer(lambda held: "ledger.refuse_turn" in held)
        for number in ("1", "2"):
            asked = replace(said, ext_id=f"1/{number}", message_id=number)
            await channel.host.accept([asked])
            await settled(gateway, "editing:1")
        sends = await store.select("ledger.open_outbox", {})
    _answer, *notices = channel.platform.messages.values()
    assert sends == []
    assert notices[0] == USED_UP
    assert "has used up today's answers" in notices[1]


class AdmitsOnce:
    """A plugin that drops whatever it is asked about a second time."""

    def __init__(self) -> None:
        self.asked = 0

    @hookimpl
    def admit_message(self) -> str | None:
        self.asked += 1
        return "drop" if self.asked > 1 else None


async def test_a_question_that_was_taken_in_is_asked_though_it_would_now_be_dropped(
    model: FakeOpenAI, tmp_path: Path, store: MortalStore
) -> None:
    channel, clock, admits = EditingChannel(Platform()), QuickClock(), AdmitsOnce()
    plugins = (Brings(channel), admits)
    model.enqueue(Text(("It is so.",)))
    own = gateway_of(
        tmp_path, model, *plugins, clock=clock, TAPE__URL="memory:", internals=over(store)
    )
    async with own as gateway:
        store.lose_answer(lambda held: "ledger.taken_in" in held)
        await channel.host.accept([QUESTION])
        await settled(gateway, "editing:1")
        (row,) = await store.select("ledger.list_inbox", {"status": "", "limit": 9})
    assert (row["status"], admits.asked) == ("done", 1)
    assert list(channel.platform.messages.values()) == ["It is so."]


async def test_what_comes_with_a_held_message_is_taken_in_though_what_is_held_cannot_be_counted(
    model: FakeOpenAI, tmp_path: Path, store: MortalStore
) -> None:
    channel, clock, restored = EditingChannel(Platform()), QuickClock(), Unit()
    hold_all(restored, datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02T00:00:00Z")
    await store.commit(restored)
    edit = replace(QUESTION, kind="edit", ext_id="1/2/edit", message_id="2")
    later = replace(QUESTION, ext_id="1/3", message_id="3", date="2026-01-03T00:00:00+00:00")
    model.enqueue(Text(("It is so.",)))
    own = gateway_of(
        tmp_path, model, Brings(channel), clock=clock, TAPE__URL="memory:", internals=over(store)
    )
    async with own as gateway:
        store.lose_answer(lambda held: "ledger.count_held" in held)
        await channel.host.accept([QUESTION, edit, later])
        await settled(gateway, "editing:1")
        held = gateway.services.ledger.held.messages
    assert list(channel.platform.messages.values()) == ["It is so."]
    assert held == 1
