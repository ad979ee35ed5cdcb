"""Verify a tape's file: which lines are valid, where to truncate it, and what is damaged.

A killed process or a power failure may leave an end that was never acknowledged: half a line, part
of a block, or garbage. Such an end is truncated. Damage raises StoreUnusable with the line's
number: a valid entry other than the one written there, or an unreadable line that entries follow.
After the lines that an index has seen, unreadable lines that entries follow may be a block that
reached the disk in part: they are truncated, and a copy is kept next to the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tape.entry import from_line
from tape.errors import StoreUnusable
from tape.stores.jsonl.line import FIRST, TapeLine, sum_of, unseal


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """How far a file was read: the number of bytes, and the last line's sum."""

    size: int = 0
    sum: bytes = FIRST


@dataclass(frozen=True, slots=True)
class LocatedLine:
    """A line, the offset of its first byte, and its size in bytes without the newline."""

    line: TapeLine
    at: int
    size: int


class FileReplaced(Exception):
    """The file does not match its checkpoint, and must be read from the start."""


class Check:
    """Verifies one file.

    end                    the end of the valid lines, once `blocks` is exhausted
    has_entries_after_end  whether the lines to truncate have whole entries, so that a copy is kept
    """

    def __init__(self, path: Path, known: Checkpoint) -> None:
        self._path = path
        self._known = known
        self.end = Checkpoint()
        self.has_entries_after_end = False

    def blocks(self) -> Iterator[list[LocatedLine]]:
        """Yield the complete blocks after the checkpoint; raises StoreUnusable or FileReplaced."""
        with self._path.open("rb") as file:
            yield from self._read(file)

    def _read(self, file: BinaryIO) -> Iterator[list[LocatedLine]]:
        at, newest, previous = 0, 0, FIRST
        block: list[LocatedLine] = []
        for number, raw in enumerate(file, start=1):
            summed = sum_of(raw[:-1], previous) if raw.endswith(b"\n") else None
            if summed is None:
                self._judge(raw, number, at, newest + 1, file)
                break
            if at < self._known.size < at + len(raw):
                raise FileReplaced
            if at >= self._known.size:
                block.append(LocatedLine(self._line(raw, number, newest + 1), at, len(raw) - 1))
            newest, at, previous = newest + 1, at + len(raw), summed
            if at == self._known.size:
                if previous != self._known.sum:
                    raise FileReplaced
                self.end = Checkpoint(at, previous)
            elif block and block[-1].line.block[0] == block[-1].line.block[1]:
                self.end = Checkpoint(at, previous)
                yield block
                block = []
        if self.end.size < self._known.size:
            raise FileReplaced

    def _line(self, raw: bytes, number: int, expected: int) -> TapeLine:
        try:
            line = unseal(raw)
        except ValueError as cause:
            raise self._damaged(number, f"cannot be read ({cause})") from cause
        if line.entry.id != expected:
            raise self._damaged(number, f"has the id {line.entry.id} instead of {expected}")
        return line

    def _judge(self, raw: bytes, number: int, at: int, expected: int, rest: BinaryIO) -> None:
        """Raise StoreUnusable if a line with an invalid sum is damage and not an unfinished end."""
        found = _id_of(raw)
        if found is not None:
            what = (
                "was changed after it was written, or is not from this gateway"
                if found == expected
                else f"has the id {found} instead of {expected}: lines are missing or were added"
            )
            raise self._damaged(number, what)
        acknowledged = at < self._known.size or not self._known.size
        self.has_entries_after_end = any(_id_of(line) is not None for line in rest)
        if acknowledged and self.has_entries_after_end:
            raise self._damaged(number, "cannot be read, and entries follow it")

    def _damaged(self, number: int, what: str) -> StoreUnusable:
        return StoreUnusable(
            f"{self._path}, line {number}: it {what}; nothing was changed. Restore a backup of the"
            " file, or move it away and repair it with `tapeway tape import`"
        )


def _id_of(raw: bytes) -> int | None:
    """Return the id if the bytes are a complete line with an entry, whatever its sum; else None."""
    try:
        return from_line(raw).id if raw.endswith(b"\n") else None
    except ValueError:
        return None
