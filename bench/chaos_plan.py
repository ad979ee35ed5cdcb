"""What happens in one schedule: who asks what and when, and what goes wrong; all by its seed."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, Final, Literal

Kind = Literal["short", "long", "tool"]
Policy = Literal["resend", "hold"]

LASTS: Final = 3.0
"""So long people ask and things go wrong, seconds."""

PRIVATE: Final = 2
GROUPS: Final = 2
LINES: Final = MappingProxyType[Kind, int]({"short": 7, "tool": 5, "long": 90})

TRAPS: Final = (
    "kill-accept",
    "kill-confirmed",
    "kill-handed",
    "kill-model",
    "kill-tool",
    "kill-draft",
    "kill-before-final",
    "kill-after-final",
    "kill-told-final",
    "kill-mid-long",
)
"""Moments at which a fake kills the gateway, since it knows them exactly."""

SIGNALS: Final = ("kill", "pause", "term", "interrupt")
TELEGRAM: Final = (
    "retry-after",
    "server-500",
    "server-502",
    "server-503",
    "lost-answer",
    "reset",
    "slow",
)
REDELIVER: Final = ("redeliver", "redeliver-new")
MODEL: Final = ("model-500", "model-cut", "model-empty-cut", "model-rate")
FAULTS: Final = ("none", *SIGNALS, *TRAPS, *TELEGRAM, *REDELIVER, *MODEL, "mixed")

METHODS: Final = ("sendMessage", "editMessageText", "sendMessageDraft", "getUpdates", "*")


@dataclass(frozen=True, slots=True)
class Question:
    """Who asks at which moment: `place` counts the private chats, then the groups."""

    at: float
    token: str
    place: int
    person: int
    kind: Kind


@dataclass(frozen=True, slots=True)
class Trouble:
    """What goes wrong at which moment; `much` is a duration or a number, `where` a method."""

    at: float
    name: str
    much: float = 0.0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """One schedule."""

    fault: str
    seed: str
    policy: Policy
    questions: tuple[Question, ...]
    troubles: tuple[Trouble, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        return asdict(self)

    def told(self) -> str:
        """Return the plan as lines."""
        lines = [f"{self.fault}, seed {self.seed}, policy {self.policy}"]
        return "\n".join([*lines, *(f"  {each}" for each in self.happens())])

    def happens(self) -> list[Question | Trouble]:
        """Return what happens, in its order."""
        both: list[Question | Trouble] = [*self.questions, *self.troubles]
        return sorted(both, key=lambda each: each.at)


def make_plan(fault: str, seed: str, policy: Policy = "resend", first: int = 0) -> Plan:
    """Make the plan of a seed; its questions are numbered from `first`."""
    chance = random.Random(f"{seed}:{fault}")
    questions = tuple(
        _question(chance, fault, first, number) for number in range(chance.randint(3, 7))
    )
    names = [fault] * (chance.randint(2, 6) if fault in TELEGRAM else chance.randint(1, 3))
    if fault == "none":
        names = []
    elif fault == "mixed":
        names = chance.choices(FAULTS[1:-1], k=chance.randint(3, 6))
    troubles = tuple(_trouble(chance, name) for name in names)
    return Plan(fault, seed, policy, questions, troubles)


def _question(chance: random.Random, fault: str, first: int, number: int) -> Question:
    place = chance.randrange(PRIVATE + GROUPS)
    wanted: dict[str, Kind] = {"kill-tool": "tool", "kill-mid-long": "long"}
    kinds: tuple[Kind, ...] = ("short", "short", "tool", "long")
    kind = chance.choice(kinds)
    if number == 0:
        kind = wanted.get(fault, kind)
    at = round(chance.uniform(0, LASTS * 0.7), 3)
    return Question(at, f"Q{first + number:04}", place, chance.randrange(3), kind)


def _trouble(chance: random.Random, name: str) -> Trouble:
    at = round(chance.uniform(0.1, LASTS), 3)
    if name in TRAPS:
        # From the start: the moment is the fake's; `much` says which of its kind, and how.
        return Trouble(round(chance.uniform(0, LASTS / 2), 3), name, chance.randint(0, 2))
    if name == "pause":
        return Trouble(at, name, round(chance.uniform(0.3, 1.5), 2))
    if name == "slow":
        return Trouble(at, name, round(chance.uniform(0.2, 2.0), 2), chance.choice(METHODS))
    if name in TELEGRAM:
        return Trouble(at, name, chance.randint(1, 2), chance.choice(METHODS))
    return Trouble(at, name, chance.randint(1, 3))
