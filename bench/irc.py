"""Annotated chat logs: lines `[HH:MM] <nick> text`, and links `a b -` (line b continues line a).

A folder holds `NAME.ascii.txt` with `NAME.annotation.txt` beside it, and `NAME.replies.json` where
the platform's own replies are known (`{"b": a}`: line b replies to line a). Lines count from 0.
Those that begin with `===` are the server's own. The files themselves say the rest:

dates       a line may have its day: `[YYYY-MM-DD HH:MM]`. Without one, the time of day goes on from
            the line before, and the first line is of `UNDATED`.
first line  the first one that the annotation says anything of: that it continues an earlier line,
            or that it begins a conversation (`a a -`). What is before it was heard, no more.
links       conversations, if the annotation names a beginning or leaves hardly a line out, or if
            the replies have a file of their own. Else they are replies: most lines have none, and
            nobody said where a conversation begins. Such a log is heard from its start.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final, Literal

Links = Literal["conversations", "replies"]

UNDATED: Final = datetime(2020, 1, 1, tzinfo=UTC)
"""The day of the first line of a log without days."""

WARM: Final = 100
HARDLY_LEFT_OUT: Final = 0.9
"""Minimum share of the lines with a link if these are conversations without beginnings."""

LOG: Final = ".ascii.txt"
ANNOTATION: Final = ".annotation.txt"
REPLIES: Final = ".replies.json"
DAY: Final = 1440
HALF_DAY: Final = 720
BACKWARDS: Final = 660
SHORTEST_NAME: Final = 3

_LINE: Final = re.compile(
    r"\[(?:(\d{4}-\d\d-\d\d) )?(\d\d):(\d\d)\]\s+(?:<([^>]*)>|\*\s+(\S+))\s?(.*)"
)
_TOKEN: Final = re.compile(r"[^\s,:;!?()<>\"'@]+")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a log; `at` is in seconds from the first line."""

    number: int
    at: float
    author: str
    text: str
    mentions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Log:
    """One file: the lines that people wrote, and who continues what.

    `parents` has the annotated links of a log whose links are conversations (a line that begins a
    conversation has none), and `dispatcher` each annotated line's connected component by its first
    line. `replies` has what the platform itself tells; in a log whose links are replies, only this.
    `server_lines` counts the lines that are annotated, but that no person wrote.
    """

    name: str
    lines: tuple[Line, ...]
    parents: dict[int, tuple[int, ...]] = field(repr=False)
    dispatcher: dict[int, int] = field(repr=False)
    replies: dict[int, int] = field(repr=False)
    first_line: int
    links: Links
    begun: datetime
    server_lines: int = 0

    def gold(self, number: int) -> frozenset[int]:
        """Return the earlier lines of a line's conversation, from the first annotated line on."""
        mine = self.dispatcher.get(number)
        if mine is None:
            return frozenset()
        return frozenset(
            line.number
            for line in self.lines
            if self.first_line <= line.number < number and self.dispatcher.get(line.number) == mine
        )

    def queries(self, warm: int = WARM) -> Iterator[Line]:
        """Give the lines that are asked about: those with an earlier line of the conversation."""
        counts: dict[int, int] = {}
        for line in self.lines:
            mine = self.dispatcher.get(line.number)
            if mine is None or line.number < self.first_line:
                continue
            if line.number >= self.first_line + warm and counts.get(mine):
                yield line
            counts[mine] = counts.get(mine, 0) + 1

    def hiding(self, share: float, seed: int) -> tuple[Log, dict[int, int]]:
        """Return the log without a share of its replies, and these; the same for the same seed."""
        rng = random.Random(f"hidden {seed} {self.name}")
        lines = sorted(self.replies)
        hidden = set(rng.sample(lines, round(share * len(lines))))
        left = {line: to for line, to in self.replies.items() if line not in hidden}
        return replace(self, replies=left), {line: self.replies[line] for line in sorted(hidden)}


def logs(*places: Path | str) -> list[Path]:
    """Return the annotated logs of folders, or those whose names fit (`DIR/*.[0-8]`), by name.

    The logs of one place stand together; each is named once.
    """
    found: dict[Path, None] = {}
    for place in map(Path, places):
        folder, names = (place, "*") if place.is_dir() else (place.parent, place.name)
        for path in sorted(folder.glob(names.removesuffix(LOG) + LOG)):
            if _beside(path, ANNOTATION).exists():
                found[path] = None
    return list(found)


def read(path: Path, first_line: int | None = None, links: Links | None = None) -> Log:
    """Read one log and what is beside it; `first_line` and `links` overrule what it says itself."""
    lines, begun = _lines(path.read_text("utf-8", "replace"))
    pairs = list(_pairs(_beside(path, ANNOTATION).read_text("utf-8")))
    replies = _replies(_beside(path, REPLIES))
    first = min((later for _, later in pairs), default=0)
    count = sum(line.number >= first for line in lines)
    links = links or ("conversations" if replies else _links(pairs, count))
    parents: dict[int, tuple[int, ...]] = {}
    if links == "replies":
        replies |= {later: earlier for earlier, later in pairs if earlier != later}
        pairs, first = [], 0
    for earlier, later in pairs:
        if earlier != later:
            parents[later] = (*parents.get(later, ()), earlier)
    name, conversations = path.name.removesuffix(LOG), _components(pairs)
    first = first if first_line is None else first_line
    people = {line.number for line in lines}
    servers = sum(line >= first and line not in people for line in conversations)
    return Log(name, lines, parents, conversations, replies, first, links, begun, servers)


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


def _beside(path: Path, suffix: str) -> Path:
    """Return a file of a log."""
    return path.with_name(path.name.removesuffix(LOG) + suffix)


def _replies(path: Path) -> dict[int, int]:
    """Return the platform's replies, where they are known."""
    if not path.exists():
        return {}
    return {int(line): int(to) for line, to in json.loads(path.read_text("utf-8")).items()}


def _links(pairs: list[tuple[int, int]], lines: int) -> Links:
    """Return what an annotation's links are; `lines` counts those from its first on."""
    begins = any(earlier == later for earlier, later in pairs)
    linked = len({later for _, later in pairs})
    return "conversations" if begins or linked >= HARDLY_LEFT_OUT * lines else "replies"


def _lines(text: str) -> tuple[tuple[Line, ...], datetime]:
    """Return the lines that people wrote, and when the first of them was written."""
    seen: dict[str, str] = {}
    found: list[Line] = []
    clock, minutes, begun = 0, 0, UNDATED.toordinal() * DAY
    for number, row in enumerate(text.split("\n")):
        match = _LINE.match(row)
        if match is None:
            continue
        day, hour, minute, nick, actor, said = match.groups()
        now = int(hour) * 60 + int(minute)
        if day:
            begun = begun if found else _minute(day, now)
            minutes = _minute(day, now) - begun
        elif found:
            minutes += _passed(clock, now)
        clock = now
        author = nick if nick is not None else actor
        found.append(Line(number, minutes * 60.0, author, said, mentioned(said, author, seen)))
        seen.setdefault(author.lower(), author)
    moment = datetime.fromordinal(begun // DAY) + timedelta(minutes=begun % DAY)
    return tuple(found), moment.replace(tzinfo=UTC)


def _minute(day: str, minute: int) -> int:
    """Return a day's minute, counted from the calendar's first."""
    return date.fromisoformat(day).toordinal() * DAY + minute


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
