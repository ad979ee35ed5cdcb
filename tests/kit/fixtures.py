"""The fixtures of every test: a model's server, channels without a platform, a gateway with them.

`docs/how-to/write-a-test.md` shows them at work.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from channels.base import Channel
from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.editing_channel import EditingChannel, Platform
from tests.kit.gateways import gateway_of
from tests.kit.plain_channels import Brings, PlainChannel


@pytest.fixture
async def model() -> AsyncIterator[FakeOpenAI]:
    """A model's server on loopback: it answers what `enqueue` was given, then repeats the question.

    A test that needs another one, with a key or with an answer of its own, opens `FakeOpenAI(...)`.
    """
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
def plain() -> PlainChannel:
    """A channel that posts and nothing else; `gateway` runs it if the test has both."""
    return PlainChannel()


@pytest.fixture
def editing() -> EditingChannel:
    """A channel that posts and edits; `gateway` runs it if the test has both."""
    return EditingChannel(Platform())


@pytest.fixture
def _around(request: pytest.FixtureRequest) -> list[object]:
    """Set up what `gateway` takes before it, whatever the order of the test's arguments."""
    taken = ("model", "plain", "editing")
    return [request.getfixturevalue(name) for name in taken if name in request.fixturenames]


@pytest.fixture
async def gateway(
    request: pytest.FixtureRequest, tmp_path: Path, _around: list[object]
) -> AsyncIterator[Gateway]:
    """A gateway in this process, on the embedded defaults, with its home in `tmp_path`.

    It asks `model` and runs `plain` and `editing` if the test has those fixtures, too; else it has
    no model, and the page and the terminal for channels. Settings stand in a mark:
    `@pytest.mark.settings(ACCESS__MODE="open")`. A test that needs plugins, or two gateways, opens
    `gateway_of(...)` of `tests.kit.gateways`.
    """
    marks = reversed(list(request.node.iter_markers("settings")))
    settings = {name: str(value) for mark in marks for name, value in mark.kwargs.items()}
    plugins = [Brings(one) for one in _around if isinstance(one, Channel)]
    server = next((one for one in _around if isinstance(one, FakeOpenAI)), None)
    async with gateway_of(tmp_path, server, *plugins, **settings) as running:
        yield running
