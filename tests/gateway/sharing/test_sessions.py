"""Which process may claim which session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest
from anyio import to_thread

from gateway.sharing.schema import sharing_schema
from gateway.sharing.sessions import SessionTable
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Unit
from tests.clock import ManualClock
from tests.postgres import fresh_database

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]


@pytest.fixture
async def tables() -> AsyncIterator[list[SessionTable]]:
    """The sessions as three processes see them whose leases end at once; one session is ready."""
    schemas = [ledger_schema("postgres"), sharing_schema()]
    with fresh_database() as url:
        store = await to_thread.run_sync(partial(PostgresStore.open, url, schemas))
        inbox = Ledger(store, ManualClock(), "aa").inbox
        unit = Unit()
        unit.run("sharing.arrive", session_id="web:lobby", tape="t", asked=0)
        await store.commit(unit)
        yield [SessionTable(store, inbox, owner, 0.0) for owner in ("aa", "bb", "cc")]
        await store.close()


async def test_a_session_with_a_suspect_waits_for_a_process_that_asks_for_it(
    tables: list[SessionTable],
) -> None:
    first, second, _third = tables
    await first.claim(1)
    await first.set_aside("web:lobby")
    assert not (await second.claim(1)).claimed
    assert await second.suspects() == 1
    assert len((await second.claim(1, suspect=True)).claimed) == 1
    assert await second.suspects() == 0


async def test_a_session_whose_suspect_was_taken_up_is_claimed_as_any_other_when_its_holder_is_lost(
    tables: list[SessionTable],
) -> None:
    first, second, third = tables
    await first.claim(1)
    await first.set_aside("web:lobby")
    await second.claim(1, suspect=True)
    assert [one.was for one in (await third.claim(1)).claimed] == ["bb"]
