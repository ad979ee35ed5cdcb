"""What one gateway asks of the sessions that another one holds, or may no longer hold."""

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from structlog.testing import capture_logs

from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.scheduling.notices import GIVEN_UP
from gateway.storage.ledger.ledger import MAX_CRASHES
from tape.unit_of_work import Unit
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import tape_of
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.scenarios.shared import (
    KEPT,
    answered,
    by_holder,
    expire,
    gateways,
    overtake,
    row_of,
    said,
    until,
)

pytestmark = pytest.mark.postgresql


async def test_what_a_holder_is_asked_is_not_hidden_by_messages_that_come_with_it(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        async with visit(both[0].url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        first, second = by_holder(both)
        shared, unit = second.services.shared, Unit()
        assert shared is not None
        two = [said("two", 2), said("three", 3)]
        second.services.ledger.inbox.write(unit, two, None, ["web:lobby", "web:lobby"])
        step = shared.controls.add(unit, "web:lobby", "nothing known", "operator", {})
        number = (await second.services.store.commit(unit))[step].rows[0]["id"]
        await answered(first, "lobby", 2)
        await carried_out(second, number)


async def test_a_claim_whose_answer_was_lost_is_found_with_the_next_renewal(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(1, tmp_path, tape_url, model) as (only,):
        shared, claimer = only.services.shared, only.parts.claimer
        assert shared is not None
        assert claimer is not None
        claimer.close()
        async with visit(only.url, "Alice") as (alice,):
            asked = await alice.say("who answers?")
            assert len((await shared.sessions.claim(1)).claimed) == 1  # and nobody hears of it
            assert (await alice.answer(asked))["text"]


async def carried_out(gateway: Gateway, number: int) -> None:
    """Wait until the holder of a session has answered a control."""
    store = gateway.services.store
    patience = Patience("the answer is in the database")
    while (await store.select("sharing.control_answer", {"id": number}))[0]["answer"] is None:
        await patience.pause()  # the answer is in the database


async def test_a_dead_question_is_retried_by_its_holder_when_another_gateway_is_asked(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        model.enqueue(Text(("never ", "said"), gate=asyncio.Event()))
        async with visit(both[0].url, "Alice") as (alice,):
            asked = await alice.say("what is it?")
            await alice.draft(asked)
            first, second = by_holder(both)
            waits = await alice.say("and this?")
            admin = LedgerAdmin(second.services, second.parts.recovery)
            row = await row_of(admin, "waiting")
            assert await admin.drop(row) == f"{row} is dropped"
            await alice.stop()
            await alice.answer(asked)
            await answered(first, "lobby", 1)
            assert await admin.retry(row) == f"{row} will be answered again in web:lobby"
            assert (await alice.answer(waits))["text"]
        assert len(await answered(first, "lobby", 2)) > 0
        assert not second.services.claims.holds("web:lobby")


async def test_a_chat_is_erased_by_its_holder_when_another_gateway_is_asked(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        gate = asyncio.Event()
        model.enqueue(Text(("a secret ", "answer"), gate=gate))
        async with visit(both[0].url, "Alice") as (alice,):
            asked = await alice.say("keep my secret")
            await alice.draft(asked)
            first, second = by_holder(both)
            tape = tape_of(second, "web:lobby").name
            erasing = EraseAdmin(second.services, second.parts.eraser)
            name = (await erasing.begin("chat", tape, ""))["erasure"]
            patience = Patience("the erasure is done")
            while (await erasing.state(name))["state"] != "done":
                await patience.pause()
        entries = await tape_of(second, "web:lobby").read()
        assert not [entry for entry in entries if "secret" in str((entry.payload, entry.meta))]
        assert first.services.claims.holds("web:lobby")


async def test_an_edit_that_another_gateway_accepts_changes_the_question_that_waits(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        gate = asyncio.Event()
        model.enqueue(Text(("one ", "answer"), gate=gate), Text(("two",)))
        await both[0].parts.intake.accept([said("one", 1)])
        await row_of(LedgerAdmin(both[0].services, None), "taken")
        first, second = by_holder(both)
        await first.parts.intake.accept([said("two", 2), said("three", 3)])
        edit = replace(said("two, edited", 2), kind="edit", ext_id="lobby/m2/edit")
        gone = replace(said("", 3), kind="delete", ext_id="lobby/m3/delete")
        await second.parts.intake.accept([edit, gone])
        admin = LedgerAdmin(second.services, None)
        await row_of(admin, "dropped")
        gate.set()
        await answered(second, "lobby", 2)
        asked = str(model.requests[-1])
        assert "two, edited" in asked
        assert "three" not in asked


async def test_a_turn_that_ran_in_two_lost_holders_runs_alone_and_others_are_served_meanwhile(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as both:
        gate = asyncio.Event()
        model.enqueue(*[Text((f"attempt {number}", "..."), gate=gate) for number in (1, 2)])
        async with visit(both[0].url, "Alice") as (alice,):
            await alice.draft(await alice.say("what is it?"))
            first, second = by_holder(both)
            await overtake(first, second)
            await until(lambda: len(model.requests) == 2)
            await expire(second)
            async with visit(second.url, "Bob", room="green") as (bob,):
                assert (await bob.answer(await bob.say("and here?")))["text"]
            entries = await answered(first, "lobby", 1)
        resumed = [entry.payload["data"] for entry in entries if entry.name == "turn.resume"]
        assert [data["attempt"] for data in resumed] == [2, 3]


async def occupied(gateway: Gateway, server: FakeOpenAI, gate: asyncio.Event) -> str:
    """Keep a gateway busy with an answer in a room until the gate opens; return the room."""
    room = secrets.token_hex(4)
    while not gateway.services.claims.holds(f"web:{room}"):
        room += "a"  # until it is the first to claim it
        server.enqueue(Text(("half of ", "it"), gate=gate))
        async with visit(gateway.url, "Carol", room=room) as (carol,):
            await carol.draft(await carol.say("what is it?"))
    return room


async def test_a_gateway_that_ends_hands_its_turns_over_at_once_and_without_a_crash(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(1, tmp_path / "a", tape_url, model, **KEPT) as (stays,):
        async with gateways(1, tmp_path / "b", tape_url, model, **KEPT) as (ends,):
            room = await occupied(ends, model, asyncio.Event())
        await answered(stays, room, 1)
        admin = LedgerAdmin(stays.services, None)
        shown = await admin.show(await row_of(admin, "done"))
        assert (shown["attempts"], shown["crashes"]) == (1, 0)


async def test_a_gateway_that_lost_a_turn_and_ends_does_not_hand_it_over(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    gate = asyncio.Event()
    async with gateways(1, tmp_path / "a", tape_url, model, **KEPT) as one:
        async with gateways(1, tmp_path / "b", tape_url, model, **KEPT) as (ends,):
            room = await occupied(ends, model, asyncio.Event())
            assert ends.parts.claimer is not None
            ends.parts.claimer.close()
            model.enqueue(Text(("at ", "last"), gate=gate))
            asked = len(model.requests)
            await expire(ends)  # as if it had been frozen for that long
            await until(lambda: len(model.requests) > asked)
            assert one[0].services.claims.holds(f"web:{room}")
        rows = await one[0].services.ledger.inbox.open_rows()
        found = [(row.status, row.attempts) for row in rows if row.session_id == f"web:{room}"]
        assert found == [("taken", 2)]
        gate.set()
        await answered(one[0], room, 1)


async def test_a_suspect_waits_for_a_gateway_that_has_drained_and_is_given_up_at_last(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    gate = asyncio.Event()
    more = {**KEPT, "SHARING__KEEP": "0.2"}
    async with gateways(2, tmp_path, tape_url, model, **more) as both:
        # The second gateway takes it over: only that one has known from its start of the other.
        poison = await occupied(both[0], model, gate)
        async with visit(both[0].url, "Alice", room=poison) as (alice,):
            busy = [await occupied(one, model, gate) for one in both]
            async with await psycopg.AsyncConnection.connect(tape_url, autocommit=True) as database:
                await database.execute(
                    "UPDATE inbox SET crashes = %s WHERE session_id = %s",
                    [MAX_CRASHES - 1, f"web:{poison}"],
                )
                lost = "UPDATE session SET lease_until = '' WHERE session_id = %s"
                await database.execute(lost, [f"web:{poison}"])
            store = both[0].services.store
            patience = Patience("a suspect waits")
            while not (await store.select("sharing.suspects", {}))[0]["waiting"]:
                await patience.pause()
            async with visit(both[0].url, "Bob", room="red") as (bob,):
                assert (await bob.answer(await bob.say("and here?")))["text"]
            assert (await store.select("sharing.suspects", {}))[0]["waiting"] == 1
            gate.set()
            for room in busy:
                await answered(both[0], room, 1)
            await alice.until(lambda one: one.get("message", {}).get("text") == GIVEN_UP)
        admin = LedgerAdmin(both[0].services, None)
        assert (await admin.show(await row_of(admin, "dead")))[
            "why"
        ] == "it was running in 5 crashes"


async def test_what_a_holder_is_asked_waits_for_the_database_with_no_more_than_a_line(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    add = (
        "INSERT INTO control (session_id, op, asked_by, data, asked_at)"
        " VALUES ('web:lobby', 'nothing known', 'operator', '{}', '') RETURNING id"
    )
    waits = "SELECT pid FROM pg_locks WHERE NOT granted AND relation = 'control'::regclass"
    async with (
        gateways(1, tmp_path, tape_url, model, **KEPT) as (only,),
        await psycopg.AsyncConnection.connect(tape_url, autocommit=True) as database,
        await psycopg.AsyncConnection.connect(tape_url, autocommit=True) as hinting,
    ):
        async with visit(only.url, "Alice") as (alice,):
            await alice.answer(await alice.say("one"))
        row = await (await database.execute(add)).fetchone()
        assert row is not None
        with capture_logs() as logs:
            async with database.transaction():
                await database.execute("LOCK TABLE control")
                await hinting.execute("UPDATE session SET arrived = arrived + 1, asked = asked + 1")
                patience = Patience("the other process waits for the lock")
                while not (found := await (await database.execute(waits)).fetchall()):
                    await patience.pause()
                await database.execute("SELECT pg_terminate_backend(%s, 5000)", found[0])
                await until(lambda: [one for one in logs if one["event"] == "sharing.later"])
            await carried_out(only, int(row[0]))
        assert [one["event"] for one in logs if "exc_info" in one] == []


async def test_a_session_that_cannot_be_worked_on_keeps_no_other_waiting(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    two = [replace(said(f"{n}", n), chat_id="broken", ext_id=f"broken/{n}") for n in (1, 2)]
    async with gateways(1, tmp_path, tape_url, model, SHARING__ROLE="ingress") as (door,):
        await door.parts.intake.accept([*two, said("hi", 3)])
    with psycopg.connect(tape_url, autocommit=True) as connection:
        connection.execute("""UPDATE inbox SET status = 'waiting',
                payload = jsonb_set(payload::jsonb, '{date}', '"never"')::text
                WHERE session_id = 'web:broken'""")
    with capture_logs() as logs:
        async with gateways(1, tmp_path, tape_url, model, **KEPT) as (only,):
            await answered(only, "lobby", 1)
    assert [one["event"] for one in logs if one["log_level"] == "error"] == ["sharing.failed"]
