"""Annotated chat logs: lines `[HH:MM] <nick> text`, and links `a b -` (line b goes on from a).

A folder holds `NAME.ascii.txt` with `NAME.annotation.txt` beside it; lines count from 0. Lines that
begin with `===` are the server's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

FIRST_LINE: Final = 1000
WARM: Final = 100
HALF_DAY: Final = 720
BACKWARDS: Final = 660
SHORTEST_NAME: Final = 3

_LINE: Final = re.compile(r"\[(\d\d):(\d\d)\]\s+(?:<([^>]*)>|\*\s+(\S+))\s?(.*)")
_TOKEN: Final = re.compile(r"[^\s,:;!?()<>\"'@]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log; `at` is in seconds from the start of its first day."""

    number: int
    at: float
    author: str
    text: str
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """One file: the lines that people wrote, and who goes on from what.

    `parents` holds the annotated links (a line that starts a conversation has none);
    `conversation` names each annotated line's connected component by its first line.
    """

    name: str
    lines: tuple[Line, ...]
    parents: dict[int, tuple[int, ...]] = field(repr=False)
    dispatcher: dict[int, int] = field(repr=False)

    def gold(self, number: int, first_line: int = FIRST_LINE) -> frozenset[int]:
        """Return the earlier lines of a line's conversation, from `first_line` on."""
        mine = self.dispatcher.get(number)
        if mine is None:
            return frozenset()
        return frozenset(
            line.number
            for line in self.lines
            if first_line <= line.number < number and self.dispatcher.get(line.number) == mine
        )

    def queries(self, first_line: int = FIRST_LINE, warm: int = WARM) -> Iterator[Line]:
        """Give the lines that are asked about: those with an earlier line of the conversation."""
        for line in self.lines:
            if line.number >= first_line + warm and self.gold(line.number, first_line):
                yield line


def logs(folder: Path) -> list[Path]:
    """Return the annotated logs of a folder, by name."""
    found = sorted(folder.glob("*.ascii.txt"))
    return [path for path in found if _annotation(path).exists()]


def read(path: Path) -> Log:
    """Read one log and its annotation."""
    lines = tuple(_lines(path.read_text("utf-8", "replace")))
    pairs = list(_pairs(_annotation(path).read_text("utf-8")))
    parents: dict[int, tuple[int, ...]] = {}
    for earlier, later in pairs:
        if earlier != later:
            parents[later] = (*parents.get(later, ()), earlier)
    return Log(path.name.removesuffix(".ascii.txt"), lines, parents, _components(pairs))


def mentioned(text: str, author: str, seen: dict[str, str]) -> tuple[str, ...]:
    """Return whom a text mentions, as a platform would tell it.

    A mention is a token that equals a nick seen before, as the first word or longer than three
    characters; `seen` holds the nicks by their lower case.
    """
    found: dict[str, None] = {}
    for position, token in enumerate(_TOKEN.findall(text)):
        nick = seen.get(token.lower()) or seen.get(token.lower().rstrip("."))
        if nick and nick != author and (position == 0 or len(nick) > SHORTEST_NAME):
            found[nick] = None
    return tuple(found)


def _annotation(path: Path) -> Path:
    """Return the file of a log's links."""
    return path.with_name(path.name.removesuffix(".ascii.txt") + ".annotation.txt")


def _lines(text: str) -> Iterator[Line]:
    """Give the lines that people wrote."""
    seen: dict[str, str] = {}
    clock: int | None = None
    minutes = 0
    for number, row in enumerate(text.split("\n")):
        match = _LINE.match(row)
        if match is None:
            continue
        hour, minute, nick, actor, said = match.groups()
        now = int(hour) * 60 + int(minute)
        minutes += 0 if clock is None else _passed(clock, now)
        clock = now
        author = nick if nick is not None else actor
        yield Line(number, minutes * 60.0, author, said, mentioned(said, author, seen))
        seen.setdefault(author.lower(), author)


def _passed(before: int, now: int) -> int:
    """Return the minutes between two readings of a clock that may show twelve hours only."""
    passed = (now - before) % HALF_DAY
    return 0 if passed > BACKWARDS else passed


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """Give the annotated links, the earlier line first."""
    for row in text.splitlines():
        numbers = row.replace("-", " ").split()
        if len(numbers) == 2:
            one, two = int(numbers[0]), int(numbers[1])
            yield min(one, two), max(one, two)


def _components(pairs: list[tuple[int, int]]) -> dict[int, int]:
    """Return the first line of each line's connected component."""
    root: dict[int, int] = {}

    def find(line: int) -> int:
        while root.setdefault(line, line) != line:
            root[line] = root[root[line]]
            line = root[line]
        return line

    for one, two in pairs:
        first, second = sorted((find(one), find(two)))
        root[second] = first
    return {line: find(line) for line in list(root)}
