"""Construct a context in four steps, with a record from which it can be rebuilt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from tape.construct.build import Group, as_read, ids_of, messages_of
from tape.construct.candidate import Candidate, Choice, Readable, Strategy
from tape.construct.explore import Explored, explore
from tape.construct.selection import ByRules, candidates_of, verified
from tape.context import Message
from tape.entry import Entry, dump
from tape.errors import TapeError
from tape.tokens import estimate

BUDGET: Final = 4000
MAX_RECORDED: Final = 150
"""Maximum candidates in a record: first those shown, then the best of the others."""

MAX_MENDED: Final = 50
MAX_TASK_CHARACTERS: Final = 500


@dataclass(frozen=True, slots=True)
class Constructed:
    """A context for a task.

    messages  chat messages, in the order of the tape
    entries   the ids of the entries that the messages show
    tokens    estimated number of tokens, within the budget
    record    every choice as JSON data, bounded in size; `rebuild` reads it
    """

    messages: list[Message]
    entries: tuple[int, ...]
    tokens: int
    record: dict[str, Any]


class ContextConstructor:
    """Constructs contexts of tapes (or forks), by rules unless another strategy is given.

    A subclass may override each step: `explore`, `select`, `verify` and `build` run in this order.
    It reads a bounded number of entries, however long a tape is.
    """

    def __init__(self, strategy: Strategy | None = None) -> None:
        self.strategy = strategy or ByRules()

    async def construct_for_task(
        self, task: str, tape: Readable, *, budget: int = BUDGET, lane: str | None = None
    ) -> Constructed:
        task = task.encode("utf-8", "replace").decode()
        found = await self.explore(task, tape, lane)
        entries = await as_read(tape, found.entries, found.asof)
        candidates = candidates_of(found, entries)
        choices = await self.select(task, candidates, budget)
        groups, mended = await self.verify(choices, candidates, entries, budget)
        messages = await self.build(groups, entries)
        tokens = estimate(messages)
        record = {
            "task": task[:MAX_TASK_CHARACTERS],
            "lane": found.lane,
            "budget": budget,
            "strategy": self.strategy.name,
            **_explored(found),
            "shown": [list(group) for group in groups],
            "messages": len(messages),
            "tokens": tokens,
            "digest": _digest(messages),
            **_chosen(choices, groups, mended),
        }
        return Constructed(messages, ids_of(groups), tokens, record)

    async def explore(self, task: str, tape: Readable, lane: str | None) -> Explored:
        """Find the entries that may matter for the task."""
        return await explore(tape, task, lane)

    async def select(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        """Choose among what was found; see `Strategy`."""
        return await self.strategy.choose(task, candidates, budget)

    async def verify(
        self,
        choices: Sequence[Choice],
        candidates: Sequence[Candidate],
        entries: Mapping[int, Entry],
        budget: int,
    ) -> tuple[list[Group], list[tuple[Group, str]]]:
        """Return the groups of entries to show, and those dropped with the reason."""
        return verified(choices, candidates, entries, budget)

    async def build(self, groups: Sequence[Group], entries: Mapping[int, Entry]) -> list[Message]:
        """Return the messages; the same groups and entries must give the same messages again."""
        return messages_of(groups, entries)

    async def rebuild(self, tape: Readable, record: Mapping[str, Any]) -> Constructed:
        """Rebuild a recorded context byte for byte, whatever was edited or deleted since.

        Raises TapeError if the tape no longer has the text.
        """
        groups: list[Group] = [tuple(group) for group in record["shown"]]
        found = await tape.entries(ids_of(groups))
        entries = await as_read(tape, found, int(record["asof"]))
        missing = set(ids_of(groups)) - entries.keys()
        messages = [] if missing else await self.build(groups, entries)
        if missing or _digest(messages) != record["digest"]:
            raise TapeError(
                "this context can't be rebuilt: the tape no longer has its words (they were erased,"
                " or the record belongs to another tape)"
            )
        return Constructed(messages, ids_of(groups), estimate(messages), dict(record))


async def rebuild(tape: Readable, record: Mapping[str, Any]) -> Constructed:
    """Rebuild a recorded context; see `ContextConstructor.rebuild`."""
    return await ContextConstructor().rebuild(tape, record)


def _explored(found: Explored) -> dict[str, Any]:
    return {
        "asof": found.asof,
        "words": {word: round(value, 3) for word, value in found.rarity.items()},
        "searches": found.searches,
        "found": {way: len(ranked) for way, ranked in found.ranked.items()},
    }


def _chosen(
    choices: Sequence[Choice], groups: Sequence[Group], mended: Sequence[tuple[Group, str]]
) -> dict[str, Any]:
    shown = set(groups)
    listed = sorted(choices, key=lambda choice: choice.candidate.ids not in shown)
    return {
        "candidates": [_as_record(choice, shown) for choice in listed[:MAX_RECORDED]],
        "more": max(0, len(listed) - MAX_RECORDED),
        "mended": [{"ids": list(group), "why": why} for group, why in mended[:MAX_MENDED]],
    }


def _as_record(choice: Choice, shown: set[Group]) -> dict[str, Any]:
    candidate = choice.candidate
    return {
        "ids": list(candidate.ids),
        "from": list(candidate.sources),
        "score": round(candidate.score, 4),
        "tokens": candidate.tokens,
        "shown": candidate.ids in shown,
        "why": choice.why[:200],
    }


def _digest(messages: Sequence[Message]) -> str:
    return sha256(dump(list(messages)).encode()).hexdigest()[:16]
