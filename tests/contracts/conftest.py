"""Which store the stage's gateways have: a test with the marker `postgresql` has a server's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contracts.promised import on_a_server


@pytest.fixture(autouse=True)
def _store_of_the_stage(request: pytest.FixtureRequest) -> Iterator[None]:
    with on_a_server(request.node.get_closest_marker("postgresql") is not None):
        yield
