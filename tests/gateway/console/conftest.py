"""The scene of these tests, over both kinds of database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.gateway.console.scene import LeapingClock, Scene, scene_of
from tests.kept_databases import kept_database


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgresql)])
def database(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    """Return the settings of a database."""
    if request.param == "sqlite":
        yield {}
        return
    with kept_database() as url:
        yield {"TAPE__URL": url}


@pytest.fixture
def clock() -> LeapingClock:
    return LeapingClock()


@pytest.fixture
async def scene(
    tmp_path: Path, database: dict[str, str], clock: LeapingClock
) -> AsyncIterator[Scene]:
    async with scene_of(tmp_path, clock=clock, **database) as found:
        yield found
