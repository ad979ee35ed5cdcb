"""The way to model servers that the environment sets, and what is said of one that fails."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from agent.errors import NetworkUnusable, ProxyDown
from agent.model import ModelRequest, TextPiece
from agent.models.network import is_excepted, network_variables, unusable, used_for
from agent.models.openai import OpenAIModel
from agent.models.probe import Probe
from agent.settings import AgentSettings
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.raw_http import raw_http
from tests.kit.ports import free_port

HELLO = ModelRequest([{"role": "user", "content": "hello"}])
SERVER = "https://models.example/v1"


@pytest.fixture(autouse=True)
def _no_network_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "REQUEST_METHOD"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def model_at(url: str) -> OpenAIModel:
    given = {"base_url": url, "api_key": "sk-canary", "retries": 0}
    return OpenAIModel("known", AgentSettings.model_validate(given))


async def why(url: str) -> str:
    model = model_at(url)
    try:
        with pytest.raises(ProxyDown) as caught:
            [piece async for piece in model.stream(HELLO)]
        found = await Probe(model, time.monotonic).ask()
        assert (found.kind, found.sentence) == ("proxy", str(caught.value))
        return found.sentence
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("HTTPS_PROXY", "socks5://joe:canary@h:1", "the scheme socks5://, but SOCKS proxies"),
        ("https_proxy", "socks4a://h:1", "the scheme socks4a://, but SOCKS proxies"),
        ("ALL_PROXY", "gopher://h:1", "the scheme gopher://, but it is unknown"),
        ("HTTPS_PROXY", "http://", "is not the address of a proxy"),
        ("HTTPS_PROXY", "http://canary:h:canary", "is not the address of a proxy"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem", "names /nowhere/ca.pem, which is no file"),
        ("SSL_CERT_DIR", "/nowhere", "names /nowhere, which is no folder"),
    ],
)
def test_what_cannot_be_used_is_one_sentence_with_the_variable(
    name: str, value: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(NetworkUnusable) as caught:
        model_at(SERVER)
    said = str(caught.value)
    assert said.startswith(f"{name} ")
    assert says in said
    assert "remove" in said
    assert "canary" not in said


def test_a_file_without_a_certificate_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    with pytest.raises(NetworkUnusable, match="which cannot be used"):
        model_at(SERVER)


async def test_what_a_server_does_not_need_keeps_nobody_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "gopher://h:1")
    monkeypatch.setenv("ALL_PROXY", "socks5://h:1")
    monkeypatch.setenv("NO_PROXY", "localhost, 127.0.0.0/8")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    async with FakeOpenAI() as server:
        model = model_at(server.base_url)
        assert [piece async for piece in model.stream(HELLO)]
        await model.aclose()


@pytest.mark.filterwarnings("ignore:.* deprecated:DeprecationWarning")  # the SDK's transport
async def test_a_dead_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("http_proxy", f"http://joe:canary@127.0.0.1:{port}")
    said = await why("http://models.example/v1")
    assert said.startswith(f"the proxy 127.0.0.1:{port} is not there: correct http_proxy, or")
    assert "canary" not in said


async def test_a_proxy_that_refuses_the_way_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(refuse, "127.0.0.1", 0) as proxy:
        where = f"127.0.0.1:{proxy.sockets[0].getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", where)
        said = await why(SERVER)
    assert said.startswith(f"the proxy {where} answers with 407: correct HTTPS_PROXY")


async def test_requests_go_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    event = b'data: {"choices":[{"delta":{"content":"by proxy"},"finish_reason":"stop"}]}\n\n'
    async with raw_http(event) as url:
        monkeypatch.setenv("HTTP_PROXY", url.removesuffix("/v1"))
        model = model_at("http://models.example/v1")
        pieces = [piece async for piece in model.stream(HELLO)]
        await model.aclose()
    assert pieces[0] == TextPiece("by proxy")


def test_a_small_name_wins_and_a_program_of_a_web_server_ignores_its_clients_proxy() -> None:
    both = {"HTTP_PROXY": "http://large:1", "http_proxy": "http://small:1"}
    assert [one.name for one in network_variables(both)] == ["http_proxy"]
    assert network_variables({"HTTP_PROXY": "http://h:1", "REQUEST_METHOD": "GET"}) == []
    assert network_variables({"HTTPS_PROXY": " ", "NO_PROXY": ""}) == []


def test_only_what_a_server_needs_is_used() -> None:
    given = {"HTTPS_PROXY": "p:1", "SSL_CERT_FILE": "/a", "NO_PROXY": "own.example"}
    variables = network_variables(given)
    named = {
        url: [one.name for one in used_for(url, variables)]
        for url in (SERVER, "http://models.example/v1", "https://own.example/v1")
    }
    assert list(named.values()) == [["HTTPS_PROXY", "SSL_CERT_FILE"], [], ["SSL_CERT_FILE"]]
    assert unusable(variables[0]) == ""


@pytest.mark.parametrize(
    ("exceptions", "url", "is_one"),
    [
        ("*", SERVER, True),
        ("models.example", SERVER, True),
        (".example", SERVER, True),
        ("*.example", SERVER, True),
        ("MODELS.example:443", SERVER, True),
        ("models.example:80", SERVER, False),
        ("dels.example", SERVER, False),
        ("other.example,models.example", SERVER, True),
        (" , ", SERVER, False),
        ("10.0.0.0/8", "http://10.1.2.3:8000/v1", True),
        ("10.0.0.0/8", "http://11.1.2.3:8000/v1", False),
        ("::1", "http://[::1]:8000/v1", True),
        ("[::1]", "http://[::1]:8000/v1", True),
        ("something/odd", SERVER, False),
    ],
)
def test_exceptions_from_the_proxy(exceptions: str, url: str, is_one: bool) -> None:
    assert is_excepted(url, exceptions) is is_one
