"""Units of one tape, session or chat go out one after another, others side by side."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import anyio

from tape.unit_of_work import Append, Erase, Run, Unit


@dataclass(slots=True)
class _Line:
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    units: int = 0


@dataclass(slots=True)
class Lines:
    """Lines in which units stand, by name; a line without units is forgotten."""

    _lines: dict[str, _Line] = field(default_factory=dict)

    @asynccontextmanager
    async def turn(self, name: str) -> AsyncIterator[None]:
        """Wait until everybody who stood in this line before has left it."""
        line = self._lines.setdefault(name, _Line())
        line.units += 1
        try:
            async with line.lock:
                yield
        finally:
            line.units -= 1
            if not line.units:
                del self._lines[name]


def lines_of(unit: Unit) -> set[str]:
    """Return the names of the lines in which a unit stands."""
    lines = set()
    for step in unit.steps:
        if isinstance(step, Append | Erase):
            lines.add(f"tape {step.tape}")
        elif isinstance(step, Run) and step.values.get("session_id"):
            lines.add(f"session {step.values['session_id']}")
        elif isinstance(step, Run) and step.values.get("chat_id"):
            lines.add(f"chat {step.values.get('account_id')} {step.values['chat_id']}")
    return lines
