"""A probe sees what is wrong with a server, for free where it can, and says what to change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.model_settings import ModelSettings
from agent.models.openai import OpenAIModel
from agent.models.probe import LOOK_SECONDS, Probe, Probed
from tests.fakes.openai.script import EmptyStream, Failure, Hang, Reply, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.model_servers.server import ScriptedServer

KEY = "sk-right"
NAMES = ("gpt-5-mini", "gpt-5-nano")


@pytest.fixture(autouse=True)
def _no_keys_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(api_key=KEY, models=NAMES) as fake:
        yield fake


async def probe(
    server: FakeOpenAI,
    name: str = "gpt-5-mini",
    look_seconds: float = LOOK_SECONDS,
    **settings: Any,
) -> tuple[Probed, list[str]]:
    """Return what a probe finds, and the paths that it asked."""
    values = {"base_url": server.base_url, "api_key": KEY, **settings}
    model = OpenAIModel(name, ModelSettings.model_validate(values))
    seconds = iter([1.0, 1.8])
    one = Probe(model, lambda: next(seconds), look_seconds)
    try:
        finding = await one.look() or await one.ask()
    finally:
        await model.aclose()
    return finding, [request.path for request in server.requests]


LOOK = ["/v1/models"]
ASK = [*LOOK, "/v1/chat/completions"]


@pytest.mark.parametrize(
    "reply", [Text(("ok",)), Text(("",), finish_reason="length"), EmptyStream()]
)
async def test_any_answer_with_status_200_counts(server: FakeOpenAI, reply: Reply) -> None:
    server.enqueue(reply)
    finding = Probed("gpt-5-mini answered in 0.8 s", well=True, free=False)
    assert await probe(server) == (finding, ASK)


@pytest.mark.parametrize("listing", [b"404 Not Found", b"200 OK", b"500 Oops"])
async def test_a_server_without_a_list_is_asked_all_the_same(listing: bytes) -> None:
    event = b'data: {"choices":[{"delta":{"content":"ok"}}]}\n\n'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.readuntil(b"\r\n\r\n")
        posted = asked.startswith(b"POST")
        status, body = (b"200 OK", event) if posted else (listing, b"<html>a page</html>")
        kind = b"text/event-stream" if posted else b"text/html"
        fields = b"content-type: %b\r\nconnection: close\r\ncontent-length: %d" % (kind, len(body))
        writer.write(b"HTTP/1.1 %b\r\n%b\r\n\r\n%b" % (status, fields, body))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/beta"
        async with FakeOpenAI() as unused:
            finding, _paths = await probe(unused, base_url=url)
    assert finding.well


async def test_a_missing_v1_is_proposed(server: FakeOpenAI) -> None:
    root = server.base_url.removesuffix("/v1")
    finding, paths = await probe(server, base_url=root)
    assert finding.sentence.endswith(f"set TAPEWAY_AGENT__BASE_URL={server.base_url}")
    assert paths == ["/models", "/v1/models"]


async def test_a_missing_v1_is_proposed_where_the_list_wants_a_key(server: FakeOpenAI) -> None:
    finding, _paths = await probe(server, base_url=server.base_url.removesuffix("/v1"), api_key="")
    assert "requires an API key" in finding.sentence


async def test_a_dead_server_is_one_sentence() -> None:
    async with FakeOpenAI() as gone:
        pass
    finding, _paths = await probe(gone)
    remedy = "start the server, or set TAPEWAY_AGENT__BASE_URL to another one"
    assert finding.sentence == f"nothing answers at {gone.base_url}: {remedy}"


async def test_https_where_the_server_speaks_http_is_not_called_dead() -> None:
    async def plain(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as listening:
        url = f"https://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        async with FakeOpenAI() as unused:
            found, _paths = await probe(unused, base_url=url)
    assert found.sentence.startswith(f"no secure connection to {url}")


async def test_a_server_that_never_answers_does_not_hold_up_the_probe() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as listening:
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        async with FakeOpenAI() as unused:
            finding, _paths = await probe(unused, look_seconds=0.05, base_url=url)
    assert finding.sentence.startswith(f"{url} does not answer within 0.05 s")


@pytest.mark.parametrize(
    ("key", "said"), [("sk-wrong", "refuses the API key"), ("", "requires an API key")]
)
async def test_a_bad_key_costs_no_request(server: FakeOpenAI, key: str, said: str) -> None:
    finding, paths = await probe(server, api_key=key)
    assert said in finding.sentence
    assert "TAPEWAY_AGENT__API_KEY" in finding.sentence
    assert paths == LOOK


@pytest.mark.parametrize(
    ("name", "nearest"), [("gpt-5-mni", "gpt-5-mini"), ("nano", "gpt-5-nano"), ("x", "gpt-5-mini")]
)
async def test_an_unknown_name_is_named_with_the_nearest(
    server: FakeOpenAI, name: str, nearest: str
) -> None:
    finding, _paths = await probe(server, name)
    assert f"has no model {name}" in finding.sentence
    assert finding.sentence.endswith(f"TAPEWAY_AGENT__MODEL={nearest}")


async def test_a_name_that_is_not_listed_but_answers_is_well(model: FakeOpenAI) -> None:
    finding, _paths = await probe(model, "an-alias")
    assert finding.well


@pytest.mark.parametrize(
    ("reply", "said", "free"),
    [
        (Failure(402, "Insufficient Balance"), "is empty: add credit at the provider", True),
        (Failure(429, "You exceeded your quota", "insufficient_quota"), "is empty: add", True),
        (Failure(429, "Rate limit reached"), "is over its limits", True),
        (Failure(503, "warming up"), "gives no answer from gpt-5-mini", False),
        (Failure(400, "no such thing"), "no such thing", True),
        (Failure(401, f"Incorrect API key provided: {KEY}"), "refuses the API key", True),
    ],
    ids=str,
)
async def test_every_refusal_has_its_remedy_in_one_line(
    server: FakeOpenAI, reply: Reply, said: str, free: bool
) -> None:
    server.enqueue(reply)
    finding, paths = await probe(server)
    assert said in finding.sentence
    assert (finding.well, finding.free, paths) == (False, free, ASK)
    assert "\n" not in finding.sentence
    assert KEY not in finding.sentence


async def test_a_request_without_an_answer_may_have_cost_something(server: FakeOpenAI) -> None:
    server.enqueue(Hang())
    finding, _paths = await probe(server, read_timeout=0.05)
    assert (finding.well, finding.free) == (False, False)


async def test_a_server_that_lists_its_models_everywhere_but_chats_under_v1(
    server: FakeOpenAI,
) -> None:
    async with ScriptedServer(()).listening() as scripted:
        found, _paths = await probe(server, "model", base_url=scripted.url)
        remedy = f"{scripted.url} answers 404: set TAPEWAY_AGENT__BASE_URL={scripted.url}/v1"
    assert found.sentence == remedy
