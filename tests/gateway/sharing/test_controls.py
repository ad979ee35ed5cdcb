"""What a process asks of the holder of a session, and what is left of that in the database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any

import psycopg
import pytest
from anyio import to_thread

from gateway.sharing.controls import Controls
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.postgres.store import PostgresStore
from tests.kit.clock import ManualClock
from tests.postgres import owned_database

pytestmark = pytest.mark.postgresql

PERSON = {"person": "70017100270"}


@pytest.fixture
async def url() -> AsyncIterator[str]:
    with owned_database() as made:
        yield made


@pytest.fixture
async def controls(url: str) -> AsyncIterator[Controls]:
    schemas = [ledger_schema("postgres"), sharing_schema()]
    store = await to_thread.run_sync(partial(PostgresStore.open, url, schemas))
    yield Controls(store, ManualClock())
    await store.close()


def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


async def test_what_was_asked_goes_with_its_answer(url: str, controls: Controls) -> None:
    async def do(_session: str, data: Mapping[str, Any]) -> str:
        return f"done for {len(data)}"

    controls.on("forget", do)
    number = await controls.ask("web:lobby", "forget", "70017100270", PERSON)
    await controls.carry_out(["web:lobby"])
    assert await controls.answer(number) == "done for 1"
    assert rows(url, "SELECT asked_by, data FROM control") == [("", "{}")]


async def test_answers_are_kept_for_an_hour_and_questions_until_they_are_answered(
    url: str, controls: Controls
) -> None:
    await controls.ask("web:lobby", "first", "person", PERSON)
    await controls.carry_out(["web:lobby"])
    await controls.ask("web:lobby", "second", "person", PERSON)
    rows(url, "UPDATE control SET asked_at = '2026-01-02'")
    await controls.forget_old()
    assert rows(url, "SELECT op FROM control ORDER BY id") == [("first",), ("second",)]
    rows(url, "UPDATE control SET answered_at = '2026-01-02' WHERE answer IS NOT NULL")
    await controls.forget_old()
    assert rows(url, "SELECT op FROM control") == [("second",)]


async def test_nobody_waits_for_the_answer_to_a_control_that_is_forgotten(
    url: str, controls: Controls
) -> None:
    number = await controls.ask("web:lobby", "first", "person", PERSON)
    assert await controls.has(number)
    rows(url, "DELETE FROM control")
    assert await controls.answer(number) is None
    assert not await controls.has(number)


async def test_what_is_asked_after_the_open_rows_were_read_is_carried_out(
    controls: Controls,
) -> None:
    done: list[Any] = []

    async def do(_session: str, data: Mapping[str, Any]) -> None:
        done.append(data["id"])

    controls.on("again", do)
    read = await controls.ask("web:lobby", "again", "operator", {"id": 1})
    await controls.ask("web:lobby", "again", "operator", {"id": 2})
    await controls.carry_out(["web:lobby"], done=("again",), up_to=read)
    assert done == [2]
