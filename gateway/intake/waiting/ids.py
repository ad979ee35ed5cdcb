"""Ids in their order, in as little memory and time as thousands of them allow."""

from __future__ import annotations

from bisect import bisect_left, insort_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

FEW: Final = 64
"""Ids that were taken before their room in memory may be given back."""


@dataclass(slots=True, eq=False)
class SortedIds:
    """Ids in their order; most are added at the end and taken from the beginning."""

    _ids: list[int] = field(default_factory=list)
    _taken: int = 0  # how many at the beginning were taken

    def __len__(self) -> int:
        return len(self._ids) - self._taken

    def __iter__(self) -> Iterator[int]:
        return islice(self._ids, self._taken, None)

    def __contains__(self, number: int) -> bool:
        at = bisect_left(self._ids, number, self._taken)
        return at < len(self._ids) and self._ids[at] == number

    @property
    def first(self) -> int:
        return self._ids[self._taken]

    @property
    def last(self) -> int:
        return self._ids[-1]

    def add(self, number: int) -> None:
        """Add an id, where it belongs."""
        ids, taken = self._ids, self._taken
        if taken == len(ids) or number >= ids[-1]:
            ids.append(number)
        elif taken and number <= ids[taken]:
            self._taken = taken - 1
            ids[taken - 1] = number
        else:
            insort_right(ids, number, taken)

    def add_all(self, numbers: Sequence[int]) -> None:
        """Add ids that are in their order, each where it belongs."""
        if not self or (numbers and numbers[0] >= self.last):
            self._ids.extend(numbers)
        else:
            for number in numbers:
                self.add(number)

    def take(self) -> int:
        """Take the first id."""
        number = self._ids[self._taken]
        self._taken += 1
        if self._taken > FEW and 2 * self._taken > len(self._ids):
            del self._ids[: self._taken]
            self._taken = 0
        return number

    def remove(self, numbers: Collection[int]) -> int:
        """Remove ids, which mostly stand at the beginning; return how many were there."""
        here = [number for number in numbers if number in self]
        if not here:
            return 0
        end = bisect_left(self._ids, max(here), self._taken) + 1
        left = [number for number in self._ids[self._taken : end] if number not in numbers]
        removed = end - self._taken - len(left)
        self._ids[end - len(left) : end] = left
        self._taken = end - len(left)
        return removed
