"""The marks under an answer that the provider cut off."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CUT_BY_LENGTH: Final = "*(The answer was cut off here, at the model's limit for one answer.)*"
CUT_BY_FILTER: Final = "*(The answer was cut off here by the model provider's content filter.)*"
MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"length": CUT_BY_LENGTH, "content_filter": CUT_BY_FILTER}
)
"""By the provider's `finish_reason`."""


def ending(text: str, finish_reason: str | None) -> str:
    """Return what to add to an answer that the provider cut off, or "" if it is complete."""
    mark = MARKS.get(finish_reason or "")
    if mark is None or not text.strip():
        return ""
    open_fence = sum(line.lstrip().startswith("```") for line in text.splitlines()) % 2
    return ("\n```" if open_fence else "") + f"\n\n{mark}"
