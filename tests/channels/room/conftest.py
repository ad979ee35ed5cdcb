"""The hubs of a process alone, and of several processes over one database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.channels.room.hubs import Hubs, local_hubs, shared_hubs
from tests.postgres import application_database


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with application_database() as url:
        yield url


@pytest.fixture(params=["alone", pytest.param("shared", marks=pytest.mark.postgresql)])
async def hubs(request: pytest.FixtureRequest) -> AsyncIterator[Hubs]:
    if request.param == "alone":
        yield local_hubs()
        return
    async with shared_hubs(request.getfixturevalue("database")) as found:
        yield found
