"""A line of a tape's file is an entry with its five keys, and the file's own fields in `meta`.

`key`    the append's key, on each entry of its batch
`block`  [i, n]: line i of n that count together or not at all; absent if n is 1
`sum`    a digest of the previous sum and the line (with 16 zeros as sum); last in `meta`

Callers never see these fields. If an entry's own `meta` has a key of the same name, all of it moves
to `meta.meta`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final

from tape.entry import Entry, from_line, to_line

FIRST: Final = b"0" * 16  # the sum before the first line of a file, and the placeholder for a sum
_SUM_KEY: Final = b'"sum":"'
_RESERVED: Final = frozenset({"key", "block", "sum", "meta"})


@dataclass(frozen=True, slots=True)
class TapeLine:
    """A parsed line: the entry as it was appended, and the file's own fields."""

    entry: Entry
    key: str | None
    block: tuple[int, int]
    sum: bytes


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that are written and valid only together.

    size   number of lines
    key    the append's key
    added  number of lines before the batch, which do not get the key (the bootstrap)
    """

    size: int
    key: str | None = None
    added: int = 0


def seal(
    entries: Sequence[Entry], block: Block, previous: bytes, first: int = 1
) -> tuple[list[bytes], bytes]:
    """Return the lines of a block, with newlines, and the sum of the last; raises AppendRefused.

    previous  the sum of the previous line
    first     the number of the first of these entries in its block
    """
    lines = []
    for number, entry in enumerate(entries, start=first):
        fields: dict[str, Any] = {}
        if block.key is not None and number > block.added:
            fields["key"] = block.key
        if block.size > 1:
            fields["block"] = [number, block.size]
        own: Mapping[str, Any] = entry.meta
        if not _RESERVED.isdisjoint(own):
            own = {"meta": own}
        unsealed = replace(entry, meta={**own, **fields, "sum": FIRST.decode()})
        body = to_line(unsealed).encode()
        previous = _sum(body, previous)
        at = body.rfind(_SUM_KEY) + len(_SUM_KEY)
        lines.append(body[:at] + previous + body[at + len(FIRST) :] + b"\n")
    return lines, previous


def sum_of(line: bytes, previous: bytes) -> bytes | None:
    """Return the sum of a line without newline, or None if the line was changed."""
    at = line.rfind(_SUM_KEY) + len(_SUM_KEY)
    if at < len(_SUM_KEY):
        return None
    written = line[at : at + len(FIRST)]
    zeroed = line[:at] + FIRST + line[at + len(FIRST) :]
    return written if _sum(zeroed, previous) == written else None


def unseal(line: str | bytes) -> TapeLine:
    """Parse a line; raises ValueError if the line is no entry or lacks the file's own fields."""
    entry = from_line(line)
    meta = dict(entry.meta)
    digest, key, block = meta.pop("sum", None), meta.pop("key", None), meta.pop("block", [1, 1])
    if not isinstance(digest, str) or not isinstance(key, str | None) or not _is_position(block):
        raise ValueError("sum, key or block is missing or invalid in meta")
    own = meta.get("meta", meta)
    if not isinstance(own, dict):
        raise ValueError("meta.meta is not an object")
    return TapeLine(replace(entry, meta=own), key, (block[0], block[1]), digest.encode())


def _is_position(block: object) -> bool:
    return (
        isinstance(block, list)
        and len(block) == 2
        and all(type(number) is int for number in block)
        and 1 <= block[0] <= block[1]
    )


def _sum(zeroed: bytes, previous: bytes) -> bytes:
    return blake2b(previous + zeroed, digest_size=8).hexdigest().encode()
