"""Rooms that a log could have been: with fewer conversations, other paces, mentions, replies."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from bench.irc import Line, Log

KEPT: Final = (0.0, 0.08, 0.15, 0.3, 0.5, 0.8)
"""Shares of the conversations that are kept; 0: the longest one alone."""

DROPPED: Final = (0.0, 0.3, 0.9, 1.0)
"""Shares of the mentions that are dropped; seven in ten from the text as well."""

FROM_TEXT: Final = 0.7
SLOWEST: Final = 12.0
FASTEST: Final = 0.3
SYLLABLES: Final = ("mo", "ta", "rin", "kel", "sau", "bre", "dov", "fip")
COLD: Final = 0.4
"""The share of the rooms that begin empty."""

REPLIED: Final = (0.0, 0.0, 0.3, 0.6)
"""Shares of the annotated links that are given as a platform's replies."""

CHAT_PACE: Final = (2.0, 40.0)
CHAT_KEPT: Final = (0.1, 0.2, 0.35, 0.6)
CHAT_DROPPED: Final = 0.93
CHAT_REPLIED: Final = (0.15, 0.25, 0.4)
"""Pace, conversations, missing mentions and replies of a room like those of chat programs."""

HIDDEN: Final = 0.5
"""The share of the replies that are hidden from the linker, where replies are all that is known."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A log to play, and which of its lines are replies to which.

    answers  the agent's lines, each with the line that it answers
    calls    the lines that call the agent
    """

    log: Log
    replies: dict[int, int]
    answers: dict[int, int] = field(default_factory=dict)
    calls: frozenset[int] = frozenset()


def scene(log: Log, replied: float = 0.0, seed: int = 0) -> Scene:
    """Return a log as it is, with its own replies and a share of its links given as replies.

    If its links are replies, half of them are hidden, and stand among its parents instead.
    """
    if log.links == "replies" and not log.parents:
        shown, hidden = log.hiding(HIDDEN, seed)
        parents: dict[int, tuple[int, ...]] = {line: (to,) for line, to in hidden.items()}
        return Scene(replace(shown, parents=parents), shown.replies)
    rng = random.Random(f"{seed} {log.name}")
    given = {
        line: max(parents)
        for line, parents in sorted(log.parents.items())
        if replied and rng.random() < replied
    }
    return Scene(log, given | log.replies)


def varied(log: Log, seed: int) -> Scene:
    """Return another room that the log could have been, the same for the same seed."""
    rng = random.Random(f"{seed} {log.name}")
    pace = math.exp(rng.uniform(math.log(FASTEST), math.log(SLOWEST)))
    kept, dropped, replied = rng.choice(KEPT), rng.choice(DROPPED), rng.choice(REPLIED)
    if rng.random() < COLD:
        heard = tuple(line for line in log.lines if line.number >= log.first_line)
        log = replace(log, lines=heard)
    if log.links == "replies":  # which lines are of one conversation is not known
        return scene(changed(log, dropped=dropped, pace=pace, seed=seed).log)
    if not kept:
        return scene(alone(log, dropped, pace).log, replied, seed)
    other = changed(log, kept=kept, dropped=dropped, pace=pace, seed=seed)
    return scene(other.log, replied, seed)


def chatlike(log: Log, seed: int) -> Scene:
    """Return the room that a log could have been in a chat program, the same for the same seed.

    It is slow, has fewer conversations at a time, hardly a mention, and some replies.
    """
    rng = random.Random(f"chat {seed} {log.name}")
    log = replace(log, lines=tuple(line for line in log.lines if line.number >= log.first_line))
    least, most = map(math.log, CHAT_PACE)
    pace, kept = math.exp(rng.uniform(least, most)), rng.choice(CHAT_KEPT)
    other = changed(log, kept=kept, dropped=CHAT_DROPPED, pace=pace, seed=seed)
    return scene(other.log, rng.choice(CHAT_REPLIED), seed)


def changed(
    log: Log,
    *,
    kept: float = 1.0,
    dropped: float = 0.0,
    pace: float = 1.0,
    renamed: bool = False,
    seed: int = 0,
) -> Scene:
    """Return a log with a share of its conversations, without a share of its mentions, slower."""
    rng = random.Random(f"{seed} {log.name}")
    lines = tuple(_said(line, dropped, pace, rng) for line in _kept(log, kept, rng))
    if renamed:
        lines = tuple(_renamed(lines))
    return _of(log, lines)


def alone(log: Log, dropped: float = 0.0, pace: float = 1.0) -> Scene:
    """Return the longest conversation of a log, and nothing around it."""
    counts = Counter(log.dispatcher.values())
    longest = max(counts, key=lambda conversation: (counts[conversation], -conversation))
    lines = tuple(line for line in log.lines if log.dispatcher.get(line.number) == longest)
    return changed(replace(log, lines=lines), dropped=dropped, pace=pace)


def _of(log: Log, lines: tuple[Line, ...]) -> Scene:
    """Return a log of other lines, with the links that are left."""
    left = {line.number for line in lines}
    parents = {
        line: kept
        for line, before in log.parents.items()
        if line in left and (kept := tuple(parent for parent in before if parent in left))
    }
    replies = {line: to for line, to in log.replies.items() if line in left and to in left}
    return scene(replace(log, lines=lines, parents=parents, replies=replies))


def _kept(log: Log, share: float, rng: random.Random) -> Iterator[Line]:
    """Give the lines of a share of the conversations, or people where none are annotated."""
    known: dict[int | str, bool] = {}
    for line in log.lines:
        of = log.dispatcher.get(line.number, line.author)
        if of not in known:
            known[of] = rng.random() < share
        if known[of]:
            yield line


def _said(line: Line, dropped: float, pace: float, rng: random.Random) -> Line:
    """Return a line as it is said in a slower room, or without its mentions."""
    text, mentions = line.text, line.mentions
    if mentions and rng.random() < dropped:
        if rng.random() < FROM_TEXT:
            for name in mentions:
                text = text.replace(name, "").strip(" ,:")
        mentions = ()
    return replace(line, at=line.at * pace, text=text, mentions=mentions)


def _renamed(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Give lines in which everybody has another name, in the texts that mention them too."""
    names: dict[str, str] = {}
    for line in lines:
        names.setdefault(line.author, f"{SYLLABLES[len(names) % len(SYLLABLES)]}{len(names)}x")
    for line in lines:
        text = line.text
        for name in line.mentions:
            text = text.replace(name, names[name])
        mentions = tuple(names[name] for name in line.mentions)
        yield replace(line, author=names[line.author], text=text, mentions=mentions)
