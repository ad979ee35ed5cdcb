"""A tape on which a question waits for its turn."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from agent.testing import new_tape
from tape.handle import Tape
from tests.agent.scripted import begin


@pytest.fixture
async def tape() -> AsyncIterator[Tape]:
    made = new_tape()
    await begin(made)
    yield made
    await made.store.close()
