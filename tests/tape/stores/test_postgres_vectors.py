"""Vectors in PostgreSQL: made by one process, found by all, and gone with what is erased."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

import anyio
import anyio.lowlevel
import psycopg
import pytest
from psycopg import conninfo

from gateway.doctor.checks.server import look_at_server_index
from gateway.embeddings.registry import open_meaning
from gateway.settings import load_settings
from tape.entry import event, message
from tape.erasing import tombstone
from tape.handle import Tape
from tape.query import Query
from tape.search.semantic import SemanticIndex
from tape.search.vector_file import VectorFile
from tape.search.vectors import EmbeddedPart
from tape.service import TapeService
from tape.stores.postgres.store import PostgresStore
from tape.testing.stores import said
from tape.testing.tapes import T
from tests.postgres import application_database, url_of
from tests.tape.search.hashing import Hashing, caught_up

pytestmark = pytest.mark.postgresql

DAY: Final = "2026-01-31"
WAITING: Final = """
SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"""


@dataclass(slots=True)
class Process:
    """A process over the database, with an embedder of its own."""

    store: PostgresStore
    meaning: SemanticIndex
    embedder: Hashing

    async def nearest(self, text: str) -> list[int]:
        return [entry.id for entry, _score in await self.meaning.nearest(Query(T), text, 9)]


@dataclass(slots=True)
class Fleet:
    """Processes over one database, as a role that only uses the tables."""

    url: str
    home: Path
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)

    def start(self, embedder: str = "hashing") -> Process:
        store = PostgresStore.open(self.url)
        own = Hashing(embedder)
        meaning = SemanticIndex(store, own, self.home / "tapeway.db")
        self._stack.push_async_callback(store.close)
        self._stack.push_async_callback(meaning.close)
        return Process(store, meaning, own)

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement as the owner of the tables."""
        name = str(conninfo.conninfo_to_dict(self.url)["dbname"])
        with psycopg.connect(url_of(name), autocommit=True) as connection:
            cursor = connection.execute(sql.encode())
            return cursor.fetchall() if cursor.description else []

    def vectors(self) -> list[int]:
        return [row[0] for row in self.ask("SELECT id FROM search_vector ORDER BY model, id")]

    async def close(self) -> None:
        await self._stack.aclose()


@pytest.fixture
def url() -> Iterator[str]:
    with application_database() as made:
        yield made


@pytest.fixture
async def fleet(url: str, tmp_path: Path) -> AsyncIterator[Fleet]:
    made = Fleet(url, tmp_path)
    yield made
    await made.close()


async def test_each_text_is_embedded_once_and_every_process_finds_it(fleet: Fleet) -> None:
    one, other = fleet.start(), fleet.start()
    await one.store.append(T, [said("an automobile"), said("a pear")])
    await other.store.append("other", [said("a plum")])
    async with TapeService(one.store, Path("workspace")).fork_tape(T, merge_back=False) as fork:
        await fork.append(said("of a fork"))
        for process in (one, other, one, other):
            await caught_up(process.meaning)
    asked = sorted(text[17:] for text in one.embedder.texts() if "session/start" not in text)
    assert asked == ["a pear", "a plum", "an automobile"]
    assert other.embedder.texts() == []
    assert (await one.nearest("car"))[0] == (await other.nearest("car"))[0] == 3
    await one.store.append(T, [said("a later automobile")])
    await caught_up(one.meaning)
    hits = await Tape(other.store, T, other.meaning).search("car", rank=True)
    assert {entry.text for entry in hits} >= {"an automobile", "a later automobile"}
    assert list(fleet.home.iterdir()) == []


async def test_what_one_process_erases_is_gone_for_all_with_what_an_edit_said(fleet: Fleet) -> None:
    one, other = fleet.start(), fleet.start()
    await one.store.append(T, [said("an automobile"), said("a pear"), said("a plum")])
    edit = event("message.edit", {"entry": 4, "content": "my automobile"})
    (edited,) = await one.store.append(T, [edit])
    await caught_up(one.meaning)
    assert (await other.nearest("car"))[0] in (3, 4)
    (entry,) = await other.store.query(Query(T, ids=(3,)))
    await other.store.erase(T, [tombstone(entry, DAY), tombstone(edited, DAY)])
    assert fleet.vectors() == [1, 5]
    assert await one.nearest("car") == await other.nearest("car")
    assert set(await one.nearest("car")) == {1, 5}


