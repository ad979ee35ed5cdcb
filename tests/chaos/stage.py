"""What a channel brings to the chaos run: its people, its faults, its kill points, its window.

A channel joins by a class in a module of its own, which is named in `CHANNELS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from pkgutil import resolve_name
from types import MappingProxyType
from typing import ClassVar, Final

from tests.chaos.order import Queue
from tests.chaos.plan import Menu, Question, Trouble
from tests.chaos.record import Record
from tests.chaos.traps import Traps
from tests.chaos.window import NONE, Window

CHANNELS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "discord": "tests.chaos.discord:Discord",
        "slack": "tests.chaos.slack:Slack",
        "telegram": "tests.chaos.telegram:Telegram",
        "web": "tests.chaos.web:Web",
    }
)
"""The class of each channel."""


class Stage(AbstractAsyncContextManager["Stage"], ABC):
    """The people and the platform of one home, who stay while gateways come and go.

    menu    what a schedule can be made of
    window  how it is judged whether a message may be a copy
    queue   which questions are accepted in the order in which they were asked
    writes  seconds that the model should take for an answer, so that partial text is seen
    """

    menu: ClassVar[Menu]
    window: ClassVar[Window] = NONE
    queue: ClassVar[Queue]
    writes: ClassVar[float]

    @abstractmethod
    def __init__(self, traps: Traps, home: Path) -> None:
        """Set up, for a gateway of a home; moments of `menu.moments` are told to the traps."""

    @abstractmethod
    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings, without the prefix TAPEWAY_."""

    @abstractmethod
    async def ready(self) -> None:
        """Wait until the first gateway can hear and be heard."""

    @abstractmethod
    async def ask(self, question: Question) -> None:
        """Ask a question, without waiting for the gateway: its token, its kind and "please"."""

    async def talk(self, texts: Sequence[str]) -> list[str]:
        """Have people say to each other what asks nothing; return what of it was said."""
        return []

    @abstractmethod
    async def trouble(self, trouble: Trouble) -> None:
        """Make one of `menu.troubles` happen."""

    @abstractmethod
    def heal(self) -> None:
        """End everything that goes wrong."""

    @abstractmethod
    async def see(self, record: Record) -> None:
        """Write down what can be seen of the answers of a schedule, in `texts` and `drafts`."""


def stage_of(channel: str) -> type[Stage]:
    """Return the stage of a channel."""
    found: type[Stage] = resolve_name(CHANNELS[channel])
    return found
