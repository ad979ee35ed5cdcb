"""The gateway's store and bus behind PgBouncer with transaction pooling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import aclosing
from functools import partial

import anyio
import pytest
from anyio import to_thread

from gateway.doctor.checks.server import look_at_listening
from gateway.doctor.server_troubles import DEAF
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.errors import StoreUnusable
from tape.query import Query
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Unit
from tests.fakes.pgbouncer import NEEDED, pgbouncer
from tests.postgres import fresh_database

pytestmark = [pytest.mark.postgresql, NEEDED]

SCHEMAS = [ledger_schema("postgres"), sharing_schema()]


@pytest.fixture
def pooled() -> Iterator[str]:
    with fresh_database() as url, pgbouncer(url) as there:
        yield there


async def test_units_side_by_side_work_though_each_may_get_another_connection(pooled: str) -> None:
    store = await to_thread.run_sync(partial(PostgresStore.open, pooled, SCHEMAS))

    async def talk(tape: str) -> None:
        for number in range(20):
            unit = Unit()
            unit.append(tape, [message("user", f"{tape} {number}")], f"{tape} {number}")
            unit.run("ledger.move_cursor", account_id="a", chat_id=tape, value=str(number))
            await store.commit(unit)

    async with anyio.create_task_group() as group:
        for name in "abcdefghij":
            group.start_soon(talk, name)
    for name in "abcdefghij":
        said = [entry.text for entry in await store.query(Query(name, kinds=("message",)))]
        assert said == [f"{name} {number}" for number in range(20)]
    assert len(await store.select("ledger.marks", {"channel": "a"})) == 10
    await store.close()


async def test_nothing_is_listened_to_through_the_pooler(pooled: str) -> None:
    store = await to_thread.run_sync(partial(PostgresStore.open, pooled, SCHEMAS))
    with pytest.raises(StoreUnusable, match="TAPEWAY_SHARING__LISTEN_URL"):
        await anext(store.listen("", ["tapeway_ready"]))
    with pytest.raises(StoreUnusable, match="TAPEWAY_SHARING__LISTEN_URL"):
        await anext(store.listen(pooled, ["tapeway_ready"]))
    await store.close()


async def test_listening_beside_the_pooler_is_at_the_same_database_and_at_no_other() -> None:
    with fresh_database() as url, fresh_database() as other, pgbouncer(url) as there:
        store = await to_thread.run_sync(partial(PostgresStore.open, there, SCHEMAS))
        with pytest.raises(StoreUnusable, match="names another database than TAPEWAY_TAPE__URL"):
            await anext(store.listen(other, ["tapeway_ready"]))
        async with aclosing(store.listen(url, ["tapeway_ready"])) as heard:
            assert await anext(heard) == ("", "")
            values = {"channels": '["tapeway_ready"]', "payloads": '["7"]'}
            await store.select("sharing.notify", values)
            assert await anext(heard) == ("tapeway_ready", "7")
        await store.close()


@pytest.mark.parametrize("wrong", ["pooler", "other", "away", "unreadable"])
def test_doctor_says_why_nothing_would_be_heard(wrong: str) -> None:
    with fresh_database() as url, fresh_database() as other, pgbouncer(url) as there:
        away = "postgresql://127.0.0.1:1/tapeway"
        at = {"pooler": there, "other": other, "away": away, "unreadable": "postgresql://[x/"}
        assert [one.trouble for one in look_at_listening(there, url)] == [None]
        (found,) = look_at_listening(there, at[wrong])
    assert found.trouble is DEAF
    assert "TAPEWAY_SHARING__LISTEN_URL" in found.says or wrong in ("away", "pooler")
