"""What several scenarios need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.kept_databases import kept_database


@pytest.fixture
def tape_url() -> Iterator[str]:
    """The address of a database without any rows."""
    with kept_database() as url:
        yield url
