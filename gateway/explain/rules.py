"""Say by which rule a message was refused, at that time: the chat may have been opened since."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from gateway.language.language import say, translated

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


def refused_by(data: Mapping[str, Any]) -> str:
    """Return why a message was refused, by the event that records it, or "" if that is unknown."""
    rule = rule_then(str(data.get("why") or ""))
    if not rule or not data.get("code"):
        return rule
    return rule + say("; a pairing code stood in it without `/pair` before it, and is void now")
