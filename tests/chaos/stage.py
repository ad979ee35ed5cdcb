"""What a channel brings to the chaos run: its people, its faults, its kill points, its window.

A channel joins by one module, which registers its stage and is named in `CHANNELS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar, Final, Protocol, Self, TypeVar

from tests.chaos.order import Queue
from tests.chaos.plan import Menu, Question, Trouble
from tests.chaos.record import Record
from tests.chaos.traps import Traps
from tests.chaos.window import Window

CHANNELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "discord": "tests.chaos.discord",
        "slack": "tests.chaos.slack",
        "telegram": "tests.chaos.telegram",
        "web": "tests.chaos.web",
    }
)
"""The module of each channel."""


class Stage(Protocol):
    """The people and the platform of one home, who stay while gateways come and go.

    menu    what a schedule can be made of
    window  how it is judged whether a message may be a copy
    queue   which questions are accepted in the order in which they were asked
    writes  so long the model should take for an answer, that partial text be seen; seconds
    """

    menu: ClassVar[Menu]
    window: ClassVar[Window]
    queue: ClassVar[Queue]
    writes: ClassVar[float]

    def __init__(self, traps: Traps, home: Path) -> None:
        """Set up, for a gateway of a home; moments of `menu.moments` are told to the traps."""
        ...

    async def __aenter__(self) -> Self:
        """Be there."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Be gone."""
        ...

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings, without the prefix TAPEWAY_."""
        ...

    async def ready(self) -> None:
        """Wait until the first gateway can hear and be heard."""
        ...

    def ask(self, question: Question) -> None:
        """Let a question be asked: its token, its kind and the word please."""
        ...

    def trouble(self, trouble: Trouble) -> None:
        """Let one of `menu.troubles` happen."""
        ...

    def heal(self) -> None:
        """Let nothing go wrong any more."""
        ...

    async def see(self, record: Record) -> None:
        """Write down what can be seen of the answers of a schedule, in `texts` and `drafts`."""
        ...


_STAGES: Final[dict[str, type[Stage]]] = {}

S = TypeVar("S", bound=type[Stage])


def register(stage: S) -> S:
    """Let a channel take part; a decorator of its stage."""
    _STAGES[stage.menu.channel] = stage
    return stage


def stage_of(channel: str) -> type[Stage]:
    """Return the stage of a channel."""
    import_module(CHANNELS[channel])
    return _STAGES[channel]
