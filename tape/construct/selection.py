"""Select: from what was found to candidates with a score, and the rules that choose among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tape.construct.build import Group, grouped, messages_of, text_of
from tape.construct.candidate import Candidate, Choice
from tape.construct.explore import Explored
from tape.entry import Entry
from tape.tokens import estimate

RANK_DAMPING: Final = 10
"""The greater, the less the first ranks of a way count before the next."""

WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"words": 1.0, "meaning": 1.0, "anchor": 1.0, "lane": 0.7, "beside": 0.5, "room": 0.3}
)


def candidates_of(found: Explored, entries: Mapping[int, Entry]) -> list[Candidate]:
    """Return what may be shown, scored by the reciprocal ranks of the ways that found it."""
    ranks = {
        way: {number: rank for rank, number in enumerate(ranked, start=1)}
        for way, ranked in found.ranked.items()
    }
    return [_candidate(group, ranks, found.latest, entries) for group in grouped(entries)]


def _candidate(
    group: Group,
    ranks: Mapping[str, Mapping[int, int]],
    latest: int | None,
    entries: Mapping[int, Entry],
) -> Candidate:
    score = 0.0
    sources = []
    for way, weight in WEIGHTS.items():
        found = [ranks[way][number] for number in group if number in ranks.get(way, ())]
        if found:
            sources.append(way)
            score += weight / (RANK_DAMPING + min(found))
    tokens = estimate(messages_of([group], entries))
    is_latest = latest in group
    return Candidate(group, tuple(sources), score, tokens, is_latest, text_of(group, entries))


class ByRules:
    """The latest anchor, then those that the task speaks of, then what scores best.

    Anchors have at most half of the room, and what is merely recent a quarter of it, where there
    is anything that belongs to the task or its lane.
    """

    name = "rules"

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        """Choose greedily, the most wanted first."""
        del task
        told = any(set(candidate.sources) - {"room", "anchor"} for candidate in candidates)
        left = {"all": budget, "anchor": budget // 2, "room": budget // 4 if told else budget}
        choices = []
        for candidate in sorted(candidates, key=_wanted):
            share = "all" if candidate.latest else _share(candidate)
            why = _against(candidate, left, share)
            if not why:
                left["all"] -= candidate.tokens
                if share != "all":
                    left[share] -= candidate.tokens
            choices.append(Choice(candidate, not why, why or _for(candidate)))
        return choices


def _wanted(candidate: Candidate) -> tuple[bool, bool, float, int]:
    return (
        not candidate.latest,
        not candidate.is_anchor,
        -candidate.score,
        -candidate.ids[0],
    )


def _share(candidate: Candidate) -> str:
    if candidate.is_anchor:
        return "anchor"
    return "room" if candidate.sources == ("room",) else "all"


def _against(candidate: Candidate, left: Mapping[str, int], share: str) -> str:
    if candidate.tokens > left["all"]:
        return "no room is left for it"
    if candidate.tokens > left[share]:
        return "anchors have half of the room" if share == "anchor" else "only recent"
    return ""


def _for(candidate: Candidate) -> str:
    if candidate.latest:
        return "the latest anchor"
    return "found by " + ", ".join(candidate.sources)
