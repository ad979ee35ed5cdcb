"""A model server that redirects gets an error with its new address, and the new host nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agent.errors import ServerMoved
from agent.model import ModelRequest
from agent.models.openai import OpenAIModel
from agent.models.probe import Probe
from agent.settings import AgentSettings
from tests.fakes.redirecting import Redirecting, redirecting

KEY = "sk-canary"
HELLO = ModelRequest([{"role": "user", "content": "canary of a chat"}])


def model_at(url: str) -> OpenAIModel:
    values: dict[str, Any] = {"base_url": f"{url}/v1", "api_key": KEY}
    return OpenAIModel("known", AgentSettings.model_validate(values))


async def asked(both: Redirecting) -> str:
    model = model_at(both.url)
    try:
        with pytest.raises(ServerMoved) as caught:
            [piece async for piece in model.stream(HELLO)]
        return str(caught.value)
    finally:
        await model.aclose()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_neither_key_nor_chat_follows_a_redirect(status: int) -> None:
    async with redirecting(status) as both:
        said = await asked(both)
    assert both.seen == ["POST /v1/chat/completions HTTP/1.1"]
    assert both.elsewhere == 0
    assert said == f"{both.url}/v1 redirects to {both.other}/v1, which is not followed"


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("", "another address"),
        ("ftp://elsewhere.example/v1", "another address"),
        ("http://[::1", "another address"),
        ("https://user:pass@new.example/v1{path}?key=sk-canary#a", "https://new.example/v1/v1"),
        ("/v2/chat/completions", "/v2"),
        ("https://login.example/sk-canary", "https://login.example/***"),
    ],
)
async def test_the_new_address_is_named_without_a_secret(target: str, named: str) -> None:
    async with redirecting(target=target) as both:
        said = await asked(both)
    assert f"{named}, which" in said
    assert KEY not in said
    assert "pass" not in said


async def test_the_probe_says_which_address_to_set() -> None:
    async with redirecting() as both:
        model = model_at(both.url)
        looked = await Probe(model, time.monotonic).look()
        found = await Probe(model, time.monotonic).ask()
        await model.aclose()
    assert looked == found
    assert found.kind == "moved"
    assert found.sentence.endswith(f"set TAPEWAY_AGENT__BASE_URL={both.other}/v1")
    assert both.elsewhere == 0


async def test_a_redirect_that_names_no_address_is_said_too() -> None:
    async with redirecting(target="") as both:
        model = model_at(both.url)
        found = await Probe(model, time.monotonic).look()
        await model.aclose()
    assert found is not None
    assert found.sentence.endswith("elsewhere: set TAPEWAY_AGENT__BASE_URL to its new address")
