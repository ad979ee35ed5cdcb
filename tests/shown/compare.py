"""Compares the runs of a text with those that a reader shows, in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tests.shown.runs import Run, Source, bare, joins, letters, read, runs_of

MAX_STATES: Final = 400_000
"""Maximum states that are looked at; a text that needs more is said to fail."""

MAX_REPEATED: Final = 80
"""Maximum runs that a later message may repeat: the head of a table, the number of an item."""


_NUMBER: Final = re.compile(r"\d+")
_QUOTED: Final = [re.compile(rf"\n(?:> ){{1,{depth}}}") for depth in (1, 2, 9)]
"""The marks of so many quotes; what stands behind them may begin with the same sign."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a reader sees: the text of each message, and the targets of links.

    A message may begin with what an earlier one had, and a word may be cut between two.
    """

    messages: tuple[str, ...]
    targets: tuple[str, ...] = ()
    wraps: bool = False
    """Whether a word of a script without blanks may go on in the next line."""

    @property
    def text(self) -> str:
        return "\n".join(self.messages)


class _State(NamedTuple):
    """Where the comparison is: in a run of the source, and in one that is shown."""

    run: int
    cut: int
    seen: int
    used: int
    joined: int


@dataclass(slots=True)
class _Comparison:
    source: Source
    shown: list[str]
    begins: frozenset[int]
    """The runs that a message after the first begins with."""
    targets: frozenset[str]
    goes_on: frozenset[int]
    """The runs with which a word may go on that an earlier one began."""
    furthest: int = 0
    _tried: set[_State] = field(default_factory=set)

    def holds(self) -> bool:
        waiting = [_State(0, 0, 0, 0, -1)]
        while waiting:
            state = waiting.pop()
            if state in self._tried:
                continue
            self._tried.add(state)
            self.furthest = max(self.furthest, state.run)
            if state.run == len(self.source.runs) and state.seen == len(self.shown):
                return True
            if len(self._tried) > MAX_STATES:
                return False
            waiting += self._next(state)  # the last is tried first: a run that is shown
        return False

    def _next(self, state: _State) -> Iterator[_State]:
        runs = self.source.runs
        is_message = state.seen in self.begins and not state.used
        if is_message and state.seen < len(self.shown):  # the last may have no words
            yield from self._repeated(state)
        if state.run == len(runs):
            return
        run = runs[state.run]
        if not state.cut and self._may_miss(run):
            yield _State(state.run + 1, 0, state.seen, state.used, state.joined)
        if state.seen == len(self.shown):
            return
        if state.used and not state.cut and not self._joins(state, run):
            return
        if not state.cut and run.whys & {"ordinal", "label"}:
            number = _NUMBER.match(self.shown[state.seen], state.used)
            yield from self._matched(state, number[0]) if number else ()
        for form in (*run.others, run.text):
            yield from self._matched(state, form)

    def _joins(self, state: _State, run: Run) -> bool:
        """Return whether a run may go on in a word that another began."""
        if state.joined < state.run - 1:
            return True  # what stands between is missing, as the address behind a label
        return joins(self.source, self.source.runs[state.run - 1], run)

    def _matched(self, state: _State, form: str) -> Iterator[_State]:
        wanted, there = form[state.cut :], self.shown[state.seen][state.used :]
        if not wanted:
            return
        if there.startswith(wanted):
            used = state.used + len(wanted)
            is_whole = used == len(self.shown[state.seen])
            seen, used = (state.seen + 1, 0) if is_whole else (state.seen, used)
            yield _State(state.run + 1, 0, seen, used, -1 if is_whole else state.run)
        elif wanted.startswith(there) and state.seen + 1 in self.goes_on:
            yield _State(state.run, state.cut + len(there), state.seen + 1, 0, -1)

    def _may_miss(self, run: Run) -> bool:
        if not run.whys:
            return False
        if run.whys == {"ordinal"}:
            return False  # it has another number
        if "address" in run.whys and run.target:
            wanted = letters(run.target)
            return "title" in run.whys or any(wanted in one for one in self.targets)
        return True

    def _repeated(self, state: _State) -> Iterator[_State]:
        before = [run.text for run in self.source.runs[: state.run]]
        for at, word in enumerate(before):
            length = 0
            if word != self.shown[state.seen]:
                continue
            while (
                length < MAX_REPEATED
                and at + length < len(before)
                and state.seen + length < len(self.shown)
                and before[at + length] == self.shown[state.seen + length]
            ):
                length += 1
                yield _State(state.run, state.cut, state.seen + length, 0, -1)


def missing(text: str, shown: Shown, kept: tuple[str, ...] = ()) -> str | None:
    """Return what of a text a reader does not see, with what is near it, or None.

    `kept` are words that are to be seen as they were written, with every sign.
    """
    source = read(text)
    runs, begins, goes_on = list[str](), set[int](), set[int]()
    for number, message in enumerate(map(bare, shown.messages)):
        if number:
            begins.add(len(runs))
        last = 0
        for run, start, end in runs_of(message):
            if (
                shown.wraps
                and "\n" in message[last:start]
                and not (run + message[last - 1]).isascii()
            ):
                goes_on.add(len(runs))
            runs.append(run)
            last = end
    targets = frozenset(letters(target) for target in shown.targets)
    if [run.text for run in source.runs] != runs:
        compared = _Comparison(
            source, runs, frozenset(begins), targets, frozenset(begins | goes_on)
        )
        if not compared.holds():
            return _near(source, compared.furthest)
    texts = [shown.text]
    if shown.wraps:
        texts += [quoted.sub("\n", shown.text) for quoted in _QUOTED]
    seen = [gap.join(text.split()) for text in texts for gap in (" ", "")[: 1 + shown.wraps]]
    lost = (one for one in kept if not any(one in text for text in seen))
    return next((f"{one!r} as it is written" for one in lost), None)


def _near(source: Source, at: int) -> str:
    if at == len(source.runs):
        return "the end: something is shown that was not written"
    run = source.runs[at]
    return f"{run.text!r} in {source.text[max(0, run.start - 40) : run.end + 40]!r}"
