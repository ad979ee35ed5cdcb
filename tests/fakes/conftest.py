"""The fake servers, and the real SDKs that talk to them."""

from __future__ import annotations

from collections.abc import AsyncIterator

import openai
import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.openai.test_server import client_of
from tests.fakes.slack.server import FakeSlack
from tests.fakes.telegram.client import Api
from tests.fakes.telegram.server import FakeTelegram


@pytest.fixture
async def server() -> AsyncIterator[FakeOpenAI]:
    async with FakeOpenAI(api_key="right", models={"known"}) as fake:
        yield fake


@pytest.fixture
async def client(server: FakeOpenAI) -> AsyncIterator[openai.AsyncOpenAI]:
    async with client_of(server) as made:
        yield made


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as fake:
        yield fake


@pytest.fixture
async def api(telegram: FakeTelegram) -> AsyncIterator[Api]:
    async with Api(telegram) as made:
        yield made


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake
