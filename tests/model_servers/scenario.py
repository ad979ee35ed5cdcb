"""A scenario: what a model server does, and what must come of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import orjson

from tape.entry import Entry
from tests.model_servers.server import Step
from tests.model_servers.wire import Demand, Json

OWN_FAULT = "wrong on my side"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a server answers to the questions of one person, and what must come of it.

    part      the part of the issue, such as `A1`
    answers   of the server, in order
    sees      one expression for each question; each must match the whole of what the person sees
    demands   rules of the server; a request that breaks one gets its refusal
    asks      the questions; one after `~` is said to the room and asks nothing
    never     what may stand in no message, no draft and no later request
    drafts    whether `never` holds for drafts, too
    calls     the maximum number of requests
    ends      how the last turn ends
    refused   the number of requests that the server may refuse by its demands
    sends     what the last request must hold, byte for byte
    taped     names of entries that the tape must have
    untaped   names of entries that the tape must not have
    settings  without the prefix TAPEWAY_
    path      of the base URL
    dead      whether nothing listens there
    """

    name: str
    part: str
    answers: tuple[Step, ...]
    sees: tuple[str, ...]
    demands: tuple[Demand, ...] = ()
    asks: tuple[str, ...] = ("What is new?",)
    never: tuple[str, ...] = ()
    drafts: bool = True
    calls: int = 0
    ends: Literal["done", "failed", "any"] = "done"
    refused: int = 0
    sends: tuple[bytes, ...] = ()
    taped: tuple[str, ...] = ()
    untaped: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    path: str = "/v1"
    dead: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a scenario: what people saw, what the tape holds, what the server got."""

    seen: Sequence[str]
    drafts: Sequence[str]
    entries: Sequence[Entry]
    requests: Sequence[bytes]
    unmet: Sequence[str]
    unplanned: int

    @property
    def bodies(self) -> list[Json]:
        """Return the requests as JSON."""
        return [orjson.loads(one) for one in self.requests]

    @property
    def ends(self) -> list[str]:
        """Return how the turns ended."""
        return [
            str(one.payload["data"]["status"]) for one in self.entries if one.name == "turn.end"
        ]

    def tape(self) -> str:
        """Return the names of the entries from the first question on, and how steps ended."""
        return " ".join(map(_name, self.entries[2:]))


def _name(entry: Entry) -> str:
    data = entry.payload.get("data") or {}
    if entry.name == "loop.step":
        return f"loop.step({data.get('status')}, {data.get('finish_reason')})"
    if entry.name == "turn.end":
        return f"turn.end({data.get('status')})"
    role = entry.payload.get("role")
    return entry.name or (f"{entry.kind}({role})" if role else entry.kind)


def faults(scenario: Scenario, outcome: Outcome) -> list[str]:
    """Return what is wrong with an outcome."""
    found = list(_seen(scenario, outcome))
    if outcome.unplanned:
        found.append(f"{outcome.unplanned} requests too many")
    if scenario.calls and len(outcome.requests) > scenario.calls:
        found.append(f"{len(outcome.requests)} calls, not {scenario.calls}")
    if len(outcome.unmet) > scenario.refused:
        found.append(f"refused: {outcome.unmet[-1][:120]}")
    last = outcome.requests[-1] if outcome.requests else b""
    found += [f"{wanted!r} was not sent" for wanted in scenario.sends if wanted not in last]
    if scenario.ends != "any" and outcome.ends[-1:] != [scenario.ends]:
        found.append(f"the turn ended as {outcome.ends[-1:]}, not {scenario.ends}")
    return [*found, *_taped(scenario, outcome)]


def _taped(scenario: Scenario, outcome: Outcome) -> Sequence[str]:
    names = [one.name or one.kind for one in outcome.entries]
    found = [f"{name} is not on the tape" for name in scenario.taped if name not in names]
    found += [f"{name} is on the tape" for name in scenario.untaped if name in names]
    if outcome.requests and "loop.step" not in names:
        found.append("no loop.step is on the tape")
    for first, second in (("turn.start", "turn.end"), ("tool_call", "tool_result")):
        if names.count(first) != names.count(second):
            found.append(f"{names.count(first)} {first}, {names.count(second)} {second}")
    return found


def _seen(scenario: Scenario, outcome: Outcome) -> Sequence[str]:
    found = []
    for text, wanted in zip(outcome.seen, scenario.sees, strict=False):
        if not re.fullmatch(wanted, text, re.DOTALL | re.IGNORECASE):
            found.append(f"saw {text[:160]!r}, not {wanted!r}")
    if len(outcome.seen) < len(scenario.sees):
        found.append(f"{len(outcome.seen)} answers to {len(scenario.sees)} questions")
    shown = [*outcome.seen, *(outcome.drafts if scenario.drafts else ())]
    sent = [str(one.get("content")) for body in outcome.bodies for one in body["messages"]]
    kept = [str(one.payload.get("content")) for one in outcome.entries if one.kind == "message"]
    for text in (OWN_FAULT, *scenario.never):
        places = {"chat": shown, "request": sent, "tape": kept}
        found += [
            f"{text!r} is in the {place}"
            for place, texts in places.items()
            if any(text in one for one in texts)
        ]
    return found
