"""A model that is replaced is closed by the last turn that uses it."""

from __future__ import annotations

from pathlib import Path

from agent.models.offline import OfflineModel
from gateway.turn.model_in_use import ModelInUse
from tests.kit.gateways import make_settings


class Counted(OfflineModel):
    """The offline model, which counts how often it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1


async def test_a_turn_keeps_its_model_and_the_last_one_closes_it(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    first, second = Counted(), Counted()
    models = ModelInUse(first, settings)
    one, other = models.take(), models.take()
    await models.replace(second, settings)
    assert models.take().model is second
    assert one.model is first
    await one.release()
    assert first.closed == 0
    await other.release()
    assert (first.closed, second.closed) == (1, 0)


async def test_a_model_that_no_turn_uses_is_closed_at_once(tmp_path: Path) -> None:
    settings = make_settings(tmp_path)
    first, second = Counted(), Counted()
    models = ModelInUse(first, settings)
    await models.replace(second, settings)
    assert first.closed == 1
    await models.aclose()
    assert (first.closed, second.closed) == (1, 1)
