"""Convert entries to rows of the index, and queries to FTS5's query language."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import groupby, pairwise
from typing import Final

from tape.entry import Entry
from tape.query import Query
from tape.search.entry_terms import TALK, words
from tape.search.query_text import SearchQuery
from tape.search.tokenizer import alone, pairs

SPAN: Final = 4096  # number of a tape's ids that share one record of their oldest and newest date
Row = tuple[int, str, str, str, str]


def table_of(kind: str) -> str:
    return "talk" if kind in TALK else "work"


def tables_of(kinds: tuple[str, ...] | None) -> tuple[str, ...]:
    if kinds is None:
        return ("talk", "work")
    return tuple(sorted({table_of(kind) for kind in kinds}))


def row_of(place: int, entry: Entry) -> Row | None:
    """Return the row for an entry, or None if the entry has no text."""
    found = words(entry)
    if not found.text:
        return None
    return (
        place,
        " ".join(found.text),
        " ".join(pairs(found.text)),
        " ".join(found.who),
        " ".join(_tags(entry)),
    )


def _tags(entry: Entry) -> Iterator[str]:
    if entry.kind != "message":
        yield _tag("kind", entry.kind)
    for name in ("author", "lane"):
        value = entry.meta.get(name)
        if isinstance(value, str):
            yield _tag(name, value)


def _tag(name: str, value: str) -> str:
    # Two values may share a tag, so every hit is checked against its entry.
    digest = blake2b(value.encode("utf-8", "surrogatepass"), digest_size=5)
    return f"{name[0]}{digest.hexdigest()}"


def match_of(wanted: SearchQuery, query: Query) -> str:
    """Return an FTS5 query with only our own terms, each in quotes."""
    texts = [_in_text(phrase) for phrase in wanted.phrases]
    parts = [texts[0]]
    if len(texts) > 1:
        either = [
            f"({text} OR {_in('who', phrase)})"
            for text, phrase in zip(texts, wanted.phrases, strict=True)
        ]
        parts = [*either, f"({' OR '.join(texts)})"]
    for name, value in (("author", query.author), ("lane", query.lane)):
        if value is not None and not (name == "lane" and query.unlaned):
            parts.append(f'tags : "{_tag(name, value)}"')
    if query.kinds and "message" not in query.kinds:
        kinds = " OR ".join(f'"{_tag("kind", kind)}"' for kind in sorted(set(query.kinds)))
        parts.append(f"tags : ({kinds})")
    return " AND ".join(parts)


def _in_text(phrase: tuple[str, ...]) -> str:
    # Pairs of lone characters are rarer than the characters, so they go first.
    runs = [tuple(run) for single, run in groupby(phrase, alone) if single]
    paired = [tuple(map("".join, pairwise(run))) for run in runs if len(run) > 1]
    near = [_in("pairs", pairs_of_run) for pairs_of_run in paired]
    if len(near) == 1 and len(runs[0]) == len(phrase):
        return near[0]
    return f"({' AND '.join([*near, _in('text', phrase)])})"


def _in(column: str, phrase: tuple[str, ...]) -> str:
    return f'{column} : "{" ".join(phrase)}"'
