"""The search index in PostgreSQL: its cursor, what it forgets, and the choice of its two ways."""

from __future__ import annotations

import random
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import anyio
import psycopg
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from tape.entry import Entry, anchor, event, message
from tape.erasing import tombstone
from tape.handle import Tape
from tape.query import Query
from tape.search.query_text import SearchQuery
from tape.search.scan import scan_here, scanning
from tape.service import TapeService
from tape.stores.postgres.measures import MEASURES, STRETCH, PostgresMeasures
from tape.stores.postgres.search_index import NEWEST
from tape.stores.postgres.search_lookup import next_walk, stretches
from tape.stores.postgres.search_terms import MAX_TERMS, terms_of, wanted_of
from tape.stores.postgres.store import PostgresStore
from tape.testing.stores import said
from tape.testing.tapes import T
from tests.postgres import owned_database

pytestmark = pytest.mark.postgresql

ROOT: Final = Path(__file__).parents[3]
OWN_LOCK: Final = 0x54505741  # which a process holds as long as it has a database


@pytest.fixture
def url() -> Iterator[str]:
    with owned_database() as made:
        yield made


@asynccontextmanager
async def opened(url: str, measures: PostgresMeasures = MEASURES) -> AsyncIterator[PostgresStore]:
    store = PostgresStore.open(url, measures=measures)
    try:
        yield store
    finally:
        await store.close()


@pytest.fixture
async def store(url: str) -> AsyncIterator[PostgresStore]:
    async with opened(url) as made:
        yield made


def rows(url: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql.encode())
        return cursor.fetchall() if cursor.description else []


def covered(url: str) -> list[tuple[Any, ...]]:
    return rows(url, "SELECT low, high FROM search_covered ORDER BY tape")


def indexed_ids(url: str) -> list[int]:
    return [row[0] for row in rows(url, "SELECT id FROM search_entry ORDER BY tape, id")]


async def ids(store: PostgresStore, text: str, **conditions: Any) -> list[int]:
    return [entry.id for entry in await Tape(store, T).search(text, **conditions)]


# What is indexed, and when.


async def test_what_is_said_is_indexed_in_the_background(store: PostgresStore, url: str) -> None:
    await store.append(T, [said("plum"), said("")])  # which has no words
    await store.append("other", [said("pear")])
    await store.indexed()
    assert covered(url) == [(1, 4), (1, 3)]
    assert indexed_ids(url) == [1, 2, 3, 1, 2, 3]
    await store.append(T, [said("plum again")])
    await store.indexed()
    assert covered(url) == [(1, 5), (1, 3)]
    assert store.search_state().ready


async def test_what_another_process_appends_is_found_at_once_and_indexed_later(
    store: PostgresStore, url: str
) -> None:
    await store.append(T, [said("plum")])
    await store.indexed()
    append = """SELECT tape_append('t', 3, '2026-01-09', 4, NULL, NULL, NULL, ARRAY[4],
        ARRAY['message'], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL], ARRAY[NULL]::bigint[],
        ARRAY[NULL]::float[], ARRAY['{"role": "user", "content": "plum there"}'], ARRAY['{}'],
        ARRAY['2026-01-09'])"""
    rows(url, append.replace("'t'", f"'{T}'"))
    assert await ids(store, "plum") == [4, 3]
    assert covered(url) == [(1, 3)]
    await store.indexed()
    assert covered(url) == [(1, 4)]
    assert await ids(store, "plum") == [4, 3]


async def test_a_long_tape_is_indexed_from_new_to_old(url: str) -> None:
    async with opened(url) as store:
        await store.append(T, [said("quetzal"), *(said(f"plum {n}") for n in range(NEWEST + 900))])
    rows(url, "TRUNCATE search_covered, search_entry")
    async with opened(url) as store:
        assert await ids(store, "plum", limit=1) == [NEWEST + 903]
        await store.indexed()
        assert covered(url) == [(1, NEWEST + 903)]
        assert await ids(store, "quetzal") == [3]
        assert len(await ids(store, "plum", limit=9999)) == NEWEST + 900


async def test_the_words_of_a_fork_are_indexed_where_they_are_merged(
    store: PostgresStore, url: str
) -> None:
    service = TapeService(store, Path("workspace"))
    await store.append(T, [said("plum")])
    async with service.fork_tape(T) as fork:
        await fork.append(said("pear"))
        await store.indexed()
        assert covered(url) == [(1, 3)]
        assert [entry.text for entry in await fork.search("pear")] == ["pear"]
    await store.indexed()
    assert covered(url) == [(1, 4)]


INDEXING: Final = """
import sys, anyio
from tape.entry import message
from tape.stores.postgres.store import PostgresStore

async def main():
    store = PostgresStore.open(sys.argv[1])
    for number in range(1_000_000):
        await store.append("chat", [message("user", f"plum w{number}")])
        if number % 3 == 0:
            await store.indexed()
        print("said", flush=True)

anyio.run(main)
"""


