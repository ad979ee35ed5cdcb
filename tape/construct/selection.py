"""Score the entries that were found, choose among them by rules, and check the choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tape.construct.build import Group, grouped, messages_of
from tape.construct.candidate import Candidate, Choice
from tape.construct.explore import Explored
from tape.context import pair_up
from tape.entry import Entry
from tape.tokens import estimate

RANK_DAMPING: Final = 10  # added to each rank; a higher number makes the first ranks stand out less
WEIGHTS: Final[Mapping[str, float]] = MappingProxyType(
    {"words": 1.0, "meaning": 1.0, "anchor": 1.0, "lane": 0.7, "beside": 0.5, "room": 0.3}
)


def candidates_of(found: Explored, entries: Mapping[int, Entry]) -> list[Candidate]:
    """Return the candidates, scored by their reciprocal ranks in each way of searching."""
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
    text = "\n".join(text for number in group if (text := entries[number].text))
    is_latest = latest in group
    return Candidate(group, tuple(sources), score, tokens, is_latest, text)


class ByRules:
    """Chooses the latest anchor, then anchors with words from the task, then the best scores.

    Anchors get at most half of the budget. Entries that were found only because they are recent get
    at most a quarter, unless there are no others.
    """

    name = "rules"

    async def choose(
        self, task: str, candidates: Sequence[Candidate], budget: int
    ) -> Sequence[Choice]:
        del task
        related = any(set(candidate.sources) - {"room", "anchor"} for candidate in candidates)
        left = {"all": budget, "anchor": budget // 2, "room": budget // 4 if related else budget}
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
    return (not candidate.latest, not candidate.is_anchor, -candidate.score, -candidate.ids[0])


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


def verified(
    choices: Sequence[Choice],
    candidates: Sequence[Candidate],
    entries: Mapping[int, Entry],
    budget: int,
) -> tuple[list[Group], list[tuple[Group, str]]]:
    """Return the groups to show, and the dropped groups with the reason.

    A group must be a candidate, have no entry that is already shown, fit into the rest of the
    budget, and separate no call from its result.
    """
    known = {candidate.ids: candidate for candidate in candidates}
    kept: list[Group] = []
    mended: list[tuple[Group, str]] = []
    shown: set[int] = set()
    left = budget
    for choice in choices:
        group = choice.candidate.ids
        if not choice.chosen:
            continue
        why = ""
        if group not in known:
            why = "it is not what was found"
        elif not shown.isdisjoint(group):
            why = "it is shown already"
        elif known[group].tokens > left:
            why = "the budget does not hold it"
        elif not _is_whole(group, entries):
            why = "a pair of calls and results is broken"
        if why:
            mended.append((group, why))
            continue
        left -= known[group].tokens
        shown.update(group)
        kept.append(group)
    return sorted(kept), mended


def _is_whole(group: Group, entries: Mapping[int, Entry]) -> bool:
    messages = messages_of([group], entries)
    return bool(messages) and pair_up(messages) == messages
