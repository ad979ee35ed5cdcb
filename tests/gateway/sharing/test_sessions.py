"""Which process may claim which session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial

import pytest
from anyio import to_thread

from gateway.sharing.bus import READY, channel_of
from gateway.sharing.fencing import Arrival
from gateway.sharing.schema import sharing_schema
from gateway.sharing.sessions import SessionTable
from gateway.storage.ledger.inbox import Inbox
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.ledger.testing import SAID
from tape.entry import dump
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Unit
from tests.clock import ManualClock
from tests.postgres import fresh_database

pytestmark = [pytest.mark.anyio, pytest.mark.postgresql]


@dataclass(frozen=True)
class Tables:
    """The sessions as three processes see them, each with leases that end at once."""

    store: PostgresStore
    inbox: Inbox

    def of(self, owner: str) -> SessionTable:
        return SessionTable(self.store, self.inbox, owner, 0.0)

    async def accept(self, *, works: bool, by: str = "zz", number: int = 1) -> list[Arrival]:
        said = replace(SAID, ext_id=f"1/{number}", message_id=str(number))
        places = [("web:lobby", "t")]
        return (await self.of(by).accept([said], None, places, works=works))[1]


@pytest.fixture
async def shared() -> AsyncIterator[Tables]:
    """A database in which one session is ready."""
    schemas = [ledger_schema("postgres"), sharing_schema()]
    with fresh_database() as url:
        store = await to_thread.run_sync(partial(PostgresStore.open, url, schemas))
        unit = Unit()
        unit.run("sharing.arrive", session_id="web:lobby", tape="t", asked=0)
        await store.commit(unit)
        yield Tables(store, Ledger(store, ManualClock(), "aa").inbox)
        await store.close()


@pytest.fixture
def tables(shared: Tables) -> list[SessionTable]:
    return [shared.of(owner) for owner in ("aa", "bb", "cc")]


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


async def heard_of(shared: Tables, accept: Callable[[], Awaitable[object]]) -> list[str]:
    """What the processes `aa` and `bb`, and those that are free, hear of an acceptance."""
    channels = [channel_of(one) for one in ("aa", "bb", READY)]
    heard: list[str] = []
    async with aclosing(shared.store.listen("", [*channels, "end"])) as notifications:
        async for channel, payload in notifications:
            if channel == "end":
                break
            if channel:
                heard.append(f"{channel} {payload}")
                continue
            await accept()
            pairs = {"channels": dump(["end"]), "payloads": dump([""])}
            await shared.store.select("sharing.notify", pairs)
    return heard


async def test_whoever_holds_a_session_is_woken_when_others_accept_a_message_for_it(
    shared: Tables,
) -> None:
    (claimed,) = (await shared.of("aa").claim(1)).claimed
    heard = await heard_of(shared, lambda: shared.accept(works=False))
    assert heard == [f"tapeway_aa {claimed.held.number}"]


async def test_nobody_is_woken_for_a_session_that_the_accepting_process_holds(
    shared: Tables,
) -> None:
    await shared.of("aa").claim(1)
    assert await heard_of(shared, lambda: shared.accept(works=True, by="aa")) == []


@pytest.mark.parametrize(("works", "heard"), [(False, ["tapeway_ready "]), (True, [])])
async def test_for_a_session_that_nobody_holds_others_are_woken_unless_the_process_works_itself(
    shared: Tables, works: bool, heard: list[str]
) -> None:
    assert await heard_of(shared, lambda: shared.accept(works=works)) == heard


async def test_a_message_is_accepted_even_if_nobody_could_be_woken(shared: Tables) -> None:
    await shared.of("a" * 70).claim(1)  # no channel may have such a name
    assert [one.arrived for one in await shared.accept(works=False)] == [2]
    assert [one.arrived for one in await shared.accept(works=False, number=2)] == [3]
    rows = (await shared.of("aa").open_work(["web:lobby"])).rows
    assert [row.message.message_id for row in rows] == ["1", "2"]
