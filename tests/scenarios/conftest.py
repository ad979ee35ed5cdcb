"""What several scenarios need."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kit.kept_databases import kept_database
from tests.postgres import application_database


@pytest.fixture
def tape_url() -> Iterator[str]:
    """The address of a database without any rows."""
    with kept_database() as url:
        yield url


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database as an application sees it, not its owner."""
    with application_database() as url:
        yield url
