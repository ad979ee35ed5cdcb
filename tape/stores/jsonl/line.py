"""A line of a tape's file: an entry with its five keys, and the file's own marks in `meta`.

`key`    the append's key, on each of the entries that it asked for
`block`  [i, n]: the i-th of n lines that count together or not at all; absent where n is 1
`sum`    a digest of the line (16 zeros in its place) and of the line before: the last in `meta`

Callers never see the marks. An entry whose own `meta` has a key called like one of them is kept
whole under `meta.meta`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from tape.entry import Entry, from_line, to_line

FIRST: Final = b"0" * 16
"""What the sum of a file's first line goes on from."""

_MARK: Final = b'"sum":"'
_RESERVED: Final = frozenset({"key", "block", "sum", "meta"})


@dataclass(frozen=True, slots=True)
class TapeLine:
    """A line of a file, read: the entry as its writer gave it, and the marks."""

    entry: Entry
    key: str | None
    block: tuple[int, int]
    sum: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """What is written together: how many lines, and the key of those behind the `unasked` ones."""

    size: int
    key: str | None = None
    unasked: int = 0


def seal(
    entries: Sequence[Entry], block: Block, previous: bytes, first: int = 1
) -> tuple[list[bytes], bytes]:
    """Return the lines of a block from its `first` on, with their ends, and the last one's sum.

    Raises AppendRefused.
    """
    lines = []
    for number, entry in enumerate(entries, start=first):
        marks: dict[str, Any] = {}
        if block.key is not None and number > block.unasked:
            marks["key"] = block.key
        if block.size > 1:
            marks["block"] = [number, block.size]
        own: Mapping[str, Any] = entry.meta
        if not _RESERVED.isdisjoint(own):
            own = {"meta": own}
        marked = replace(entry, meta={**own, **marks, "sum": FIRST.decode()})
        body = to_line(marked).encode()
        previous = _sum(body, previous)
        at = body.rfind(_MARK) + len(_MARK)
        lines.append(body[:at] + previous + body[at + len(FIRST) :] + b"\n")
    return lines, previous


def sum_of(line: bytes, previous: bytes) -> bytes | None:
    """Return the sum of a line, without its end, that is as it was written; else None."""
    at = line.rfind(_MARK) + len(_MARK)
    if at < len(_MARK):
        return None
    written = line[at : at + len(FIRST)]
    zeroed = line[:at] + FIRST + line[at + len(FIRST) :]
    return written if _sum(zeroed, previous) == written else None


def unseal(line: str | bytes) -> TapeLine:
    """Read a line; raises ValueError where it is no entry or lacks its marks."""
    entry = from_line(line)
    meta = dict(entry.meta)
    digest, key, block = meta.pop("sum", None), meta.pop("key", None), meta.pop("block", [1, 1])
    if not isinstance(digest, str) or not isinstance(key, str | None) or not _is_place(block):
        raise ValueError("a line of a tape's file needs its marks in meta")
    own = meta.get("meta", meta)
    if not isinstance(own, dict):
        raise ValueError("a line of a tape's file has no object as its meta")
    return TapeLine(replace(entry, meta=own), key, (block[0], block[1]), digest.encode())


def _is_place(block: object) -> bool:
    return (
        isinstance(block, list)
        and len(block) == 2
        and all(type(number) is int for number in block)
        and 1 <= block[0] <= block[1]
    )


def _sum(zeroed: bytes, previous: bytes) -> bytes:
    return blake2b(previous + zeroed, digest_size=8).hexdigest().encode()
