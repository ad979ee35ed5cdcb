"""Two gateways over one database share the work: each question is answered once, by one of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from gateway.app import Gateway
from tape.entry import Entry, event
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ, settled, tape_of
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.scenarios.shared import (
    KEPT,
    QUICK,
    answered,
    by_holder,
    expire,
    gateways,
    overtake,
    until,
)

pytestmark = pytest.mark.postgresql


async def read(gateway: Gateway, room: str) -> list[Entry]:
    return await tape_of(gateway, f"web:{room}").read()


async def test_questions_at_two_gateways_are_answered_once_and_in_order(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model) as both:
        for number in range(6):
            for room in ("red", "green", "blue"):
                at = both[(number + len(room)) % 2]
                async with visit(at.url, "Alice", room=room) as (alice,):
                    await alice.say(f"question {number}")
        for room in ("red", "green", "blue"):
            entries = await answered(both[0], room, 6)
            said = [entry.meta["text"] for entry in entries if "inbox" in entry.meta]
            assert said == [f"question {number}" for number in range(6)]
            ends = Counter(
                entry.payload["data"]["status"] for entry in entries if entry.name == "turn.end"
            )
            assert ends == {"done": 6}


async def test_a_session_is_given_back_when_it_has_nothing_to_do(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    claims: list[int] = []
    async with gateways(2, tmp_path, tape_url, model) as both:
        for gateway in both:
            async with visit(gateway.url, "Alice") as (alice,):
                await alice.answer(await alice.say("plum"))
            await until(lambda: not any(one.services.claims.holds("web:lobby") for one in both))
            with psycopg.connect(tape_url) as connection:
                claims += [row[0] for row in connection.execute("SELECT epoch FROM session")]
    assert 0 < claims[0] < claims[1]


async def test_what_one_gateway_accepts_is_answered_by_the_one_that_holds_the_session(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, SHARING__KEEP="60") as both:
        async with visit(both[0].url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        first, second = by_holder(both)
        async with visit(second.url, "Bob") as (bob,):
            await bob.say("two")
            await answered(first, "lobby", 2)
        assert first.services.claims.holds("web:lobby")
        assert not second.services.claims.holds("web:lobby")


async def test_a_stop_reaches_the_gateway_that_holds_the_session(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model) as (first, second):
        model.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
        async with visit(first.url, "Alice") as (alice,), visit(second.url, "Alice") as (again,):
            again.cookie = alice.cookie
            asked = await alice.say("what is it?")
            await alice.draft(asked)
            assert await again.stop()
            assert "Stopped" in (await alice.answer(asked))["text"]


async def test_the_sessions_of_a_gateway_that_was_killed_are_taken_over(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    model.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
    home = tmp_path / "killed" / "home"
    home.parent.mkdir()
    more = {
        **QUICK,
        "SHARING__LEASE": "5",
        "TAPE__URL": tape_url,
        "WORKSPACE": str(tmp_path / "workspace"),
    }
    environ = make_environ(home, model, **more)
    async with gateways(1, tmp_path, tape_url, model, SHARING__LEASE="5") as (other,):
        async with gateway_process(environ, home) as killed:
            room = "lobby"
            while True:
                async with visit(await killed.url(), "Alice", room=room) as (alice,):
                    asked = await alice.say("what is it?")
                    await alice.draft(asked)
                if not other.services.claims.holds(f"web:{room}"):
                    break
                room += "a"  # until the one that is killed is the first to claim it
                model.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
            await killed.kill()
        entries = await answered(other, room, 1)
        assert [entry.name for entry in entries if entry.name == "turn.resume"] == ["turn.resume"]
        assert other.services.claims.holds(f"web:{room}")


async def test_a_gateway_that_lost_a_session_writes_nothing_more(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    gate = asyncio.Event()
    async with gateways(2, tmp_path, tape_url, model, SHARING__LEASE="600") as both:
        model.enqueue(Text(("from ", "the first"), gate=gate))
        async with visit(both[0].url, "Alice") as (alice,):
            asked = await alice.say("who answers?")
            await alice.draft(asked)
            first, second = by_holder(both)
            assert first.parts.claimer is not None
            first.parts.claimer.close()  # or it might be the first to claim its own session
            await overtake(first, second)  # as if the first had been frozen for that long
            gate.set()
            entries = await answered(second, "lobby", 1)
        ends = [entry for entry in entries if entry.name == "turn.end"]
        assert [end.payload["data"]["status"] for end in ends] == ["done"]


async def test_a_gateway_that_lost_a_session_reads_what_its_new_holder_wrote(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with (
        gateways(2, tmp_path, tape_url, model, **KEPT) as both,
        visit(both[0].url, "Alice") as (alice,),
        visit(both[1].url, "Bob") as (bob,),
    ):
        await alice.answer(await alice.say("one"))
        late, early = by_holder(both)
        assert late.services.shared is not None
        assert late.parts.claimer is not None
        entries = await settled(late)  # it remembers that, and has nothing to append
        assert await read(early, "lobby") == entries
        late.parts.claimer.close()
        late.services.shared.held.by_id["web:lobby"].until = 0  # it was frozen for that long
        await overtake(late, early)
        await bob.say("two")
        entries = await answered(early, "lobby", 2)
        assert (await read(late, "lobby"))[: len(entries)] == entries


async def test_a_holder_sees_what_another_gateway_appends_to_its_tape(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with (
        gateways(2, tmp_path, tape_url, model, **KEPT) as both,
        visit(both[0].url, "Alice") as (alice,),
    ):
        await alice.answer(await alice.say("one"))
        holder, other = by_holder(both)
        entries = await read(holder, "lobby")  # it remembers that
        (added,) = await tape_of(other, "web:lobby").append(event("note", {"by": "the other"}))
        patience = Patience("the holder has heard of the entry")
        while (await read(holder, "lobby"))[-1] != added:
            await patience.pause()
        await alice.answer(await alice.say("two"))
        assert (await read(holder, "lobby"))[: len(entries) + 1] == [*entries, added]


async def test_a_gateway_that_slept_past_its_lease_goes_on_with_what_nobody_took(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    gate = asyncio.Event()
    async with (
        gateways(1, tmp_path, tape_url, model, SHARING__LEASE="600") as (first,),
        visit(first.url, "Alice") as (alice,),
    ):
        model.enqueue(Text(("half of ", "it"), gate=gate))
        asked = await alice.say("who answers?")
        await alice.draft(asked)
        await expire(first)
        assert not (await first.services.shared.sessions.claim(16)).claimed  # type: ignore[union-attr]
        gate.set()
        answer = await alice.answer(asked)
        assert answer["text"] == "half of it"
        entries = await answered(first, "lobby", 1)
        assert not [entry for entry in entries if entry.name == "turn.resume"]
