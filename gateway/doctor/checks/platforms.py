"""Ask each enabled platform about its bot, by the platform's own `checkup` module."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Final

from channels.checkup import Checkup
from channels.registry import CHANNELS
from gateway.doctor.results import noted
from gateway.settings import Settings

ATTRIBUTE: Final = "checkup:examine"
"""Where a channel's package has its checkup; one without it, such as the page, needs none."""


def enabled_platforms(settings: Settings) -> list[str]:
    """Return the names of the enabled channels that can be examined."""
    return [
        name for name in CHANNELS if getattr(settings, name).enabled and _module(name) is not None
    ]


async def check_platform(name: str, settings: Settings) -> Checkup:
    module = _module(name)
    if module is None:
        return Checkup(name, "", "", (noted(name, "not checked"),))
    examine = getattr(import_module(module), ATTRIBUTE.partition(":")[2])
    found: Checkup = await examine(getattr(settings, name))
    return found


def _module(name: str) -> str | None:
    module = f"channels.{name}.{ATTRIBUTE.partition(':')[0]}"
    return module if find_spec(module) else None
