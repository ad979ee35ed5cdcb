"""Say by which rule a message was refused, at that time: the chat may have been opened since."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.language.language import translated

WAS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "the chat is not on the allowlist": "the chat was not on the allowlist",
        "neither the chat nor the person is on the allowlist": (
            "neither the chat nor the person was on the allowlist"
        ),
    }
)
"""Recorded rules that may not hold any more, as they are said later."""


def rule_then(rule: str) -> str:
    """Return a recorded rule in words, in the past and in the language of the page."""
    known = translated(rule)
    return known if known != rule else WAS.get(rule, rule)
