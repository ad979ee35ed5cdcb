"""Reading a tape's file through: what of it counts, what is cut, and what is wrong with it.

A process that was killed, or a machine that lost its power, leaves an end that nobody was told of:
half a line, some lines of a block, or bytes that say nothing. That is cut. A line that reads as an
entry and is not the one that was written there, or one that cannot be read and has entries behind
it, is damage, and is told of with its number. Behind what an index has read, such lines may be
those of a block that reached the disk in part: they are cut, and kept beside the file.
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
    """How far a file was read before: so many bytes, and the sum of the last line of them."""

    size: int = 0
    sum: bytes = FIRST


@dataclass(frozen=True, slots=True)
class LocatedLine:
    """A line and where it stands: its first byte, and how many they are without the end."""

    line: TapeLine
    at: int
    size: int


class FileReplaced(Exception):
    """A file is not the one that was read before: its mark is of no use."""


class Check:
    """Reads one file through; `end` is then the end of what counts.

    `spared` tells that what lies behind it holds whole entries, and is to be kept elsewhere.
    """

    def __init__(self, path: Path, known: Checkpoint) -> None:
        self._path = path
        self._known = known
        self.end = Checkpoint()
        self.spared = False

    def blocks(self) -> Iterator[list[LocatedLine]]:
        """Give the blocks behind the mark that was known, each whole; raises StoreUnfit, Moved."""
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
            if at >= self._known.size:
                placed = LocatedLine(self._line(raw, number, newest + 1), at, len(raw) - 1)
                block.append(placed)
            newest, at, previous = newest + 1, at + len(raw), summed
            if at == self._known.size:
                self._recognize(at, previous)
            elif block and block[-1].line.block[0] == block[-1].line.block[1]:
                self.end = Checkpoint(at, previous)
                yield block
                block = []
        if self.end.size < self._known.size:
            raise FileReplaced

    def _recognize(self, at: int, previous: bytes) -> None:
        if previous != self._known.sum:
            raise FileReplaced
        self.end = Checkpoint(at, previous)

    def _line(self, raw: bytes, number: int, wanted: int) -> TapeLine:
        try:
            line = unseal(raw)
        except ValueError as cause:
            raise self._unfit(number, f"cannot be read ({cause})") from cause
        if line.entry.id != wanted:
            raise self._unfit(number, f"has the id {line.entry.id} where {wanted} has to be")
        return line

    def _judge(self, raw: bytes, number: int, at: int, wanted: int, rest: BinaryIO) -> None:
        """Let what was never acknowledged be cut; raises StoreUnfit for damage."""
        found = _id_of(raw)
        if found is not None:
            what = (
                "was changed after it was written, or is not from this gateway"
                if found == wanted
                else f"has the id {found} where {wanted} has to be: lines are missing or were added"
            )
            raise self._unfit(number, what)
        told = at < self._known.size or not self._known.size
        self.spared = any(_id_of(line) is not None for line in rest)
        if told and self.spared:
            raise self._unfit(number, "cannot be read, and entries follow it")

    def _unfit(self, number: int, what: str) -> StoreUnusable:
        return StoreUnusable(
            f"{self._path}, line {number}: it {what}; nothing was changed. Restore a backup of the"
            " file, or move it away and bring it back with `tapeway tape import`, which mends"
        )


def _id_of(raw: bytes) -> int | None:
    """Return the id of a line that is whole and reads as an entry."""
    try:
        return from_line(raw).id if raw.endswith(b"\n") else None
    except ValueError:
        return None
