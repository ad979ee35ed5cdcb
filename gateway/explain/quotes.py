"""Find the entries that repeat the text of a deleted message, for whoever erases it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from gateway.explain.report import ReportLine, StoreReads, quoted
from tape.context import MESSAGE_EDIT
from tape.entry import MESSAGE, Entry
from tape.query import Query
from tape.search.tokenizer import fold, terms

RUN_TERMS: Final = 4  # words in a row that count as a quotation; all of a shorter text
MIN_WORD_CHARACTERS: Final = 5
"""Minimum characters of a text of one word to look for, because shorter words are everywhere."""

MAX_SCANNED: Final = 20_000  # maximum entries after the message to read
MAX_LISTED: Final = 50
PAGE: Final = 1000


async def quote_lines(
    reads: StoreReads, tape: str, entry: Entry, changes: Sequence[Entry]
) -> list[ReportLine]:
    """Return a line for each later entry that repeats a message, and one that lists them all."""
    edits = [change.payload["data"] for change in changes if change.name == MESSAGE_EDIT]
    said = [entry.meta.get("text") or entry.text]
    runs = word_runs([*said, *(str(edit.get("text") or edit.get("content")) for edit in edits)])
    found: list[Entry] = []
    after, last = entry.id, entry.id + MAX_SCANNED
    while runs and after < last:
        page = await reads.query(Query(tape, after=after, limit=PAGE))
        # In a thread: a long text on a long tape takes seconds.
        found += await asyncio.to_thread(repeating, page, runs)
        after = page[-1].id if page else last
        if len(page) < PAGE:
            break
    lines = [_line(later) for later in found[:MAX_LISTED]]
    numbers = [entry.id, *(later.id for later in found)]
    more = f"; only the first {MAX_SCANNED} entries after it were read" if after >= last else ""
    says = f"to erase its text: entries {', '.join(map(str, numbers))} of the tape {tape}{more}"
    return [*lines, ReportLine("", "quoted", says, {"tape": tape, "entries": numbers})]


def _line(entry: Entry) -> ReportLine:
    who = entry.payload.get("role", "") if entry.kind == MESSAGE else entry.name or ""
    what = f"{entry.kind} {who}".strip()
    says = f"entry {entry.id} ({what}) repeats it: {quoted(_text(entry), 200)}"
    return ReportLine(entry.date, "quoted", says, {"entry": entry.id, "kind": entry.kind})


def word_runs(texts: Sequence[str]) -> set[tuple[str, ...]]:
    """Return the runs of words by which the texts are recognized."""
    runs: set[tuple[str, ...]] = set()
    for text in texts:
        words = terms(fold(text))
        if words and (len(words) > 1 or len(words[0]) >= MIN_WORD_CHARACTERS):
            runs.update(_windows(words, min(RUN_TERMS, len(words))))
    return runs


def repeating(entries: Sequence[Entry], runs: AbstractSet[tuple[str, ...]]) -> list[Entry]:
    """Return the entries that have any of the runs of words."""
    return [entry for entry in entries if repeats(entry.payload, runs)]


def repeats(value: object, runs: AbstractSet[tuple[str, ...]]) -> bool:
    """Return whether the texts of a JSON value have any of the runs of words."""
    words = terms(fold(" \n".join(_texts(value)))) if runs else []
    sizes = range(1, RUN_TERMS + 1)
    return any(not runs.isdisjoint(_windows(words, size)) for size in sizes)


def _windows(words: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[at:] for at in range(size)), strict=False)


def _text(entry: Entry) -> str:
    return " \n".join(_texts(entry.payload))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
