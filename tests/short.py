"""A short form of all tests, as a plugin of pytest: the first test of every file.

What breaks with another Python mostly breaks where a file is imported, or whatever it tests.
"""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the first of each file of those that are left."""
    first: dict[Path, pytest.Item] = {}
    for item in items:
        first.setdefault(item.path, item)
    config.hook.pytest_deselected(items=[item for item in items if item is not first[item.path]])
    items[:] = first.values()