async def test_what_is_erased_while_it_is_embedded_is_not_kept(fleet: Fleet) -> None:
    one, other = fleet.start(), fleet.start()
    (entry, _pear) = await one.store.append(T, [said("an automobile"), said("a pear")])

    async def erase() -> None:
        await other.store.erase(T, [tombstone(entry, DAY)])

    one.embedder.meanwhile = erase
    assert not await one.meaning.round()
    assert fleet.vectors() == []
    await caught_up(one.meaning)
    assert fleet.vectors() == [1, 4]
    assert len(one.embedder.asked) == 2


async def test_who_keeps_vectors_waits_for_an_erasure_that_is_not_committed_yet(
    fleet: Fleet,
) -> None:
    one = fleet.start()
    await one.store.append(T, [said("an automobile"), said("a pear")])
    erase = "SELECT tape_erase(%s, 3, NULL, NULL, NULL, NULL, NULL, %s, '{}')"
    rounds: list[bool] = []

    async def go_on() -> None:
        rounds.append(await one.meaning.round())

    async with await psycopg.AsyncConnection.connect(fleet.url) as other:

        async def begin() -> None:
            await other.execute(erase, (T, '{"role": "user", "content": ""}'))

        one.embedder.meanwhile = begin
        async with anyio.create_task_group() as group:
            group.start_soon(go_on)
            while not rounds and not fleet.ask(WAITING):
                await anyio.lowlevel.checkpoint()
            assert rounds == []
            await other.commit()
    assert rounds == [False]
    assert fleet.vectors() == []


async def test_an_edited_message_gets_the_vector_of_its_new_text(fleet: Fleet) -> None:
    one, other = fleet.start(), fleet.start()
    await one.store.append(T, [said("a pear"), said("an automobile")])
    await caught_up(one.meaning)
    for number, text in ((3, "my automobile"), (4, "a plum")):
        await other.store.append(T, [event("message.edit", {"entry": number, "content": text})])
    await caught_up(one.meaning)
    assert len(one.embedder.texts()) == 5
    assert (await other.nearest("car"))[0] == 3


@pytest.mark.parametrize("dies", [False, True])
async def test_if_the_process_that_makes_vectors_ends_another_goes_on(
    fleet: Fleet, *, dies: bool
) -> None:
    one, other = fleet.start(), fleet.start()
    await one.store.append(T, [said("a pear")])
    await caught_up(one.meaning)
    await one.store.append(T, [said("an automobile")])
    assert not await other.meaning.round()

    async def be_late() -> None:
        """The lease ends, and another process makes these vectors before the first one does."""
        fleet.ask("UPDATE search_vector_model SET until = clock_timestamp()")
        await caught_up(other.meaning)

    if dies:
        one.embedder.meanwhile = be_late
        assert not await one.meaning.round()
        assert not await one.meaning.round()
    else:
        await one.meaning.close()
        await caught_up(other.meaning)
    assert [text[17:] for text in other.embedder.texts()] == ["an automobile"]
    assert fleet.vectors() == [1, 3, 4]
    await other.store.append(T, [said("a plum")])
    await caught_up(other.meaning)
    assert fleet.vectors() == [1, 3, 4, 5]


async def test_two_embedders_have_their_own_vectors_until_one_is_unused_for_days(
    fleet: Fleet,
) -> None:
    one, other = fleet.start("one"), fleet.start("other")
    await one.store.append(T, [said("an automobile")])
    await caught_up(one.meaning)
    await caught_up(other.meaning)
    assert fleet.vectors() == [1, 3, 1, 3]
    (entry,) = await one.store.query(Query(T, ids=(3,)))
    await one.store.erase(T, [tombstone(entry, DAY)])
    assert fleet.vectors() == [1, 1]
    await one.meaning.close()
    fleet.ask(
        "UPDATE search_vector_model SET until = clock_timestamp() - interval '8 days'"
        " WHERE embedder = 'one'"
    )
    await other.meaning.close()
    third = fleet.start("other")
    await third.meaning.round()  # removes the vectors
    await third.meaning.close()
    fourth = fleet.start("other")
    await fourth.meaning.round()  # and then what stands for them
    assert fleet.ask("SELECT embedder FROM search_vector_model") == [("other",)]
    assert fleet.vectors() == [1]
    assert fleet.ask("SELECT count(*) FROM search_vector_covered") == [(1,)]


