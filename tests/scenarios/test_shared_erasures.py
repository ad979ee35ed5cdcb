"""What one of several processes does for all, and finds of those that have ended."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.app import Gateway
from gateway.storage.erasures import Erasure
from tape.unit_of_work import Unit
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import every, tape_of
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.postgres import owned_database
from tests.scenarios.shared import KEPT, gateways, until

pytestmark = pytest.mark.postgresql


def lobby(gateway: Gateway) -> Erasure:
    """The erasure of what was said in a room."""
    tape = tape_of(gateway, "web:lobby").name
    return Erasure("e", what="chat", asked_by="operator", tape=tape)


async def done(gateway: Gateway) -> None:
    """Wait until the erasure is done, and nothing that was said is left."""
    patience = Patience("the erasure is done")
    while [row["state"] for row in await gateway.services.ledger.erasures.read()] != ["done"]:
        await patience.pause()
    entries = await tape_of(gateway, "web:lobby").read()
    assert not [entry for entry in entries if "secret" in str((entry.payload, entry.meta))]


@pytest.mark.parametrize("cut_off", ["open", "purging"])
async def test_what_a_process_that_has_ended_was_erasing_is_finished_by_another(
    tmp_path: Path, cut_off: str
) -> None:
    how: dict[str, Any] = {**KEPT, "internals": every(chores=0.05)}
    with owned_database() as url:
        async with FakeOpenAI() as server, gateways(2, tmp_path, url, server, **how) as both:
            async with visit(both[0].url, "Alice") as (alice,):
                words = "my secret" if cut_off == "open" else "hi"
                await alice.answer(await alice.say(words))
            one, unit = both[1].services, Unit()
            one.ledger.erasures.begin(unit, lobby(both[1]))
            await one.store.commit(unit)
            if cut_off == "purging":
                await one.ledger.erasures.end("e", 0, [])
            await done(both[1])


async def test_what_another_process_is_erasing_is_left_to_it_while_it_lives(tmp_path: Path) -> None:
    with owned_database() as url:
        async with FakeOpenAI() as server, gateways(2, tmp_path, url, server, **KEPT) as both:
            first, second = (one.services.shared for one in both)
            assert first is not None
            assert second is not None
            unit = Unit()
            both[0].parts.eraser.prepare(unit, what="chat", asked_by="operator", tape="t")
            await both[0].services.store.commit(unit)
            assert await second.workers.take_erasures(own=True) == []
            await first.workers.end()
            (taken,) = await second.workers.take_erasures(own=False)
            assert taken["state"] == "open"
            assert await second.workers.take_erasures(own=False) == []
            assert len(await second.workers.take_erasures(own=True)) == 1


async def test_an_erasure_that_failed_goes_on_by_itself(tmp_path: Path) -> None:
    how: dict[str, Any] = {**KEPT, "internals": every(failed_erasure=0.05)}
    with owned_database() as url, psycopg.connect(url, autocommit=True) as connection:
        async with FakeOpenAI() as server, gateways(1, tmp_path, url, server, **how) as (only,):
            async with visit(only.url, "Alice") as (alice,):
                await alice.answer(await alice.say("my secret"))
            connection.execute("ALTER TABLE usage RENAME TO lost")
            own = only.parts.eraser
            name = await own.begin(what="chat", asked_by="operator", tape=lobby(only).tape)
            patience = Patience("the erasure has met its problem")
            while name not in own.problems:
                await patience.pause()
            connection.execute("ALTER TABLE lost RENAME TO usage")
            await done(only)


async def test_an_answer_that_is_forgotten_before_it_was_read_is_asked_for_once_more(
    tmp_path: Path, tape_url: str
) -> None:
    with psycopg.connect(tape_url, autocommit=True) as connection:

        def asked() -> list[int]:
            return [row[0] for row in connection.execute("SELECT id FROM control")]

        async with FakeOpenAI() as server, gateways(1, tmp_path, tape_url, server) as (only,):
            async with visit(only.url, "Alice") as (alice,):
                await alice.answer(await alice.say("my secret"))
            await until(lambda: not only.services.claims.holds("web:lobby"))
            connection.execute("UPDATE session SET owner = 'another', lease_until = utc_after(99)")
            own = only.parts.eraser
            await own.begin(what="chat", asked_by="operator", tape=lobby(only).tape)
            await until(asked)
            (first,) = asked()
            connection.execute("DELETE FROM control")  # as chores do an hour after the answer
            await until(asked)
            assert asked() > [first]
            connection.execute("UPDATE session SET lease_until = ''")
            await done(only)


async def test_old_messages_are_looked_for_and_folded_by_who_has_the_chores_and_nobody_else(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    more = {"TAPE__KEEP_DAYS": '{"*": 30}', "SHARING__POLLER_LEASE": "0.6", **KEPT}

    def at_work() -> set[str]:
        return {task.get_name() for task in asyncio.all_tasks()} & {"retention", "folding"}

    async with gateways(1, tmp_path, tape_url, model, **more):
        await until(lambda: at_work() == {"retention", "folding"})
        with psycopg.connect(tape_url, autocommit=True) as connection:
            connection.execute(
                "UPDATE poller SET owner = 'another', lease_until = utc_after(99)"
                " WHERE name = 'chores'"
            )
        await until(lambda: not at_work())
