"""The index gives the same answers as the reference, for any texts and queries."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
from hypothesis import given
from hypothesis import strategies as st

from tape.database.connection import Database
from tape.entry import Entry, NewEntry, message
from tape.query import Query
from tape.search.entry_terms import searchable_text
from tape.search.index_file import IndexFile
from tape.search.index_reader import Lookup
from tape.search.query_text import SearchQuery
from tape.search.scan import scan_here, scanning
from tape.stores.sqlite import SqliteStore, tape_schema
from tests.kit.examples import examples

Piece = tuple[int, int, int, bool]

bits = st.sampled_from(
    [
        *("to", "be", "or", "not", "TO", "Straße", "café", "cafe\u0301", "v1.2", "a_b", "don't"),
        *("部", "署", "失败", "的", "カ", "ｶﾞ", "ー", "한국", "ส", "วั", "हिन्दी", "😀", "❤️"),
        *('"', "“", "”", "*", "-", "^", "(", ")", ":", "+", "'", "\\", "{", "}", ",", "\n", "\x00"),
        *("AND", "OR", "NOT", "NEAR(", "text", "text :", "pairs", "who", "tags", "col:x", "ﷺ", "ﬁ"),
    ]
)
few = st.sampled_from(["to", "be", "TO", "部", "署", "的", '"', "Ana", "-", "v1.2"])
gaps = st.sampled_from(["", " "])


def glued(least: int, most: int) -> st.SearchStrategy[str]:
    """Make texts of a few parts, so that queries often match."""
    pieces = st.lists(st.tuples(few | few | bits, gaps), min_size=least, max_size=most)
    return pieces.map(lambda found: "".join(bit + gap for bit, gap in found))


dense = st.text(st.sampled_from("部署的 "), min_size=4, max_size=12)
rows = st.lists(st.sampled_from(["to", "be", "or"]), min_size=2, max_size=8).map(" ".join)
texts = (
    dense
    | dense
    | rows
    | glued(2, 9)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
names = st.none() | st.sampled_from(["Ana Lee", "to be", "部署"])
metas = st.fixed_dictionaries(
    {}, optional={"author": st.sampled_from("ab"), "lane": st.sampled_from("xy"), "name": names}
)
pieces = st.tuples(st.integers(2, 40), st.integers(0, 9), st.integers(2, 6), st.booleans())
questions = texts | pieces | pieces
"""A text, or a part of an entry: its index, start, length, and whether it is quoted."""

dates = st.integers(1, 9).map("2026-01-0{}T00:00:00.000000+00:00".format)
messages = st.builds(
    lambda text, meta, date: NewEntry("message", {"role": "user", "content": text}, meta, date),
    texts,
    metas,
    dates,
)
anchors = st.builds(lambda text: NewEntry("anchor", {"name": text or "-", "state": {}}), texts)
results = st.builds(lambda text: NewEntry("tool_result", {"results": [text]}), texts)
edits = st.builds(
    lambda about, text: NewEntry(
        "event", {"name": "message.edit", "data": {"entry": about, "content": text}}
    ),
    st.integers(3, 30),
    texts,
)
entries = st.lists(messages | messages | anchors | results | edits, min_size=3, max_size=12)
plain = st.builds(Query, st.just("t"), limit=st.integers(1, 20))
narrow = st.builds(
    Query,
    st.just("t"),
    before=st.none() | st.integers(1, 20),
    kinds=st.sampled_from([("message", "anchor"), ("anchor",), ("tool_result", "message")]),
    since=st.none() | dates,
    until=st.none() | dates,
    author=st.none() | st.sampled_from("ab"),
    lane=st.none() | st.sampled_from("xy"),
    limit=st.integers(1, 5),
)


@given(
    st.lists(entries, min_size=1, max_size=3),
    st.lists(st.tuples(questions, plain | narrow), min_size=5, max_size=15),
)
@examples(30)
def test_the_index_answers_as_the_reference_does(
    batches: list[list[NewEntry]], asked: list[tuple[str | Piece, Query]]
) -> None:
    anyio.run(_compare, batches, asked)


async def _compare(batches: list[list[NewEntry]], asked: list[tuple[str | Piece, Query]]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "t.db"
        store = SqliteStore.open(path)
        # Not through the store, which looks through the entries where the index fails.
        lookup = Lookup(Database.open(path, [tape_schema()]), IndexFile(path))
        try:
            for place, batch in enumerate(batches):
                await store.append("t", batch)
                if place != 1:  # so that one batch and the next share a transaction of the index
                    await store.indexed()
            everything = await store.query(Query("t"))
            for question, query in asked:
                text = question if isinstance(question, str) else _piece(everything, *question)
                wanted = SearchQuery.read(text)
                if wanted:
                    for then in (wanted, wanted.up_to(len(everything) // 2)):
                        found = lookup.search(query, then)
                        assert found.hits == _reference(everything, query, then), text
                        assert found.whole
        finally:
            lookup.close()
            await store.close()


def _piece(everything: list[Entry], which: int, start: int, length: int, quoted: bool) -> str:
    entry = everything[which % len(everything)]
    data = entry.payload.get("data")
    new = data.get("content") if isinstance(data, dict) else None
    text = new if isinstance(new, str) else searchable_text(entry)
    piece = text[start % max(len(text), 1) :][:length]
    return f'"{piece}"' if quoted else piece


def _reference(everything: list[Entry], query: Query, wanted: SearchQuery) -> list[Entry]:
    return scan_here(scanning(query, wanted), lambda page: page.pick(everything)).hits


WORDS = ("to", "be", "or", "not", "Straße", "café", "v1.2", "部", "署", "的", "失", "カ", "😀", "-")


async def test_many_questions_of_few_words_have_the_same_answers(tmp_path: Path) -> None:
    chance = random.Random(6)

    def sentence(most: int) -> str:
        words = chance.choices(WORDS, k=chance.randrange(1, most))
        return "".join(word + chance.choice(["", " "]) for word in words)

    store = SqliteStore.open(tmp_path / "t.db")
    await store.append("t", [message("user", sentence(10)) for _ in range(400)])
    await store.indexed()
    everything = await store.query(Query("t"))
    lookup = Lookup(Database.open(tmp_path / "t.db", [tape_schema()]), IndexFile(tmp_path / "t.db"))
    hits = 0
    for _ in range(400):
        text = chance.choice(["{}", "{}", '"{}"', '{} "']).format(sentence(5))
        wanted, query = SearchQuery.read(text), Query("t", limit=chance.randrange(1, 40))
        if wanted:
            found = lookup.search(query, wanted).hits
            assert found == _reference(everything, query, wanted), text
            hits += bool(found)
    assert hits > 200
    lookup.close()
    await store.close()


def test_a_scan_reads_pages_until_its_limit_is_full_or_its_bound_is_reached() -> None:
    everything = [
        Entry(number, "message", {"content": "plum" if number % 50 == 0 else "-"}, {}, "")
        for number in range(1, 5001)
    ]
    asked: list[Query] = []

    def pick(query: Query) -> list[Entry]:
        asked.append(query)
        return query.pick(everything)

    query = Query("t", limit=3)
    found = scan_here(scanning(query, SearchQuery.read("plum")), pick)
    assert [entry.id for entry in found.hits] == [5000, 4950, 4900]
    assert found.whole
    assert len(asked) == 4  # each page, and the edits of its messages
    far = scan_here(scanning(replace(query, limit=99), SearchQuery.read("plum"), 300), pick)
    assert not far.whole
    assert [entry.id for entry in far.hits] == [5000, 4950, 4900, 4850, 4800, 4750]
