"""The fixtures of every test: a model's server, channels, a gateway, people, whole platforms.

`docs/how-to/write-a-test.md` shows them at work.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from channels.base import Channel
from gateway.app import Gateway
from tests.fakes.internet import Internet, internet
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, PrivateChat
from tests.kit.editing_channel import EditingChannel, Platform
from tests.kit.gateways import gateway_of
from tests.kit.loops import TidyLoop
from tests.kit.plain_channels import Brings, PlainChannel
from tests.kit.play import Play, playing
from tests.kit.visitor import Visitor, visit


@pytest.fixture(scope="session")
def anyio_backend() -> tuple[str, dict[str, Any]]:
    """asyncio: the SDKs support no other."""
    return "asyncio", {"loop_factory": TidyLoop}


def settings_of(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Return the settings in the marks of a test; the nearest mark counts."""
    marks = reversed(list(request.node.iter_markers("settings")))
    return {name: str(value) for mark in marks for name, value in mark.kwargs.items()}


@pytest.fixture
async def model() -> AsyncIterator[FakeOpenAI]:
    """A model's server on loopback: it answers what `enqueue` was given, then repeats the question.

    A test that needs another one, with a key or with an answer of its own, opens `FakeOpenAI(...)`.
    """
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
async def net(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Internet]:
    """An internet of one machine: names and public addresses lead to a server of the test."""
    async with internet(monkeypatch) as made:
        yield made


@pytest.fixture
def plain() -> PlainChannel:
    """A channel that posts and nothing else; `gateway` runs it if the test has both."""
    return PlainChannel()


@pytest.fixture
def editing() -> EditingChannel:
    """A channel that posts and edits; `gateway` runs it if the test has both."""
    return EditingChannel(Platform())


@pytest.fixture
def _around(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Set up what `gateway` takes before it, whatever the order of the test's arguments."""
    taken = ("model", "plain", "editing", "clock")
    return {name: request.getfixturevalue(name) for name in taken if name in request.fixturenames}


@pytest.fixture
async def gateway(
    request: pytest.FixtureRequest, tmp_path: Path, _around: dict[str, Any]
) -> AsyncIterator[Gateway]:
    """A gateway in this process, on the embedded defaults, with its home in `tmp_path`.

    It asks `model` and runs `plain` and `editing` if the test has those fixtures, too; else it has
    no model, and the page and the terminal for channels. Settings stand in a mark:
    `@pytest.mark.settings(ACCESS__MODE="open")`. It goes by the fixture `clock`, where a test file
    has one. A test that needs plugins, or two gateways, opens `gateway_of(...)` of
    `tests.kit.gateways`.
    """
    settings = {"ACCESS__MODE": "open"} if "group" in request.fixturenames else {}
    settings |= settings_of(request)
    plugins = [Brings(one) for one in _around.values() if isinstance(one, Channel)]
    server, clock = _around.get("model"), _around.get("clock")
    async with gateway_of(tmp_path, server, *plugins, clock=clock, **settings) as running:
        yield running


@pytest.fixture
def group(gateway: Gateway, model: FakeOpenAI, plain: PlainChannel) -> GroupChat:
    """A group on `plain`, open to everybody unless a mark says something else."""
    return GroupChat(gateway, plain, model)


@pytest.fixture
def chat(gateway: Gateway, model: FakeOpenAI, editing: EditingChannel) -> PrivateChat:
    """The owner's chat on `editing`."""
    return PrivateChat(gateway, model, editing)


class People:
    """Whoever comes into the rooms of a gateway's page: visitors over HTTP, as a browser is one."""

    def __init__(self, gateway: Gateway, stack: AsyncExitStack) -> None:
        self._gateway = gateway
        self._stack = stack

    async def __call__(self, *names: str, room: str = "lobby") -> list[Visitor]:
        """Have people enter a room; they stay to the end of the test."""
        return await self._stack.enter_async_context(visit(self._gateway.url, *names, room=room))


@pytest.fixture
async def people(gateway: Gateway) -> AsyncIterator[People]:
    """The people of `gateway`'s page: `ann, bob = await people("Ann", "Bob")`."""
    async with AsyncExitStack() as stack:
        yield People(gateway, stack)


@asynccontextmanager
async def _playing(
    channel: str, request: pytest.FixtureRequest, home: Path, model: FakeOpenAI
) -> AsyncIterator[Play]:
    async with playing(channel, home, model=model, **settings_of(request)) as play:
        yield play


@pytest.fixture
async def telegram(
    request: pytest.FixtureRequest, tmp_path: Path, model: FakeOpenAI
) -> AsyncIterator[Play]:
    """A gateway on a Telegram of our own, whose time passes only while nothing is on its way."""
    async with _playing("telegram", request, tmp_path, model) as play:
        yield play


@pytest.fixture
async def discord(
    request: pytest.FixtureRequest, tmp_path: Path, model: FakeOpenAI
) -> AsyncIterator[Play]:
    """The same on Discord."""
    async with _playing("discord", request, tmp_path, model) as play:
        yield play


@pytest.fixture
async def slack(
    request: pytest.FixtureRequest, tmp_path: Path, model: FakeOpenAI
) -> AsyncIterator[Play]:
    """The same on Slack."""
    async with _playing("slack", request, tmp_path, model) as play:
        yield play


@pytest.fixture
async def room(
    request: pytest.FixtureRequest, tmp_path: Path, model: FakeOpenAI
) -> AsyncIterator[Play]:
    """The same in the rooms of the gateway's own page."""
    async with _playing("web", request, tmp_path, model) as play:
        yield play


@pytest.fixture(params=["telegram", "discord", "slack", "web"])
async def platform(
    request: pytest.FixtureRequest, tmp_path: Path, model: FakeOpenAI
) -> AsyncIterator[Play]:
    """Each of the four in turn: the test runs once on each."""
    async with _playing(request.param, request, tmp_path, model) as play:
        yield play
