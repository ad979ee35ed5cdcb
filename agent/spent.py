"""Count the tokens that a turn has used, by model: as reported by the servers, or estimated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tape.entry import TOOL_CALL, Entry, NewEntry
from tape.turn_events import LOOP_STEP

SUBAGENT_END: Final = "subagent.end"
CALLS: Final = "calls"
ESTIMATED: Final = "estimated"
"""The tokens of a call that a server did not report; in the sums, the number of such calls."""

USED: Final = "used"
"""The `meta` of a step's calls that says what the step used, in case its tools never end."""


@dataclass(slots=True)
class Spent:
    """Maps each model to `calls`, of them `estimated` ones, and the sums of its token counts."""

    models: dict[str, Counter[str]] = field(default_factory=dict)
    _counted: bool = field(default=False, init=False)  # whether the newest calls were counted

    def take(self, entry: NewEntry | Entry) -> None:
        """Add what an entry reports: a model call's usage, or all that a subagent used."""
        data: Mapping[str, Any] = {}
        if entry.kind == TOOL_CALL:
            data = entry.meta.get(USED) or {}
            self._counted = bool(data)
        elif entry.name == LOOP_STEP:
            data = entry.payload["data"]
        again = self._counted and data.get("status") == "tools"
        guessed = data.get(ESTIMATED)
        if (usage := guessed or data.get("usage")) and not again:
            # Prices stand under the name in the settings; servers report others, with a date.
            model = data.get("requested") or data.get("model")
            by = {ESTIMATED: 1} if usage is guessed else {}
            self._add(str(model), {CALLS: 1, **by, **usage})
        if entry.name == SUBAGENT_END:
            for model, counts in (entry.payload["data"].get("models") or {}).items():
                self._add(model, counts)

    def to_json(self) -> dict[str, dict[str, int]]:
        return {model: dict(counts) for model, counts in self.models.items()}

    def _add(self, model: str, counts: Mapping[str, Any]) -> None:
        numbers = {name: count for name, count in counts.items() if isinstance(count, int)}
        self.models.setdefault(model, Counter()).update(numbers)
