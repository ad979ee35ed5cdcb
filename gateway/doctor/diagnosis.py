"""What an examination found: as a table of at most 80 columns, as JSON, as an exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import Any, Final

from channels.checkup import CheckResult, Checkup, State
from gateway.wording import as_called, counted

WIDTH: Final = 80
INDENT: Final = 9  # columns of the state, which stands before each result
COLORS: Final[dict[State, str]] = {"ok": "32", "note": "36", "warning": "35", "failure": "31"}
"""Maps each state, from best to worst, to its colour; yellow vanishes on white."""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found at a home.

    results   the gateway's own results, in the order of the checks
    checkups  what the platforms say of their bots
    """

    home: Path
    version: str
    at: datetime
    results: Sequence[CheckResult]
    checkups: Sequence[Checkup] = ()

    @property
    def status(self) -> State:
        """The worst state of all results."""
        states = {result.state for result in self.all_results()}
        return next((state for state in reversed(COLORS) if state in states), "ok")

    @property
    def exit_code(self) -> int:
        """0 unless something does not work; notes and warnings do not count."""
        return 1 if self.status == "failure" else 0

    def all_results(self) -> list[CheckResult]:
        return [*self.results, *(one for checkup in self.checkups for one in checkup.results)]

    def to_json(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "home": str(self.home),
            "version": self.version,
            "at": self.at.isoformat(timespec="seconds"),
            "results": [as_json(one) for one in self.results],
            "platforms": [
                {**asdict(one), "results": [as_json(result) for result in one.results]}
                for one in self.checkups
            ],
        }

    def to_text(self, *, color: bool) -> str:
        """Return the table; each trouble is followed by its cause and its remedy."""
        lines = [f"Tapeway {self.version}, home {self.home}, {self.at:%Y-%m-%d %H:%M}", ""]
        lines += _lines(self.results, color)
        for checkup in self.checkups:
            lines += ["", *_head(checkup), *_lines(checkup.results, color)]
        return "\n".join([*lines, "", self._sum()])

    def _sum(self) -> str:
        counts = Counter(result.state for result in self.all_results())
        named = [
            counted(counts[state], state, "ok" if state == "ok" else "")
            for state in reversed(COLORS)
            if counts[state]
        ]
        return f"{', '.join(named)}."


def as_json(result: CheckResult) -> dict[str, Any]:
    trouble = asdict(result.trouble) if result.trouble else None
    return {
        "check": result.check,
        "state": result.state,
        "says": result.says,
        "trouble": trouble,
        "facts": dict(result.facts),
    }


def _head(checkup: Checkup) -> list[str]:
    name = f"{checkup.channel}: {checkup.bot}" if checkup.bot else checkup.channel
    # The link has a line of its own, so that it can be copied however long it is.
    return [name, *(["  invite it:", checkup.invite] if checkup.invite else [])]


def _lines(results: Iterable[CheckResult], color: bool) -> Iterable[str]:
    for result in results:
        word = result.state.ljust(INDENT)
        if color:
            word = f"\x1b[{COLORS[result.state]}m{word}\x1b[0m"
        first, *rest = _wrapped(f"{result.check}: {result.says}") or [""]
        yield f"{word}{first}"
        yield from (f"{'':{INDENT}}{line}" for line in rest)
        if result.trouble is not None:
            about = result.trouble
            for text in (f"Why: {about.cause}", f"Do: {about.remedy}"):
                yield from (f"{'':{INDENT}}{line}" for line in _wrapped(text, "  "))


def _wrapped(text: str, hanging: str = "") -> list[str]:
    # A path or an address stays whole, so that it can be copied.
    return wrap(
        as_called(text),
        WIDTH - INDENT,
        subsequent_indent=hanging,
        break_on_hyphens=False,
        break_long_words=False,
    )
