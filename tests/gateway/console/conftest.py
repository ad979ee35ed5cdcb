"""The scene of these tests, over both kinds of database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest

from gateway.assembly import Internals
from tests.gateway.console.court import Townhall, WatchClock, court_of
from tests.gateway.console.scene import ADMIN, OWNER, STRANGER, LeapingClock, Scene, scene_of
from tests.kit.gateways import PATIENT
from tests.kit.kept_databases import kept_database


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
def internals() -> Internals:
    """What no setting changes; a test gives others by its parameters."""
    return PATIENT


@pytest.fixture
async def scene(
    tmp_path: Path, database: dict[str, str], clock: LeapingClock, internals: Internals
) -> AsyncIterator[Scene]:
    async with scene_of(tmp_path, clock=clock, internals=internals, **database) as found:
        yield found


@pytest.fixture
async def owner(scene: Scene) -> AsyncIterator[httpx2.AsyncClient]:
    """Have the owner's browser, and a group in which the admin, too, has written."""
    await scene.say(STRANGER, "plums are ripe")
    await scene.say(ADMIN, "so are pears")
    async with scene.enter(OWNER) as browser:
        yield browser


@pytest.fixture
def hall() -> Townhall:
    return Townhall()


@pytest.fixture
def watch() -> WatchClock:
    return WatchClock()


@pytest.fixture
async def court(
    tmp_path: Path, hall: Townhall, watch: WatchClock, internals: Internals
) -> AsyncIterator[Scene]:
    async with court_of(tmp_path, hall, watch, internals) as scene:
        yield scene
