"""Which store the stage's gateways have: a test with the marker `postgresql` has a server's.

With TAPEWAY_TEST_EVERY_CASE set, every channel runs every case of a test there.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator

import pytest

from tests.kit.promised import SHARED, needed_on_a_server, on_a_server


@pytest.fixture(autouse=True)
def _store_of_the_stage(request: pytest.FixtureRequest) -> Iterator[None]:
    with on_a_server(request.node.get_closest_marker("postgresql") is not None):
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Have the channels share the cases of a test on a server."""
    if os.environ.get("TAPEWAY_TEST_EVERY_CASE"):
        return
    tests: dict[str, list[tuple[pytest.Function, str, str]]] = defaultdict(list)
    for item in items:
        if (
            isinstance(item, pytest.Function)
            and item.originalname in SHARED
            and item.get_closest_marker("postgresql")
        ):
            channel = str(item.callspec.params["channel"])
            case = item.callspec.id.replace(channel, "")
            tests[item.originalname].append((item, channel, case))
    others = [
        item
        for runs in tests.values()
        for (item, _, _), mine in zip(
            runs, needed_on_a_server([run[1:] for run in runs]), strict=True
        )
        if not mine
    ]
    if others:
        config.hook.pytest_deselected(items=others)
        left_out = set(others)
        items[:] = [item for item in items if item not in left_out]