async def test_a_killed_process_has_indexed_what_its_cursor_says(url: str) -> None:
    async with opened(url) as store:
        await store.append(T, [said(f"plum {number}") for number in range(2500)])
    command = [sys.executable, "-c", INDEXING, url]
    for lines in (5, 40):
        async with await anyio.open_process(command, cwd=ROOT) as child:
            assert child.stdout is not None
            stream = BufferedByteReceiveStream(child.stdout)
            for _ in range(lines):
                await stream.receive_until(b"\n", 200)
            child.kill()
        rows(url, f"SELECT pg_advisory_lock({OWN_LOCK})")  # its connections have ended, too
        uncovered = """SELECT e.tape, e.id FROM entry AS e JOIN search_covered AS c USING (tape)
            LEFT JOIN search_entry AS s ON (s.tape, s.id) = (e.tape, e.id)
            WHERE (e.id BETWEEN c.low AND c.high) <> (s.id IS NOT NULL) AND e.kind = 'message'"""
        assert rows(url, uncovered) == []
    async with opened(url) as store:
        await store.indexed()
        sizes = rows(url, "SELECT 1, size FROM tape ORDER BY tape")
        assert covered(url) == sizes
        assert len(await ids(store, "plum", limit=9999)) == 2500


# Rebuilding and forgetting.


async def test_an_index_is_rebuilt_while_searches_go_on(store: PostgresStore, url: str) -> None:
    await store.append(T, [said(f"plum {number}") for number in range(1500)])
    await store.indexed()
    newest = await ids(store, "plum")
    store.reindex()
    assert not store.search_state().ready
    for _ in range(20):
        assert await ids(store, "plum") == newest
    await store.append(T, [said("plum, and on")])
    assert await ids(store, "plum", limit=1) == [1503]
    await store.indexed()
    assert store.search_state().ready
    assert covered(url) == [(1, 1503)]
    assert len(await ids(store, "plum", limit=9999)) == 1501


@pytest.mark.parametrize(
    "spoil",
    ["UPDATE search_covered SET rules = 'of another version'", "DELETE FROM search_covered"],
)
async def test_an_index_of_other_rules_is_made_once_more(url: str, spoil: str) -> None:
    async with opened(url) as store:
        await store.append(T, [said("plum")])
        await store.indexed()
    rows(url, spoil + "; UPDATE search_entry SET terms = ''")
    async with opened(url) as store:
        assert await ids(store, "plum") == [3]
        await store.indexed()
        assert covered(url) == [(1, 3)]
        assert await ids(store, "plum") == [3]


async def test_the_terms_of_an_erased_entry_leave_the_index(store: PostgresStore, url: str) -> None:
    first, second, edited, _edit = await store.append(
        T,
        [
            said("plum xylophonist"),
            said("plum and pear"),
            said("fig"),
            event("message.edit", {"entry": 5, "content": "quince, medlar"}),
        ],
    )
    await store.indexed()
    shorter = replace(second, payload={"role": "user", "content": "pear"})
    changed = event("message.edit", {"entry": 5, "content": "quince"})
    edit = replace(_edit, payload=changed.payload)
    await store.erase(T, [tombstone(first, "2026-01-31"), shorter, edit])
    assert 3 not in indexed_ids(url)
    left = "SELECT terms = array_to_tsvector(string_to_array('{}', ' ')) FROM search_entry"
    for entry, text in ((second, "pear"), (edited, "quince")):
        terms = terms_of(1, replace(entry, payload={"role": "user", "content": text}))
        assert rows(url, left.format(terms) + f" WHERE id = {entry.id}") == [(True,)]
    assert await ids(store, "plum") == []
    assert await ids(store, "pear") == [4]
    assert await ids(store, "quince") == [5]


async def test_what_an_earlier_process_erased_is_purged_from_the_index_too(url: str) -> None:
    async with opened(url) as store:
        (entry,) = await store.append(T, [said("plum")])
        await store.indexed()
    empty = """SELECT tape_erase('{}', 3, NULL, NULL, NULL, NULL, NULL,
        '{{"role": "user", "content": ""}}', '{{"erased": "2026-01-31"}}')"""
    rows(url, empty.format(T))
    assert entry.id in indexed_ids(url)
    async with opened(url) as store:
        await store.purge(resumed=True)
        assert entry.id not in indexed_ids(url)


# The same answers as a scan gives, whichever way the index is asked.

WORDS: Final = (
    "to",
    "be",
    "or",
    "not",
    "Straße",
    "café",
    "v1.2",
    "部",
    "署",
    "的",
    "失",
    "カ",
    "-",
)
KINDS: Final = (None, ("message",), ("message", "tool_result"), ("anchor",), ("message", "anchor"))


SMALL: Final = PostgresMeasures(stretch=64, most_found=128, first_walk=10)
"""What is read at once, as small beside a tape as it is beside one of millions."""


