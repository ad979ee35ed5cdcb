"""Which process may claim which session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import anyio
import psycopg
import pytest
from anyio import to_thread

from gateway.sharing.bus import READY, channel_of
from gateway.sharing.fencing import Arrival
from gateway.sharing.schema import sharing_schema
from gateway.sharing.sessions import SessionTable
from gateway.sharing.workers import Role, WorkerTable
from gateway.storage.ledger.inbox import Inbox
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.ledger.people import PeopleTable
from gateway.storage.waiting import MAX_READ
from tape.entry import dump
from tape.stores.postgres.binding import bound, driver_sql
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import Run, Unit
from tests.contracts.ledger_checks import SAID
from tests.kit.clock import ManualClock
from tests.postgres import fresh_database

pytestmark = pytest.mark.postgresql

STATEMENTS: Final = {**ledger_schema("postgres").statements, **sharing_schema().statements}
A_SEND: Final = """INSERT INTO outbox (account_id, chat_id, session_id, turn_id, part, idem, op,
    payload, status) VALUES ('web', 'lobby', 'web:lobby', 't', 0, 'i', 'send', '{}', 'pending')"""
AWAITED: Final = """SELECT count(*) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND datname = current_database()"""


@dataclass(frozen=True)
class Tables:
    """The sessions as three processes see them, each with leases that end at once."""

    url: str
    store: PostgresStore
    inbox: Inbox

    def of(self, owner: str) -> SessionTable:
        return SessionTable(self.store, self.inbox, owner, 0.0)

    def accepting(self) -> Unit:
        """What accepts a message."""
        unit = Unit()
        unit.run("sharing.arrive", session_id="web:lobby", tape="t", asked=0, asks=0)
        self.inbox.write(unit, [SAID], None, ["web:lobby"])
        return unit

    async def write(self, statement: str) -> None:
        """Change the database by hand."""
        async with await psycopg.AsyncConnection.connect(self.url) as connection:
            await connection.execute(statement.encode())

    @asynccontextmanager
    async def in_flight(self, unit: Unit, last: str = "SELECT 1") -> AsyncIterator[None]:
        """Run a unit, and once somebody waits for it, a last statement and the commit."""
        connect = partial(psycopg.AsyncConnection.connect, self.url)
        async with await connect() as own, await connect(autocommit=True) as other:

            async def commit() -> None:
                while (await (await other.execute(AWAITED)).fetchone()) == (0,):
                    pass
                await own.execute(last.encode())
                await own.commit()

            await run_steps(own, unit)
            async with anyio.create_task_group() as group:
                group.start_soon(commit)
                yield

    @asynccontextmanager
    async def cut_off(self, unit: Unit) -> AsyncIterator[None]:
        """Run a unit whose commit does not come."""
        async with await psycopg.AsyncConnection.connect(self.url) as own:
            await run_steps(own, unit)
            yield
            await own.rollback()

    async def with_attic(self) -> Unit:
        """Make a second session; return what adds work to it."""
        unit = Unit()
        unit.run("sharing.arrive", session_id="web:attic", tape="t2", asked=0, asks=0)
        await self.store.commit(unit)
        return unit

    async def accept(self, *, works: bool, by: str = "zz", number: int = 1) -> list[Arrival]:
        said = replace(SAID, ext_id=f"1/{number}", message_id=str(number))
        places = [("web:lobby", "t")]
        return (await self.of(by).accept([said], None, places, works=works))[1]


async def run_steps(connection: psycopg.AsyncConnection[Any], unit: Unit) -> None:
    for step in unit.steps:
        assert isinstance(step, Run)
        await connection.execute(driver_sql(STATEMENTS[step.statement]), bound(step.values))


@pytest.fixture
async def shared() -> AsyncIterator[Tables]:
    """A database in which one session is ready."""
    schemas = [ledger_schema("postgres"), sharing_schema()]
    with fresh_database() as url:
        store = await to_thread.run_sync(partial(PostgresStore.open, url, schemas))
        unit = Unit()
        unit.run("sharing.arrive", session_id="web:lobby", tape="t", asked=0, asks=0)
        await store.commit(unit)
        yield Tables(url, store, Ledger(store, ManualClock(), "aa").inbox)
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


@pytest.mark.parametrize(("works", "heard"), [(False, ["tapeway_ready 0"]), (True, [])])
async def test_for_a_session_that_nobody_holds_others_are_woken_unless_the_process_works_itself(
    shared: Tables, works: bool, heard: list[str]
) -> None:
    assert await heard_of(shared, lambda: shared.accept(works=works)) == heard


async def test_for_a_session_that_nobody_holds_one_process_that_works_is_woken(
    shared: Tables,
) -> None:
    roles: dict[str, Role] = {"aa": "worker", "bb": "all", "cc": "ingress"}
    for owner, role in roles.items():
        await WorkerTable(shared.store, owner, f"home of {owner}", role, "1").begin()
    heard = await heard_of(shared, lambda: shared.accept(works=False))
    assert heard in (["tapeway_aa 0"], ["tapeway_bb 0"])


async def test_many_sessions_that_nobody_holds_wake_all_processes_that_work(shared: Tables) -> None:
    for owner in ("aa", "bb"):
        await WorkerTable(shared.store, owner, f"home of {owner}", "worker", "1").begin()
    said = [replace(SAID, ext_id=f"1/{one}", message_id=str(one)) for one in range(60)]
    places = [(f"web:{one}", f"t{one}") for one in range(60)]
    heard = await heard_of(shared, lambda: shared.of("zz").accept(said, None, places, works=False))
    assert set(heard) == {"tapeway_aa 0", "tapeway_bb 0"}


async def test_what_was_added_to_held_sessions_is_seen_with_a_claim(shared: Tables) -> None:
    table = shared.of("aa")
    (claimed,) = (await table.claim(1)).claimed
    assert not (await table.claim(1, held=[claimed.held])).behind
    await shared.accept(works=False)
    assert list((await table.claim(1, held=[claimed.held])).behind) == [claimed.held.number]


async def test_sessions_that_have_nothing_to_do_are_given_back_with_a_claim(shared: Tables) -> None:
    table = shared.of("aa")
    await shared.with_attic()
    held = [one.held for one in (await table.claim(2)).claimed]
    await shared.accept(works=False)
    taken = await table.claim(1, held, held)
    assert (list(taken.given_back), len(taken.behind)) == (["web:attic"], 1)
    renewed = [one.held.session_id for one in (await table.renew())[0]]
    assert renewed == ["web:lobby"]


async def test_a_message_is_accepted_even_if_nobody_could_be_woken(shared: Tables) -> None:
    await shared.of("a" * 70).claim(1)  # no channel may have such a name
    assert [one.arrived for one in await shared.accept(works=False)] == [2]
    assert [one.arrived for one in await shared.accept(works=False, number=2)] == [3]
    rows = (await shared.of("aa").open_work(["web:lobby"])).rows
    assert [row.message.message_id for row in rows] == ["1", "2"]


async def test_a_message_that_is_being_accepted_while_its_holder_leaves_is_the_next_one_s(
    shared: Tables,
) -> None:
    await shared.of("aa").claim(1)
    async with shared.in_flight(shared.accepting()):
        left = await shared.of("aa").leave_all()
    taken = await shared.of("bb").claim(1)
    assert [one.held.number for one in taken.claimed] == left
    assert [row.message.message_id for row in taken.work.rows] == [SAID.message_id]


async def test_a_session_in_which_its_holder_is_writing_a_send_is_not_given_back(
    shared: Tables,
) -> None:
    own = shared.of("aa")
    (claimed,) = (await own.claim(1)).claimed
    held, unit = claimed.held, Unit()
    unit.run("ledger.fence", session_id=held.session_id, owner="aa", epoch=held.epoch)
    async with shared.cut_off(unit):
        assert await own.give_back([held]) == []
    assert await own.give_back([held]) == ["web:lobby"]


async def test_a_session_to_which_a_send_was_written_is_not_given_back(shared: Tables) -> None:
    own = shared.of("aa")
    (claimed,) = (await own.claim(1)).claimed
    await shared.write(A_SEND)
    assert await own.give_back([claimed.held]) == []


async def test_whoever_is_cut_off_in_a_transaction_holds_up_its_own_session_only(
    shared: Tables,
) -> None:
    own, unit = shared.of("aa"), await shared.with_attic()
    held = [one.held for one in (await own.claim(2)).claimed]
    async with shared.cut_off(unit):
        renewed, locked = await own.renew()
        assert ([one.held.session_id for one in renewed], locked) == (["web:lobby"], {"web:attic"})
        assert list((await own.claim(1, held, held)).given_back) == ["web:lobby"]
    renewed, locked = await own.renew()
    assert ([one.held.session_id for one in renewed], locked) == (["web:attic"], set())


async def test_open_work_that_nobody_holds_and_nobody_would_claim_is_found(shared: Tables) -> None:
    await shared.accept(works=True)
    await shared.write("UPDATE session SET ready_at = ''")
    assert not (await shared.of("bb").claim(1)).claimed
    assert await shared.of("aa").make_ready() == ["web:lobby"]
    assert await shared.of("aa").make_ready() == []
    assert len((await shared.of("bb").claim(1)).work.rows) == 1
    assert await shared.of("aa").make_ready() == []


async def test_sessions_are_locked_in_the_order_in_which_messages_are_accepted_for_them(
    shared: Tables,
) -> None:
    own, unit = shared.of("aa"), await shared.with_attic()
    await own.claim(2)
    again = "SELECT FROM session WHERE session_id = 'web:lobby' FOR UPDATE"
    async with shared.in_flight(unit, again):  # refused, if they wait for each other
        await own.leave_all()


@pytest.mark.parametrize("read", [True, False], ids=["with the claim", "later"])
async def test_people_keep_their_numbers_in_a_session_that_was_searched_before_it_was_claimed(
    shared: Tables, read: bool
) -> None:
    async def number(table: PeopleTable, *people: str) -> None:
        unit = Unit()
        _all, new = await table.number("web:lobby", people)
        table.write(unit, "web:lobby", new)
        await shared.store.commit(unit)

    holder, searching = PeopleTable(shared.store), PeopleTable(shared.store)
    await number(holder, "ann")
    assert await searching.find("web:lobby", 1) == "ann"
    await number(holder, "bob")
    if read:
        for session_id, numbers in (await shared.of("aa").claim(1)).numbers().items():
            searching.know(session_id, numbers)
    await number(searching, "eve", "bob")
    found = [await PeopleTable(shared.store).find("web:lobby", one) for one in (1, 2, 3)]
    assert found == ["ann", "bob", "eve"]


async def test_a_session_in_which_somebody_asks_is_claimed_before_those_with_talk_alone(
    shared: Tables,
) -> None:
    table = shared.of("aa")
    await table.claim(9)
    await table.give_back([one.held for one in (await table.renew())[0]])
    await shared.write("UPDATE session SET owner = '', ready_at = '', lease_until = '', asks = 0")
    for number, addressed in enumerate((False, False, True), start=1):
        said = replace(SAID, ext_id=f"c{number}/1", chat_id=f"c{number}", addressed=addressed)
        await shared.of("zz").accept([said], None, [(f"web:c{number}", f"t{number}")], works=False)
    claimed = [(await table.claim(1)).claimed for _time in range(3)]
    assert [one.held.session_id for some in claimed for one in some] == [
        "web:c3",
        "web:c1",
        "web:c2",
    ]


async def test_of_much_that_was_accepted_only_the_first_messages_are_read(shared: Tables) -> None:
    table, many = shared.of("aa"), MAX_READ + 5
    said = [
        replace(SAID, ext_id=f"1/{number}", addressed=number == many, follows=False)
        for number in range(many + 1)
    ]
    said[3], said[7] = replace(said[3], kind="edit"), replace(said[7], kind="delete")
    await shared.of("zz").accept(said, None, [("web:lobby", "t")] * len(said), works=False)
    await shared.of("zz").accept(
        [replace(SAID, ext_id="2/1", chat_id="2")], None, [("web:2", "t2")], works=False
    )
    work = (await table.claim(9)).work
    assert [row.session_id for row in work.rows] == []
    assert [row.id for row in work.unread] == sorted(row.id for row in work.unread)
    assert [row.session_id for row in work.unread].count("web:lobby") == len(said)
    assert [row.urgent for row in work.unread if row.session_id == "web:lobby"].count(True) == 1
    assert [at for at, row in enumerate(work.unread) if row.unsure] == [3, 7]
