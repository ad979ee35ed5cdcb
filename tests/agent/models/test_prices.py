"""The prices of common models: whose they are, and where they do not hold."""

from __future__ import annotations

from datetime import date

import pytest

from agent.model_settings import ModelSettings
from agent.models.prices import LISTS, Prices, listed_prices

MINI = Prices(0.25, 0.025, 2)
OPENROUTER = "https://openrouter.ai/api/v1"


@pytest.mark.parametrize(
    ("server", "model", "found"),
    [
        ("", "gpt-5-mini", MINI),
        ("https://api.openai.com/v1", "gpt-5-mini", MINI),
        ("https://API.OPENAI.COM:443/v1/", "gpt-5-mini-2025-08-07", MINI),
        ("https://api.anthropic.com/v1", "claude-haiku-4-5-20251001", Prices(1, 0.1, 5)),
        ("", "gpt-5-mini-tuned", None),
        ("", "gpt-5-mini-2025-08", None),
        ("", "claude-haiku-4-5", None),
        ("", "a model that nobody listed", None),
        (OPENROUTER, "gpt-5-mini", None),
        ("http://127.0.0.1:11434/v1", "gpt-5-mini", None),
        ("https://api.openai.com.example.org/v1", "gpt-5-mini", None),
        ("no address", "gpt-5-mini", None),
    ],
)
def test_a_price_is_that_of_a_model_at_its_own_server(
    server: str, model: str, found: Prices | None
) -> None:
    assert listed_prices(server, model) == found


def test_what_the_settings_say_wins_and_a_listed_price_is_not_converted() -> None:
    assert ModelSettings().prices("gpt-5-mini", "USD") == MINI
    assert ModelSettings().prices("gpt-5-mini", "EUR") is None
    own = ModelSettings(price_input=1)
    assert own.prices("gpt-5-mini", "EUR") == Prices(1, 1, 0)
    assert ModelSettings(price_output=0).prices("llama", "EUR") == Prices(0, 0, 0)
    assert ModelSettings().prices("offline", "EUR") == Prices(0, 0, 0)


def test_each_list_says_where_and_when_it_was_read() -> None:
    for server, prices in LISTS.items():
        assert prices.source.startswith("https://"), server
        assert date.fromisoformat(prices.read) > date(2026, 1, 1), server
        for model, one in prices.models.items():
            assert 0 < one.cached <= one.input <= one.output, model
