"""The court and the group of these tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.scheduling.confirming import Scene, scene
from tests.gateway.scheduling.lanes import Bench, open_bench
from tests.gateway.scheduling.opening.court import Court, court_of
from tests.gateway.scheduling.people import Group, group_of


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with open_bench() as found:
        yield found


@pytest.fixture
async def court(tmp_path: Path) -> AsyncIterator[Court]:
    async with court_of(tmp_path) as found:
        yield found


@pytest.fixture
async def group(tmp_path: Path) -> AsyncIterator[Group]:
    async with group_of(tmp_path) as found:
        yield found


@pytest.fixture
async def play(tmp_path: Path) -> AsyncIterator[Scene]:
    async with scene(tmp_path) as found:
        yield found
