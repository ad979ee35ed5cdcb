"""Search by meaning, in addition to words, with vectors that are made in the background."""

from __future__ import annotations

from collections.abc import AsyncIterator
from math import inf, nan
from pathlib import Path

import anyio
import anyio.to_thread
import pytest

from tape.deletions import deletion
from tape.entry import NewEntry, event, message
from tape.erasing import tombstone
from tape.errors import EmbedderFailed
from tape.handle import Tape
from tape.query import Query
from tape.search.search import ForgettingSearch
from tape.search.semantic import BATCH, SemanticIndex, text_of
from tape.search.vector_file import VectorFile
from tape.search.vectors import check_vectors
from tape.service import TapeService
from tape.stores.sqlite import SqliteStore
from tests.fakes.openai.embeddings import DIMENSIONS, hashed
from tests.kit.ways import WatchedWay
from tests.tape.search.hashing import Hashing, caught_up

T = "chat"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore.open(tmp_path / "tapeway.db")
    yield store
    await store.close()


@pytest.fixture
def embedder() -> Hashing:
    return Hashing()


@pytest.fixture
async def problems() -> list[str]:
    return []


@pytest.fixture
async def meaning(
    store: SqliteStore, embedder: Hashing, tmp_path: Path, problems: list[str]
) -> AsyncIterator[SemanticIndex]:
    meaning = SemanticIndex(store, embedder, tmp_path / "tapeway.db", notify=problems.append)
    yield meaning
    await meaning.close()


def said(text: str, **meta: object) -> NewEntry:
    return message("user", text, **meta)


async def test_the_best_hits_are_found_by_words_and_by_meaning(
    store: SqliteStore, meaning: SemanticIndex
) -> None:
    tape = Tape(store, T, meaning)
    await tape.append(*(said(f"filler number {n}") for n in range(40)))
    await tape.append(said("before it"), said("the automobile is a defect"), said("after it"))
    await tape.append(*(said(f"more filler {n}") for n in range(40)), said("one car"))
    await caught_up(meaning)
    found = [entry.text for entry in await tape.search("car broken", rank=True, limit=5)]
    assert found[:3] == ["the automobile is a defect", "before it", "after it"]
    assert await tape.search("car broken") == []
    by_both = [entry.text for entry in await tape.search("car", rank=True, limit=5)]
    assert by_both[0] == "one car"
    assert "the automobile is a defect" in by_both


async def test_conditions_hold_for_what_was_found_by_meaning_and_for_its_neighbours(
    store: SqliteStore, meaning: SemanticIndex
) -> None:
    tape = Tape(store, T, meaning)
    await tape.append(
        said("an automobile", author="1", lane="a"),
        said("not his", author="2", lane="a"),
        said("automobile, too", author="1", lane="b"),
    )
    await caught_up(meaning)
    hers = await tape.search("car", rank=True, author="1", lane="a")
    assert [entry.text for entry in hers] == ["an automobile"]
    assert await tape.search("car", rank=True, kinds=("tool_result",)) == []
    before = await tape.search("car", rank=True, before=5)
    assert {entry.id for entry in before if "auto" in entry.text} == {3}


async def test_what_was_deleted_is_not_found_by_meaning(
    store: SqliteStore, meaning: SemanticIndex
) -> None:
    tape = Tape(store, T, meaning)
    await tape.append(said("an automobile"), said("nothing"), said("my automobile"))
    await caught_up(meaning)
    await tape.append(deletion(3, "3"))
    found = await tape.search("car", rank=True)
    assert [entry.id for entry in found if entry.kind == "message"] == [5, 4]


async def test_an_edited_message_is_found_by_the_meaning_of_its_new_text(
    store: SqliteStore, meaning: SemanticIndex
) -> None:
    tape = Tape(store, T, meaning)
    await tape.append(said("a pear"), said("an automobile"))
    await caught_up(meaning)
    for number, text in ((3, "my automobile"), (4, "a plum")):
        await tape.append(event("message.edit", {"entry": number, "content": text}))
    await caught_up(meaning)
    found = await tape.near(Query(T, kinds=("message",), limit=9), "car")
    assert found[0][0].id == 3
    shown = await tape.search("car", rank=True, limit=1)
    assert [entry.text for entry in shown] == ["my automobile"]


async def test_a_fork_finds_by_meaning_what_its_parent_had(
    store: SqliteStore, meaning: SemanticIndex
) -> None:
    service = TapeService(store, Path("workspace"), meaning)
    await store.append(T, [said("an automobile")])
    async with service.fork_tape(T, merge_back=False) as fork:
        await store.append(T, [said("a later automobile")])
        await caught_up(meaning)
        found = await fork.search("car", rank=True)
        assert [entry.id for entry in found if entry.kind == "message"] == [3]


async def test_while_the_embedder_is_away_words_are_enough_and_one_report(
    store: SqliteStore, meaning: SemanticIndex, embedder: Hashing, problems: list[str]
) -> None:
    tape = Tape(store, T, meaning)
    await tape.append(said("one car"))
    embedder.away = True
    for _ in range(3):
        assert [entry.text for entry in await tape.search("car", rank=True)] == ["one car"]
    assert problems == ["the embedder is away"]
    embedder.away = False
    await caught_up(meaning)
    embedder.away = True
    await tape.search("car", rank=True)
    assert len(problems) == 2


async def test_new_entries_come_first_and_none_is_embedded_twice(
    store: SqliteStore, embedder: Hashing, tmp_path: Path
) -> None:
    tape = Tape(store, T)
    await tape.append(*(said(f"word{n}") for n in range(3 * BATCH)))
    first = SemanticIndex(store, embedder, tmp_path / "tapeway.db")
    await first.round()
    assert "word191" in embedder.asked[0][-1]
    await tape.append(said("newest"))
    await first.round()
    assert "newest" in embedder.asked[1][-1]
    await first.close()
    again = SemanticIndex(store, embedder, tmp_path / "tapeway.db")
    await caught_up(again)
    await again.close()
    texts = embedder.texts()
    assert len(texts) == len(set(texts)) == 3 * BATCH + 2  # and the first anchor


async def test_vectors_of_another_embedder_are_replaced(
    store: SqliteStore, embedder: Hashing, tmp_path: Path
) -> None:
    tape = Tape(store, T)
    await tape.append(said("an automobile"))
    for name in ("hashing", "another", "another"):
        embedder.name = name
        meaning = SemanticIndex(store, embedder, tmp_path / "tapeway.db")
        await caught_up(meaning)
        await meaning.close()
    assert len(embedder.asked) == 2


async def test_vectors_that_do_not_fit_are_a_failure_and_not_kept(
    store: SqliteStore, meaning: SemanticIndex, embedder: Hashing
) -> None:
    await store.append(T, [said("an automobile")])
    embedder.given = 32
    with pytest.raises(EmbedderFailed, match=r"2 vectors of \[32\] numbers for 2 texts"):
        await meaning.round()
    embedder.given = DIMENSIONS
    await caught_up(meaning)
    assert len(await meaning.nearest(Query(T), "automobile", 5)) == 2


async def test_what_was_erased_is_forgotten(
    store: SqliteStore, meaning: SemanticIndex, tmp_path: Path
) -> None:
    await store.append(T, [said("an automobile")])
    await caught_up(meaning)
    await meaning.forget(T, [3])
    assert [e.id for e, _ in await meaning.nearest(Query(T), "automobile", 5)] == [1]


async def test_what_is_erased_while_it_is_embedded_is_not_kept(
    store: SqliteStore, meaning: SemanticIndex, embedder: Hashing, tmp_path: Path
) -> None:
    (entry,) = await store.append(T, [said("an automobile")])

    async def erase() -> None:
        await store.erase(T, [tombstone(entry, "2026-01-31")])
        await meaning.forget(T, [entry.id])

    embedder.meanwhile = erase
    assert not await meaning.round()
    await caught_up(meaning)
    assert [len(texts) for texts in embedder.asked] == [2, 1]
    file = VectorFile(tmp_path / "tapeway.db", embedder.name)
    found = file.nearest(T, hashed("automobile", DIMENSIONS), before=9, limit=5)
    file.close()
    assert [number for number, _score in found] == [1]


async def test_it_is_also_forgotten_where_threads_are_withheld(
    store: SqliteStore, meaning: SemanticIndex
) -> None:
    service = TapeService(store, Path("workspace"), meaning)
    service.withhold()
    await store.append(T, [said("an automobile")])
    await caught_up(meaning)
    assert isinstance(service.semantic, ForgettingSearch)
    await service.semantic.forget(T, [3])
    assert [e.id for e, _ in await meaning.nearest(Query(T), "automobile", 5)] == [1]


def test_a_vector_without_a_direction_is_a_failure() -> None:
    with pytest.raises(EmbedderFailed, match="a number that is none"):
        check_vectors([[1.0, nan]], 1, 2)


async def test_the_text_of_a_vector_says_when_and_who(store: SqliteStore) -> None:
    (entry,) = await store.append(
        T,
        [
            NewEntry(
                "message",
                {"role": "user", "content": "[framed]\n> hi"},
                {"text": "hi", "name": "Ana"},
                "2026-01-02T03:04:05.000006+00:00",
            )
        ],
    )
    assert text_of(entry) == "2026-01-02 03:04 Ana: hi"


def test_the_nearest_are_those_with_the_greatest_cosine(tmp_path: Path) -> None:
    file = VectorFile(tmp_path / "t.db", "hashing")
    words = [f"w{number} w{number % 7}" for number in range(1, 1001)]
    file.put(T, 1, 1000, [(n, hashed(text, 256)) for n, text in enumerate(words, start=1)])
    found = file.nearest(T, hashed("w500 w3", 256), before=2000, limit=5)
    assert found[0][0] == 500
    assert found[0][1] == pytest.approx(1, abs=0.01)
    assert [entry for entry, _ in found[1:]] != []
    assert all(entry % 7 == 3 for entry, _ in found[:4])
    assert file.nearest(T, hashed("w500 w3", 256), before=500, limit=5)[0][0] < 500
    assert file.nearest("another", hashed("w1", 256), before=500, limit=5) == []
    file.close()


async def test_vectors_are_made_once_nothing_urgent_goes_on(
    store: SqliteStore, meaning: SemanticIndex, embedder: Hashing
) -> None:
    way = WatchedWay(inf)
    meaning.give_way(way)
    await store.append(T, [said("a plum")])
    async with anyio.create_task_group() as group:
        group.start_soon(meaning.round)
        await anyio.to_thread.run_sync(way.asked.wait)
        assert embedder.asked == []
        way.waits = False
    assert embedder.asked
