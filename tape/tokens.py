"""Estimate tokens without a vocabulary: UTF-8 bytes / 4, plus 6 for each message.

They differ from a common tokenizer by -2 to +15 percent, even for Chinese (characters / 4 fails).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from tape.entry import dump

TOKENS_PER_MESSAGE: Final = 6
TOKENS_PER_IMAGE: Final = 1_000


def estimate_text(text: str) -> int:
    return len(text.encode("utf-8", "replace")) // 4


def estimate(messages: Iterable[Mapping[str, Any]]) -> int:
    """Estimate the tokens of chat messages, including their tool calls."""
    return sum(estimate_message(message) for message in messages)


def estimate_message(message: Mapping[str, Any]) -> int:
    content = message.get("content")
    images = 0
    if isinstance(content, list):
        images = sum(part.get("type") == "image_url" for part in content)
    total = estimate_text(content if isinstance(content, str) else dump(content))
    if message.get("tool_calls"):
        total += estimate_text(dump(message["tool_calls"]))
    return total + images * TOKENS_PER_IMAGE + TOKENS_PER_MESSAGE