async def test_a_search_has_the_same_answer_in_a_file_and_with_pgvector_or_without(
    fleet: Fleet,
) -> None:
    one = fleet.start()
    await one.store.append(T, [message("user", f"line {n}") for n in range(600)])
    random = Random(7)
    made = [(n, [random.gauss(0, 1) for _ in range(100)]) for n in range(1, 601) if n != 549]
    query = [random.gauss(0, 1) for _ in range(100)]
    file = VectorFile(fleet.home / "tapeway.db", "hashing")
    file.put(T, 1, 600, made)
    expected = file.nearest(T, query, 550, 50)
    file.close()
    assert all(number < 550 for number, _score in expected)
    vectors = one.store.vectors("hashing")
    assert await vectors.hold()
    part = EmbeddedPart(T, 602, 603, 602)
    assert await vectors.put(part, 1, 602, made)
    assert await vectors.put(part, 1, 602, [(549, [1.0, 2.0])])
    found = [await vectors.nearest(T, query, 550, 50)]
    fleet.ask("CREATE SCHEMA elsewhere")
    fleet.ask("CREATE EXTENSION vector SCHEMA elsewhere")
    found.append(await vectors.nearest(T, query, 550, 50))  # which this role may not use
    says = [look_at_server_index(fleet.url, by_meaning=True)[-1].trouble]
    fleet.ask("GRANT USAGE ON SCHEMA elsewhere TO PUBLIC")
    found.append(await vectors.nearest(T, query, 550, 50))  # of vectors that were made before
    assert await vectors.nearest("none", query, 550, 50) == []
    await vectors.close()
    assert await vectors.hold()
    assert await vectors.put(part, 1, 602, made[:300])
    found.append(await vectors.nearest(T, query, 550, 50))
    assert await vectors.put(part, 1, 602, made[300:])
    fleet.ask("REVOKE USAGE ON SCHEMA elsewhere FROM PUBLIC")
    found.append(await vectors.nearest(T, query, 550, 50))
    fleet.ask("GRANT USAGE ON SCHEMA elsewhere TO PUBLIC")
    found.append(await vectors.nearest(T, query, 550, 50))
    await vectors.close()
    assert [row[0] for row in fleet.ask("SELECT count(half) FROM search_vector")] == [1]
    for one_found in found:
        assert [number for number, _score in one_found] == [number for number, _score in expected]
        scores = [score for _number, score in one_found]
        assert scores == pytest.approx([score for _number, score in expected], abs=1e-5)
    assert found[0] == found[1] == found[2] == found[4]
    assert found[5] != found[0]  # the server computes with fewer digits
    says.append(look_at_server_index(fleet.url, by_meaning=True)[-1].trouble)
    assert [one and one.id for one in says] == ["search.pgvector", None]


@pytest.mark.parametrize("embedder", ["", "openai"])
async def test_a_gateway_removes_the_file_in_which_a_home_had_its_vectors(
    fleet: Fleet, embedder: str
) -> None:
    names = {"HOME": str(fleet.home), "TAPE__URL": fleet.url, "SEARCH__EMBEDDER": embedder}
    environ = {f"TAPEWAY_{name}": value for name, value in names.items()}
    settings = load_settings(environ | {"TAPEWAY_SEARCH__API_KEY": "sk-1"}, fleet.home)
    (fleet.home / "tapeway.db-vectors").write_bytes(b"what was said")
    meaning = open_meaning(settings, fleet.start().store)
    assert (meaning is not None) == bool(embedder)
    assert list(fleet.home.iterdir()) == []
    if meaning is not None:
        await meaning.close()
