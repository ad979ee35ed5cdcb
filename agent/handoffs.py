"""Suggest an anchor to the model, or set one at the end of a turn.

A suggestion is the event `handoff.suggest {why, tokens, budget}` and a system hint at the end of
the view, where it does not invalidate the provider's cached prefix. The tape keeps them, so that
the same view can be built again. Each lane gets at most one suggestion per anchor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal

from agent.anchoring import anchors_at_once, suggestion
from agent.anchors import HINT, excerpts, rests_on, shown_since, state_of
from agent.tool import ToolContext
from agent.turn_log import TurnLog, steered_into
from tape.entry import ANCHOR, EVENT, NewEntry, event, handoff, message
from tape.turn_events import TurnRetake, further_days

Mode = Literal["suggest", "auto", "off"]
Why = Literal["done", "quiet", "budget", ""]

SUGGEST: Final = "handoff.suggest"
HANDOFF_TOOL: Final = "tape.handoff"
SUGGEST_SHARE: Final = 0.8
"""An anchor is suggested when the view fills more than this share of the budget."""

_REASONS: Final = MappingProxyType(
    {
        "done": "the task above seems to be finished",
        "quiet": "this is a new subject after a long pause",
        "budget": "this conversation fills {share} % of what fits into your sight",
    }
)
NOTE: Final = (
    "[Note of the gateway, not of a person: {reason}. If you agree, call tape_handoff with a name"
    " such as {name}, a summary of what must stay known, and the next steps; what came before is"
    " then found by search only. Do not mention this note. Answer the message above it as usual.]"
)
_NAMES: Final = MappingProxyType(
    {"done": "task/done", "quiet": "task/start", "budget": "task/progress"}
)


@dataclass(slots=True)
class Handoffs:
    """Suggests an anchor during one turn, or sets one at its end.

    looks     the kind of break that the question marks: "done", "quiet" or none
    question  the entries of the question
    context   says who asks; without it, every anchor counts at once
    due       the reason to set an anchor at the end of the turn, or empty
    """

    mode: Mode = "off"
    looks: Why = ""
    question: Sequence[int] = ()
    context: ToolContext | None = None
    due: Why = field(default="", init=False)
    _settled: bool = field(default=False, init=False)

    def why(self, tokens: int, budget: int) -> Why:
        """Return the reason to suggest an anchor now, or empty."""
        if self.mode == "off" or self._settled:
            return ""
        return self.looks or ("budget" if tokens > SUGGEST_SHARE * budget else "")

    async def suggest(
        self, log: TurnLog, why: Why, tokens: int, budget: int, *, hint: bool = True
    ) -> bool:
        """Suggest an anchor, and return whether a system hint was added to the view.

        Without `hint` (if the model has no tool to set an anchor) only the event is written.
        """
        self._settled = True
        if self.mode == "auto":
            self.due = why
        anchor = await log.tape.last_anchor(lane=log.lane)
        if anchor is not None and anchor.meta.get("turn") == log.turn:
            return False
        since = anchor.id if anchor else 0
        if await log.tape.find(
            after=since, kinds=(EVENT,), name=SUGGEST, lane=log.lane, limit=1, newest=True
        ):
            return False
        suggestion = event(SUGGEST, {"why": why, "tokens": tokens, "budget": budget})
        notes = [message("user", _note(why, tokens, budget), **{HINT: SUGGEST})] if hint else []
        await log.record(suggestion, *notes, key=f"{SUGGEST}:{log.lane or ''}:{since}")
        return hint

    async def at_the_end(self, log: TurnLog) -> tuple[NewEntry, ...]:
        """Return the entries of the anchor that is due, unless the turn has set an anchor."""
        if not self.due or await log.tape.find(turn=log.turn, kinds=(ANCHOR,), limit=1):
            return ()
        if log.suggestion is not None:
            return ()
        shown = await shown_since(log.tape, log.lane, log.turn)
        state = state_of(excerpts(shown), "", rests_on(shown))
        if self.context is not None and not await anchors_at_once(
            replace(self.context, taint=tuple(sorted(log.sources.taint))), shown
        ):
            return (suggestion(_NAMES[self.due], {**state, "why": self.due}),)
        takes = dict.fromkeys([*self.question, *await steered_into(log.tape, log.turn)])
        # The next view begins with the questions and the answer to them.
        dates = further_days(entry for entry in shown if entry.id in takes)
        again = TurnRetake(log.turn, tuple(takes), dates=dates).to_entry()
        return (*handoff(_NAMES[self.due], {**state, "why": self.due}), again)


def _note(why: Why, tokens: int, budget: int) -> str:
    reason = _REASONS[why].format(share=round(100 * tokens / budget))
    return NOTE.format(reason=reason, name=_NAMES[why])


def is_note(text: str) -> bool:
    return text.startswith(NOTE[: NOTE.index("{")])
