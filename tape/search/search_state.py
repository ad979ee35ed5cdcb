"""Say how much of the tapes an index has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SearchState:
    """How much of the tapes is indexed, and what went wrong.

    left     number of older entries that are not indexed yet
    problem  the last error; empty for none
    partial  number of searches that may have missed old entries
    """

    ready: bool
    left: int
    problem: str = ""
    partial: int = 0
