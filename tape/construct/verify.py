"""Check the choices of a strategy, so that the messages keep the promises of a view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tape.construct.build import Group, messages_of
from tape.construct.candidate import Candidate, Choice
from tape.context import pair_up
from tape.entry import Entry


def verified(
    choices: Sequence[Choice],
    candidates: Sequence[Candidate],
    entries: Mapping[int, Entry],
    budget: int,
) -> tuple[list[Group], list[tuple[Group, str]]]:
    """Return the groups to show, and the dropped ones with the reason.

    A group must be a candidate, with entries that are not shown yet, fit into the rest of the
    budget and break no pair of calls and results.
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
