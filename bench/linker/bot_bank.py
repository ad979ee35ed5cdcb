"""What people ask, add and answer in annotated logs: the words of rooms with the agent in them.

Every text is a real line: the first of a conversation, a later one of its author, one of another
person who asks in it, or one of a helper. A bank is made of the logs of one set of files, so that
rooms to learn from and rooms to measure share no line.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from bench.irc import Line, Log
from tape.linking.features_text import gist

LEAST_ASKED: Final = 5
LEAST_TOLD: Final = 12
"""Minimum words of a task that is a question, and of one that is not but is answered."""

MAX_LATER: Final = 4
MAX_JOIN: Final = 18  # maximum words of a line that joins in
EARLY: Final = 12  # first lines of a conversation, among which others join in
MEDIAN_ANSWER: Final = 45
SHORTEST_ANSWER: Final = 8
LONGEST_ANSWER: Final = 260
SPREAD: Final = 0.9
"""Words of an answer: their median and bounds, and the deviation of their logarithm."""

OWN_SHARE: Final = 0.35
"""The share of an answer that may be lines which people say later in its conversation."""

FEW: Final = 20
PIECE: Final = 8
"""A log with fewer conversations is cut into pieces of at least so many lines."""

NEAREST: Final = 24  # helpers' lines, nearest to a question, of which an answer is made
_ADDS: Final = frozenset(("and", "but", "also", "so", "or", "same", "then"))


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A conversation as it could be had with the agent.

    asked    its first line
    later    what its author says later, to nobody in particular
    joins    lines of others who ask something in it
    helpers  what the others say
    """

    log: str
    asker: str
    asked: str
    later: tuple[str, ...]
    joins: tuple[str, ...]
    helpers: tuple[str, ...]


class Bank:
    """The dialogues of some logs, and their helpers' lines by word."""

    def __init__(self, logs: Iterable[Log]) -> None:
        self.dialogues = [found for log in logs for found in dialogues(log)]
        self.tasks = [one for one in self.dialogues if is_task(one)]
        self._lines = [(one, text) for one in self.dialogues for text in one.helpers]
        self._by_word: dict[int, list[int]] = {}
        for number, (_, text) in enumerate(self._lines):
            for word in gist(text).words:
                self._by_word.setdefault(word, []).append(number)

    def answer(self, question: str, own: Sequence[str], log: str, rng: random.Random) -> str:
        """Return an answer of real length, of helpers' lines that share words with a question.

        `own` are later lines of the question's conversation; no line is of the log `log`.
        """
        most = _answer_words(rng)
        parts = list(_until(own, most * OWN_SHARE)) if rng.random() < 0.5 else []
        near = self._nearest(question, log)
        rng.shuffle(near)
        parts += _until(near, most - sum(map(words, parts)))
        rng.shuffle(parts)
        if not parts:
            parts = [rng.choice(self._lines)[1] if self._lines else question]
        return _joined(parts, rng)

    def _nearest(self, question: str, log: str) -> list[str]:
        scores: dict[int, float] = {}
        for word in gist(question).words:
            found = self._by_word.get(word, ())
            for number in found:
                scores[number] = scores.get(number, 0.0) + math.log(
                    1 + len(self._lines) / len(found)
                )
        best = sorted(scores, key=lambda number: (-scores[number], number))[: 4 * NEAREST]
        likely = (self._lines[number] for number in best)
        texts: dict[str, None] = {}
        for one, text in likely:
            if one.log != log:
                texts.update(dict.fromkeys((text, *_beside(one, text))))
        return list(texts)[:NEAREST]


def dialogues(log: Log) -> Iterator[Dialogue]:
    """Give the annotated conversations of a log, or what replies connect."""
    by_conversation: dict[int, list[Line]] = {}
    begun = {to: to for to in log.replies.values()} if log.links == "replies" else log.dispatcher
    for line in log.lines:
        if log.links == "replies" and line.number in log.replies:
            begun[line.number] = begun[log.replies[line.number]]
        conversation = begun.get(line.number)
        if conversation is not None:
            by_conversation.setdefault(conversation, []).append(line)
    found: Iterable[list[Line]] = by_conversation.values()
    if len(by_conversation) < FEW:
        found = [piece for lines in found for piece in _pieces(lines)]
    for first, *rest in found:
        others = [line for line in rest if line.author != first.author]
        own = [line for line in rest if line.author == first.author]
        yield Dialogue(
            log.name,
            first.author,
            "" if first.mentions else first.text,
            tuple(bare(line) for line in own if words(bare(line)) > 1)[:MAX_LATER],
            tuple(text for line in rest[:EARLY] if line in others and _joins(text := bare(line))),
            tuple(text for line in others if words(text := bare(line)) > 1),
        )


def is_task(one: Dialogue) -> bool:
    """Return whether a conversation begins with words that stand alone."""
    long = words(one.asked) >= LEAST_TOLD and bool(one.helpers)
    return long or (words(one.asked) >= LEAST_ASKED and gist(one.asked).asks)


def bare(line: Line) -> str:
    """Return a line's text without the names that it mentions."""
    text = line.text
    for name in line.mentions:
        text = re.sub(rf"@?{re.escape(name)}\b[,:]*", "", text, flags=re.IGNORECASE)
    return " ".join(text.split()).lstrip(",: ")


def words(text: str) -> int:
    """Return the length of a text in words, as the linker counts them."""
    return gist(text).length


def _pieces(lines: list[Line]) -> Iterator[list[Line]]:
    """Cut a long conversation where somebody asks something, so that there is enough to ask."""
    begun = 0
    for at, line in enumerate(lines):
        asks = gist(line.text).asks and words(line.text) >= LEAST_ASKED
        if asks and at - begun >= PIECE:
            yield lines[begun:at]
            begun = at
    yield lines[begun:]


def _joins(text: str) -> bool:
    """Return whether a line may be said to the agent by somebody who joins in."""
    first = text.lower().split(maxsplit=1)[:1]
    asks = gist(text).asks or not _ADDS.isdisjoint(first)
    return asks and 2 <= words(text) <= MAX_JOIN


def _beside(one: Dialogue, text: str) -> tuple[str, ...]:
    """Return the helpers' lines around one of them."""
    at = one.helpers.index(text)
    return one.helpers[max(0, at - 1) : at + 3]


def _answer_words(rng: random.Random) -> int:
    length = MEDIAN_ANSWER * math.exp(rng.gauss(0, SPREAD))
    return int(min(max(length, SHORTEST_ANSWER), LONGEST_ANSWER))


def _until(texts: Iterable[str], most: float) -> Iterator[str]:
    """Give texts until they have some words."""
    for text in texts:
        if most <= 0:
            return
        most -= words(text)
        yield text


def _joined(parts: Sequence[str], rng: random.Random) -> str:
    """Write lines as one message: as sentences, or as a list."""
    if len(parts) > 3 and rng.random() < 0.3:
        return parts[0] + "\n" + "\n".join(f"- {part}" for part in parts[1:])
    return " ".join(part if part[-1:] in ".?!\u3002\uff1f\uff01" else part + "." for part in parts)
