"""The fixtures of every test: a model's server, a gateway that asks it.

`docs/how-to/write-a-test.md` shows them at work.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.app import Gateway
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of


@pytest.fixture
async def model() -> AsyncIterator[FakeOpenAI]:
    """A model's server on loopback: it answers what `enqueue` was given, then repeats the question.

    A test that needs another one, with a key or with an answer of its own, opens `FakeOpenAI(...)`.
    """
    async with FakeOpenAI() as server:
        yield server


@pytest.fixture
def _its_model(request: pytest.FixtureRequest) -> FakeOpenAI | None:
    """The model of the test's gateway: set up first, whatever the order of the arguments."""
    if "model" not in request.fixturenames:
        return None
    server = request.getfixturevalue("model")
    assert isinstance(server, FakeOpenAI)
    return server


@pytest.fixture
async def gateway(_its_model: FakeOpenAI | None, tmp_path: Path) -> AsyncIterator[Gateway]:
    """A gateway in this process, on the embedded defaults, with its home in `tmp_path`.

    It asks `model` if the test has that fixture, too; else it has no model. A test that needs
    settings, plugins or two gateways opens `gateway_of(...)` of `tests.kit.gateways`.
    """
    async with gateway_of(tmp_path, _its_model) as running:
        yield running
