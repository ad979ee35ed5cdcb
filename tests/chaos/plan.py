"""What happens in one schedule: who asks what and when, and what goes wrong; all by its seed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal

Kind = Literal["short", "long", "tool"]
Policy = Literal["resend", "hold"]

LASTS: Final = 1.5
"""Seconds in which people ask and things go wrong."""

LINES: Final = MappingProxyType[Kind, int]({"short": 7, "tool": 5, "long": 90})

MOMENTS: Final = ("kill-model", "kill-acting", "kill-tool", "kill-said")
"""Kill points of every channel: what the model is asked and says has no platform in it."""

EDITS: Final = 0.25
"""Share of the questions that are asked by an edit, in chats where others are."""

SIGNALS: Final = ("kill", "pause", "term", "interrupt")
MODEL: Final = ("model-500", "model-cut", "model-empty-cut", "model-rate")

_WANTED: Final[Mapping[str, Kind]] = MappingProxyType(
    {"kill-acting": "tool", "kill-tool": "tool", "kill-mid-long": "long"}
)
"""A kill point that only a question of a kind comes to: the first one is of that kind."""


@dataclass(frozen=True, slots=True)
class Question:
    """Who asks at which moment: `place` counts the channel's chats, `person` who is in them.

    If `by_edit`, the agent is not mentioned at first, where a platform has that.
    """

    at: float
    token: str
    place: int
    person: int
    kind: Kind
    by_edit: bool = False


@dataclass(frozen=True, slots=True)
class Trouble:
    """What goes wrong at which moment; `much` is a duration or a number, `where` a method."""

    at: float
    name: str
    much: float = 0.0
    where: str = ""


@dataclass(frozen=True, slots=True)
class Roll:
    """Draws a trouble of a channel's own: how much of it, in whole numbers or not, and where."""

    least: float
    most: float
    where: tuple[str, ...] = ()

    def __call__(self, name: str, chance: random.Random, at: float) -> Trouble:
        """Draw it for a moment."""
        if isinstance(self.least, int) and isinstance(self.most, int):
            much: float = chance.randint(self.least, self.most)
        else:
            much = round(chance.uniform(self.least, self.most), 2)
        return Trouble(at, name, much, chance.choice(self.where) if self.where else "")


@dataclass(frozen=True, slots=True)
class Menu:
    """What a channel has to choose from.

    places    so many chats people ask in
    moments   kill points of its own: its stage knows each exactly
    troubles  what else goes wrong there
    long      so many lines a long answer has
    """

    channel: str
    places: int
    moments: tuple[str, ...] = ()
    troubles: Mapping[str, Roll] = field(default_factory=dict)
    long: int = LINES["long"]

    @property
    def points(self) -> tuple[str, ...]:
        """Every named kill point."""
        return (*MOMENTS, *self.moments)

    @property
    def faults(self) -> tuple[str, ...]:
        """Whatever a schedule can be about."""
        return ("none", *SIGNALS, *self.points, *self.troubles, *MODEL, "mixed")


@dataclass(frozen=True, slots=True)
class Plan:
    """One schedule."""

    channel: str
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
        lines = [f"{self.channel}, {self.fault}, seed {self.seed}, policy {self.policy}"]
        return "\n".join([*lines, *(f"  {each}" for each in self.happens())])

    def happens(self) -> list[Question | Trouble]:
        """Return what happens, in its order."""
        both: list[Question | Trouble] = [*self.questions, *self.troubles]
        return sorted(both, key=lambda each: each.at)


def make_plan(menu: Menu, fault: str, seed: str, policy: Policy = "resend", first: int = 0) -> Plan:
    """Make the plan of a seed; its questions are numbered from `first`."""
    chance = random.Random(f"{seed}:{fault}")
    questions = tuple(
        _question(chance, menu, fault, first, number) for number in range(chance.randint(3, 7))
    )
    names = [fault] * (chance.randint(2, 6) if fault in menu.troubles else chance.randint(1, 3))
    if fault == "none":
        names = []
    elif fault == "mixed":
        names = chance.choices(menu.faults[1:-1], k=chance.randint(3, 6))
    troubles = [_trouble(chance, menu, name) for name in names]
    if fault in menu.points:
        # The first trap is there before the first question, for the first moment of its kind.
        troubles[0] = Trouble(0.0, fault)
    return Plan(menu.channel, fault, seed, policy, questions, tuple(troubles))


def _question(chance: random.Random, menu: Menu, fault: str, first: int, number: int) -> Question:
    place = chance.randrange(menu.places)
    kinds: tuple[Kind, ...] = ("short", "short", "tool", "long")
    kind = chance.choice(kinds)
    if number == 0:
        kind = _WANTED.get(fault, kind)
    at = round(chance.uniform(0, LASTS * 0.7), 3)
    token = f"Q{first + number:04}"
    # A chance of its own, so that the other draws of a seed stay as they were.
    by_edit = random.Random(f"{token}:{at}").random() < EDITS
    return Question(at, token, place, chance.randrange(3), kind, by_edit)


def _trouble(chance: random.Random, menu: Menu, name: str) -> Trouble:
    at = round(chance.uniform(0.1, LASTS), 3)
    if name in menu.points:
        # From the start: the moment is the stage's; `much` says which of its kind, and how.
        return Trouble(round(chance.uniform(0, LASTS / 2), 3), name, chance.randint(0, 2))
    if name in menu.troubles:
        return menu.troubles[name](name, chance, at)
    if name == "pause":
        return Trouble(at, name, round(chance.uniform(0.2, 1.0), 2))
    return Trouble(at, name, chance.randint(1, 3))
