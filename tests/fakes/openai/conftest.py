"""The fake server, and the real SDK that talks to it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.openai.client import Sdk
from tests.fakes.openai.server import FakeOpenAI


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(api_key="right", models={"known"}) as fake:
        yield fake


@pytest.fixture
async def client(server: FakeOpenAI) -> AsyncIterator[Sdk]:
    async with Sdk(server) as made:
        yield made
