"""Two gateways over one database share the work: each question is answered once, by one of them."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import psycopg
import pytest

from gateway.app import Gateway
from tape.entry import Entry, event
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of, gateway_process, make_environ, settled, tape_of
from tests.visitor import visit

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]

QUICK = {"SHARING__LEASE": "1.5", "SHARING__KEEP": "0.2"}
KEPT = {"SHARING__LEASE": "600", "SHARING__KEEP": "600"}  # nothing is renewed meanwhile


@asynccontextmanager
async def gateways(
    count: int, folder: Path, url: str, server: FakeOpenAI, **more: str
) -> AsyncIterator[list[Gateway]]:
    """Run gateways over one database, each in a home of its own."""
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(
                gateway_of(
                    folder / f"home-{number}",
                    server,
                    TAPE__URL=url,
                    WORKSPACE=str(folder / "workspace"),
                    **{**QUICK, **more},
                )
            )
            for number in range(count)
        ]
        yield found


async def until(true: Callable[[], Any]) -> None:
    """Wait until something is true."""
    while not true():  # noqa: ASYNC110 - what is waited for is in another task
        await anyio.sleep(0.01)


async def read(gateway: Gateway, room: str) -> list[Entry]:
    return await tape_of(gateway, f"web:{room}").read()


async def answered(gateway: Gateway, room: str, count: int, channel: str = "web") -> list[Entry]:
    """Wait until so many turns of a room have ended; return its tape."""
    while True:
        entries = await tape_of(gateway, f"{channel}:{room}").read()
        if sum(entry.name == "turn.end" for entry in entries) >= count:
            return entries
        await anyio.sleep(0.02)


def by_holder(both: list[Gateway], session: str = "web:lobby") -> list[Gateway]:
    """Return the gateways, the holder of a session first: the quickest may be any of them."""
    return sorted(both, key=lambda one: not one.services.claims.holds(session))


async def test_questions_at_two_gateways_are_answered_once_and_in_order(
    tmp_path: Path, tape_url: str
) -> None:
    async with FakeOpenAI() as server, gateways(2, tmp_path, tape_url, server) as both:
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
    tmp_path: Path, tape_url: str
) -> None:
    claims: list[int] = []
    async with FakeOpenAI() as server, gateways(2, tmp_path, tape_url, server) as both:
        for gateway in both:
            async with visit(gateway.url, "Alice") as (alice,):
                await alice.answer(await alice.say("plum"))
            await until(lambda: not any(one.services.claims.holds("web:lobby") for one in both))
            with psycopg.connect(tape_url) as connection:
                claims += [row[0] for row in connection.execute("SELECT epoch FROM session")]
    assert 0 < claims[0] < claims[1]


async def test_what_one_gateway_accepts_is_answered_by_the_one_that_holds_the_session(
    tmp_path: Path, tape_url: str
) -> None:
    async with (
        FakeOpenAI() as server,
        gateways(2, tmp_path, tape_url, server, SHARING__KEEP="60") as both,
    ):
        async with visit(both[0].url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        first, second = by_holder(both)
        async with visit(second.url, "Bob") as (bob,):
            await bob.say("two")
            await answered(first, "lobby", 2)
        assert first.services.claims.holds("web:lobby")
        assert not second.services.claims.holds("web:lobby")


async def test_a_stop_reaches_the_gateway_that_holds_the_session(
    tmp_path: Path, tape_url: str
) -> None:
    async with FakeOpenAI() as server, gateways(2, tmp_path, tape_url, server) as (first, second):
        server.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
        async with visit(first.url, "Alice") as (alice,), visit(second.url, "Alice") as (again,):
            again.cookie = alice.cookie
            asked = await alice.say("what is it?")
            await alice.draft(asked)
            assert await again.stop()
            assert "Stopped" in (await alice.answer(asked))["text"]


async def test_the_sessions_of_a_gateway_that_was_killed_are_taken_over(
    tmp_path: Path, tape_url: str
) -> None:
    async with FakeOpenAI() as server:
        server.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
        home = tmp_path / "killed" / "home"
        home.parent.mkdir()
        more = {
            **QUICK,
            "SHARING__LEASE": "5",
            "TAPE__URL": tape_url,
            "WORKSPACE": str(tmp_path / "workspace"),
        }
        environ = make_environ(home, server, **more)
        async with gateways(1, tmp_path, tape_url, server, SHARING__LEASE="5") as (other,):
            async with gateway_process(environ, home) as killed:
                room = "lobby"
                while True:
                    async with visit(await killed.url(), "Alice", room=room) as (alice,):
                        asked = await alice.say("what is it?")
                        await alice.draft(asked)
                    if not other.services.claims.holds(f"web:{room}"):
                        break
                    room += "a"  # until the one that is killed is the first to claim it
                    server.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
                await killed.kill()
            entries = await answered(other, room, 1)
            assert [entry.name for entry in entries if entry.name == "turn.resume"] == [
                "turn.resume"
            ]
            assert other.services.claims.holds(f"web:{room}")


async def test_a_gateway_that_lost_a_session_writes_nothing_more(
    tmp_path: Path, tape_url: str
) -> None:
    gate = asyncio.Event()
    async with (
        FakeOpenAI() as server,
        gateways(2, tmp_path, tape_url, server, SHARING__LEASE="600") as both,
    ):
        server.enqueue(Text(("from ", "the first"), gate=gate))
        async with visit(both[0].url, "Alice") as (alice,):
            asked = await alice.say("who answers?")
            await alice.draft(asked)
            first, second = by_holder(both)
            assert first.parts.claimer is not None
            first.parts.claimer.close()  # or it might be the first to claim its own session
            await expire(first)  # as if the first had been frozen for that long
            await until(lambda: second.services.claims.holds("web:lobby"))
            gate.set()
            entries = await answered(second, "lobby", 1)
        ends = [entry for entry in entries if entry.name == "turn.end"]
        assert [end.payload["data"]["status"] for end in ends] == ["done"]


async def test_a_gateway_that_lost_a_session_reads_what_its_new_holder_wrote(
    tmp_path: Path, tape_url: str
) -> None:
    async with (
        FakeOpenAI() as server,
        gateways(2, tmp_path, tape_url, server, **KEPT) as both,
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
        await expire(late)
        await until(lambda: early.services.claims.holds("web:lobby"))
        await bob.say("two")
        entries = await answered(early, "lobby", 2)
        assert (await read(late, "lobby"))[: len(entries)] == entries


async def test_a_holder_sees_what_another_gateway_appends_to_its_tape(
    tmp_path: Path, tape_url: str
) -> None:
    async with (
        FakeOpenAI() as server,
        gateways(2, tmp_path, tape_url, server, **KEPT) as both,
        visit(both[0].url, "Alice") as (alice,),
    ):
        await alice.answer(await alice.say("one"))
        holder, other = by_holder(both)
        entries = await read(holder, "lobby")  # it remembers that
        (added,) = await tape_of(other, "web:lobby").append(event("note", {"by": "the other"}))
        while (await read(holder, "lobby"))[-1] != added:  # noqa: ASYNC110
            await anyio.sleep(0.01)
        await alice.answer(await alice.say("two"))
        assert (await read(holder, "lobby"))[: len(entries) + 1] == [*entries, added]


async def test_a_gateway_that_slept_past_its_lease_goes_on_with_what_nobody_took(
    tmp_path: Path, tape_url: str
) -> None:
    gate = asyncio.Event()
    async with (
        FakeOpenAI() as server,
        gateways(1, tmp_path, tape_url, server, SHARING__LEASE="600") as (first,),
        visit(first.url, "Alice") as (alice,),
    ):
        server.enqueue(Text(("half of ", "it"), gate=gate))
        asked = await alice.say("who answers?")
        await alice.draft(asked)
        await expire(first)
        assert not (await first.services.shared.sessions.claim(16)).claimed  # type: ignore[union-attr]
        gate.set()
        answer = await alice.answer(asked)
        assert answer["text"] == "half of it"
        entries = await answered(first, "lobby", 1)
        assert not [entry for entry in entries if entry.name == "turn.resume"]


async def expire(gateway: Gateway) -> None:
    """End the leases of a gateway, which does not know it."""
    shared = gateway.services.shared
    assert shared is not None
    values = {"owner": shared.held.owner, "seconds": -1.0}
    await gateway.services.store.select("sharing.renew", values)
