"""What people notice when the PostgreSQL server is in trouble: a delay, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psycopg
import pytest
from anyio import to_thread
from psycopg import conninfo

from gateway.sharing.rooms.shared_rooms import TAPE_SECONDS
from tape.unit_of_work import Outcome
from tests.fakes.cutting_proxy import Cut, CuttingProxy
from tests.kit.play import Play, opened
from tests.kit.server_store import LastingDatabase

pytestmark = pytest.mark.postgresql

CHANNELS: Final = ("telegram", "web")
"""One whose platform delivers once more, and one whose page does."""

REFUSE: Final = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'not now' USING ERRCODE = TG_ARGV[0]; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON inbox EXECUTE FUNCTION refuse('{0}');
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON cursor EXECUTE FUNCTION refuse('{0}')
"""
ACCEPT: Final = "DROP FUNCTION refuse CASCADE"


@dataclass
class Scene:
    """A gateway whose database is behind a proxy; `url` is the way around it."""

    play: Play
    proxy: CuttingProxy
    url: str


@asynccontextmanager
async def scene(channel: str, home: Path) -> AsyncIterator[Scene]:
    async with opened(channel, lasts=True) as house:
        database = house.lasting
        assert isinstance(database, LastingDatabase)
        port = str(conninfo.conninfo_to_dict(database.url)["port"])
        async with CuttingProxy(int(port)) as proxy:
            database.reached_at = database.url.replace(f":{port}/", f":{proxy.port}/")
            house.looks = 2.0
            async with house.playing(home) as play:
                yield Scene(play, proxy, database.url)


def away(at: Scene) -> AbstractContextManager[None]:
    return _refused(at, None)


def refused(state: str, words: str) -> Callable[[Scene], AbstractContextManager[None]]:
    """Return a server that refuses connections, after those that it had broke."""
    return lambda at: _refused(at, (state, words))


@contextmanager
def _refused(at: Scene, refusal: tuple[str, str] | None) -> Iterator[None]:
    at.proxy.away, at.proxy.refusal = refusal is None, refusal
    at.proxy.drop()
    yield
    at.proxy.away, at.proxy.refusal = False, None


def raising(state: str) -> Callable[[Scene], AbstractContextManager[None]]:
    """Return a server that writes nothing: its disk is full, or it has become a standby."""

    @contextmanager
    def raised(at: Scene) -> Iterator[None]:
        with psycopg.connect(at.url, autocommit=True) as connection:
            connection.execute(REFUSE.format(state).encode())
            yield
            connection.execute(ACCEPT)

    return raised


@contextmanager
def locked(at: Scene) -> Iterator[None]:
    """Somebody holds a table for longer than a statement may take."""
    with psycopg.connect(at.url) as connection:
        change = f"ALTER DATABASE {connection.info.dbname} "
        connection.execute(f"{change} SET statement_timeout = 20".encode())
        connection.commit()
        at.proxy.drop()
        connection.execute("LOCK TABLE inbox, cursor")
        yield
        connection.rollback()
        connection.execute(f"{change} RESET statement_timeout".encode())
    at.proxy.drop()


@pytest.mark.parametrize("channel", CHANNELS)
@pytest.mark.parametrize(
    ("trouble", "why"),
    [
        (away, "closed the connection unexpectedly"),
        (refused("57P03", "the database system is in recovery mode"), "wait until the server"),
        (refused("53300", "sorry, too many clients already"), "raise max_connections"),
        (refused("28P01", "password authentication failed for user"), "correct user and password"),
        (refused("57P03", "the database system is not yet accepting"), "wait until the server"),
        (raising("25006"), "name the primary"),
        (raising("53100"), "the disk is full"),
        (raising("42501"), "SELECT let_use('ROLE')"),
        (locked, "ALTER ROLE tapeway SET statement_timeout = 0"),
    ],
    ids=["away", "crashed", "crowded", "login", "standby", "read only", "full", "rights", "slow"],
)
async def test_what_is_said_in_30_s_of_trouble_is_answered_afterwards_once_and_health_says_why(
    channel: str, tmp_path: Path, trouble: Callable[[Scene], AbstractContextManager[None]], why: str
) -> None:
    async with scene(channel, tmp_path) as at:
        play = at.play
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        with trouble(at):
            said = [await play.stage.say(chat, alice, f"number {number}") for number in range(2)]
            await play.clock.advance(30)
            assert play.stage.untaken() == 2
            status, body = await play.health()
            assert (status, body["store"]["state"]) == (503, "away")
            assert why in body["store"]["why"]
            assert len(play.texts(chat)) == 1
        await play.settle()
        await play.clock.advance(TAPE_SECONDS)  # a page that missed a hint reads the tape
        await play.settle()
        assert play.stage.untaken() == 0
        for one in said:
            play.answer(one)
        assert len(play.model.requests) == 3
        taped = [entry.meta.get("message_id") for entry in await play.tape(chat)]
        assert [taped.count(one.id) for one in said] == [1, 1]
        assert (await play.health())[0] == 200


@pytest.mark.parametrize(
    ("channel", "cut"), [(name, cut) for name in CHANNELS for cut in ("before", "after")]
)
async def test_a_question_whose_transaction_ends_without_an_answer_is_answered_once(
    channel: str, tmp_path: Path, cut: Cut
) -> None:
    async with scene(channel, tmp_path) as at:
        play = at.play
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        for number in range(6):  # one after the other of those that a question takes
            at.proxy.cut = None
            said = await play.stage.say(chat, alice, f"number {number}")
            await cut_at(at, number, cut)
            play.answer(said)
        assert at.proxy.cuts
        assert len(play.model.requests) == 7


async def cut_at(at: Scene, number: int, cut: Cut) -> None:
    """Cut one commit, after some others, and wait until all is answered."""
    at.proxy.passing, at.proxy.cut = number, cut
    for _ in range(2):  # what was written without an answer is found by a look of its own
        await at.play.settle()
        await at.play.clock.advance(5)


def claims(held: frozenset[str], done: Sequence[Outcome]) -> bool:
    """Return whether a transaction has claimed a session."""
    return "sharing.claim" in held and any(row["session_id"] for row in done[0].rows)


@pytest.mark.parametrize("channel", CHANNELS[:1])
async def test_what_comes_while_its_session_is_claimed_is_answered_at_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house, house.playing(tmp_path) as play:
        chat, alice = play.chat(), play.person()
        answered = play.store.hold_answers(claims)
        said = [await play.stage.say(chat, alice, "one")]
        await play.stage.taken()
        assert isinstance(house.lasting, LastingDatabase)
        while await to_thread.run_sync(house.lasting.waits):
            await play.clock.advance(0)
        said.append(await play.stage.say(chat, alice, "two"))
        await play.stage.taken()
        answered.set()
        await play.settle()  # long before the next look
        for one in said:
            await play.answer_with(one)
