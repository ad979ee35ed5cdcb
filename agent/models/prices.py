"""What common models cost at their own servers, for whoever sets no prices.

Each list names the page that its prices were read from, and the day on which they stood there.
They are US dollars for a million tokens: input, cached input, output, each for prompts of up to
100 000 tokens. Left out are prices that change with the hour, and those that are known to end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

CURRENCY: Final = "USD"
OPENAI_HOST: Final = "api.openai.com"
"""The server where the settings name none."""

_DATED: Final = re.compile(r"-(\d{8}|\d{4}-\d\d-\d\d)\Z")
"""How a name ends that means one release of a model; it costs as the others."""


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost."""

    input: float
    cached: float
    output: float


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices of one server.

    source  the page that says so
    read    the day on which it did
    models  maps a model's name there to its prices
    """

    source: str
    read: str
    models: Mapping[str, Prices]


LISTS: Final[Mapping[str, PriceList]] = {
    OPENAI_HOST: PriceList(
        "https://developers.openai.com/api/docs/pricing",
        "2026-10-14",
        {
            "gpt-4.1": Prices(2, 0.5, 8),
            "gpt-4.1-mini": Prices(0.4, 0.1, 1.6),
            "gpt-4.1-nano": Prices(0.1, 0.025, 0.4),
            "gpt-4o": Prices(2.5, 1.25, 10),
            "gpt-4o-mini": Prices(0.15, 0.075, 0.6),
            "gpt-5": Prices(1.25, 0.125, 10),
            "gpt-5-mini": Prices(0.25, 0.025, 2),
            "gpt-5-nano": Prices(0.05, 0.005, 0.4),
            "gpt-5.1": Prices(1.25, 0.125, 10),
            "gpt-5.2": Prices(1.75, 0.175, 14),
            "gpt-5.4": Prices(2.5, 0.25, 15),
            "gpt-5.4-mini": Prices(0.75, 0.075, 4.5),
            "gpt-5.4-nano": Prices(0.2, 0.02, 1.25),
            "gpt-5.5": Prices(5, 0.5, 30),
            "gpt-5.6-luna": Prices(0.2, 0.02, 1.2),
            "gpt-5.6-sol": Prices(4, 0.4, 20),
            "gpt-5.6-terra": Prices(2, 0.2, 12),
            "gpt-6-luna": Prices(0.1, 0.01, 0.5),
            "gpt-6-sol": Prices(2, 0.2, 10),
            "gpt-6.1-sol": Prices(2, 0.1, 10),
            "gpt-6.1-terra": Prices(1, 0.05, 5),
            "o3": Prices(2, 0.5, 8),
            "o4-mini": Prices(1.1, 0.275, 4.4),
        },
    ),
    "api.anthropic.com": PriceList(
        "https://platform.claude.com/docs/en/about-claude/pricing",
        "2026-11-30",
        {
            "claude-fable-5": Prices(10, 1, 50),
            "claude-fable-5-1": Prices(10, 0.25, 50),
            "claude-haiku-4-5": Prices(1, 0.1, 5),
            "claude-haiku-5-5": Prices(0.1, 0.01, 0.5),
            "claude-sonnet-4-5": Prices(3, 0.3, 15),
            "claude-sonnet-4-6": Prices(3, 0.3, 15),
            "claude-sonnet-5": Prices(2, 0.2, 10),
            "claude-sonnet-5-5": Prices(2, 0.1, 10),
            "claude-opus-4-5": Prices(5, 0.5, 25),
            "claude-opus-4-6": Prices(5, 0.5, 25),
            "claude-opus-4-7": Prices(5, 0.5, 25),
            "claude-opus-4-8": Prices(5, 0.5, 25),
            "claude-opus-5": Prices(5, 0.5, 25),
            "claude-opus-5-5": Prices(4, 0.2, 20),
        },
    ),
    "generativelanguage.googleapis.com": PriceList(
        "https://ai.google.dev/gemini-api/docs/pricing",
        "2026-10-14",
        {
            "gemini-2.5-flash": Prices(0.3, 0.03, 2.5),
            "gemini-2.5-flash-lite": Prices(0.1, 0.01, 0.4),
            "gemini-2.5-pro": Prices(1.25, 0.125, 10),
            "gemini-3.1-flash-lite": Prices(0.25, 0.025, 1.5),
            "gemini-3.5-flash": Prices(1.5, 0.15, 9),
            "gemini-3.5-flash-lite": Prices(0.3, 0.03, 2.5),
        },
    ),
    "api.groq.com": PriceList(
        "https://console.groq.com/docs/models",
        "2026-10-14",
        {
            "openai/gpt-oss-20b": Prices(0.075, 0.0375, 0.3),
            "openai/gpt-oss-120b": Prices(0.15, 0.075, 0.6),
        },
    ),
}


def listed_prices(base_url: str, model: str) -> Prices | None:
    """Return what a model costs in US dollars at a server ("": OpenAI's), or None if unlisted.

    The name alone says nothing: another server has a price of its own, or none.
    """
    host = urlsplit(base_url).hostname if base_url else OPENAI_HOST
    found = LISTS.get(host or "")
    if found is None:
        return None
    return found.models.get(model) or found.models.get(_DATED.sub("", model))