@pytest.mark.parametrize("measures", [MEASURES, SMALL], ids=["real", "small"])
async def test_questions_of_few_words_have_the_same_answers(
    url: str, measures: PostgresMeasures
) -> None:
    async with opened(url, measures) as store:
        await same_answers(store)


async def same_answers(store: PostgresStore) -> None:
    chance = random.Random(6)

    def sentence(most: int) -> str:
        words = chance.choices(WORDS, k=chance.randrange(1, most))
        return "".join(word + chance.choice(["", " "]) for word in words)

    def entry(number: int) -> Any:
        meta = {"name": sentence(3), "author": chance.choice("ab"), "lane": chance.choice("xy")}
        kind = number % 9
        if kind == 1:
            return event(
                "message.edit", {"entry": chance.randrange(2, 400), "content": sentence(9)}
            )
        if kind == 2:
            return anchor(sentence(5) or "-", {}, lane="x")
        return message("user", sentence(10), **{key: meta[key] for key in list(meta)[: number % 4]})

    for first in range(0, 600, 200):
        await store.append("t", [entry(first + number) for number in range(200)])
        await store.indexed()
    everything = await store.query(Query("t"))
    hits = 0
    for _ in range(300):
        text = chance.choice(["{}", "{}", '"{}"', '{} "']).format(sentence(5))
        wanted = SearchQuery.read(text)
        if not wanted:
            continue
        narrowed: dict[str, Any] = chance.choice(
            [{}, {"author": "a"}, {"lane": "x"}, {"before": 300}]
        )
        query = Query("t", kinds=chance.choice(KINDS), limit=chance.randrange(1, 40), **narrowed)
        wanted = chance.choice([wanted, wanted.up_to(chance.randrange(1, 600))])
        found = await store.search(query, wanted)
        assert found == reference(everything, query, wanted), (text, query, wanted)
        hits += bool(found)
    assert hits > 100


def reference(everything: list[Entry], query: Query, wanted: SearchQuery) -> list[Entry]:
    return scan_here(scanning(query, wanted), lambda page: page.pick(everything)).hits


async def test_frequent_and_rare_words_are_found_beyond_the_first_walk(
    store: PostgresStore,
) -> None:
    def text(number: int) -> str:
        rare = " quetzal" if number in (7, 1900, 4500) else ""
        once = " bygone" if number < 2000 and number % 5 == 0 else ""
        often = " 的" if number % 100 == 0 else ""
        return f"plum{rare}{once}{often}"

    await store.append(T, [said(text(number)) for number in range(5 * MEASURES.first_walk)])
    await store.indexed()
    assert await ids(store, "quetzal") == [4503, 1903, 10]
    assert await ids(store, "quetzal", limit=2) == [4503, 1903]
    assert await ids(store, "bygone", limit=3) == [1998, 1993, 1988]
    assert await ids(store, "的", limit=30) == [4903 - 100 * n for n in range(30)]
    assert await ids(store, "plum bygone quetzal") == [1903]
    assert await ids(store, "bygone medlar") == []
    assert len(await ids(store, "plum", limit=9999)) == 5 * MEASURES.first_walk
    assert store.search_state().partial == 0


async def test_an_entry_with_too_many_words_is_read_instead(store: PostgresStore) -> None:
    characters = "".join(chr(0x4E00 + (n * n + n // 7) % 20000) for n in range(99_000))
    assert len(set(pairwise(characters))) > MAX_TERMS
    await store.append(T, [said(characters), said("plum")])
    await store.indexed()
    assert await ids(store, characters[5000:5010]) == [3]
    assert await ids(store, "plum") == [4]
    assert await ids(store, "quetzal") == []


def test_a_frequent_word_is_walked_to_and_a_rare_one_is_not() -> None:
    assert next_walk(20, 0.5, 1_000_000) == 49
    assert next_walk(20, 0.01, 1_000_000) == 2401
    assert next_walk(20, 0.0001, 1_000_000) is None
    assert next_walk(20, 0.0, 1_000_000) is None


def test_a_range_of_ids_is_cut_at_the_ends_of_stretches() -> None:
    cut = [(2 * STRETCH, 2 * STRETCH), (STRETCH, 2 * STRETCH - 1), (7, STRETCH - 1)]
    assert stretches(7, 2 * STRETCH) == cut
    assert stretches(STRETCH + 2, STRETCH + 3) == [(STRETCH + 2, STRETCH + 3)]


def test_terms_do_not_show_words() -> None:
    entry = Entry(3, "message", {"role": "user", "content": "plum"}, {"author": "7"}, "2026")
    wanted = wanted_of(1, 0, SearchQuery.read("plum"), Query(T, kinds=("message",), author="7"))
    assert "plum" not in terms_of(1, entry) + wanted.named + wanted.plain
    assert set(terms_of(1, entry).split()).isdisjoint(terms_of(2, entry).split())
