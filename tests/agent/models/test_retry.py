"""An answer that breaks off is asked for again."""

from __future__ import annotations

import pytest

from agent.errors import AnswerBroken, ModelDown
from agent.model import ModelRequest, Piece, ResetPiece, TextPiece
from agent.models.retry import RetryingModel
from agent.testing import ScriptedModel, says

pytestmark = pytest.mark.anyio

REQUEST = ModelRequest([{"role": "user", "content": "hello"}])
CUT = AnswerBroken("the stream was cut")


async def ask(model: ScriptedModel, retries: int) -> list[Piece]:
    return [piece async for piece in RetryingModel(model, retries).stream(REQUEST)]


async def test_an_answer_that_broke_off_before_it_said_anything_is_asked_for_again() -> None:
    model = ScriptedModel([CUT], says("whole"))
    assert await ask(model, 1) == says("whole")
    assert model.requests == [REQUEST, REQUEST]


async def test_what_a_broken_answer_said_is_taken_back() -> None:
    model = ScriptedModel([TextPiece("half"), CUT], says("whole"), name="m")
    assert await ask(model, 2) == [
        TextPiece("half"),
        ResetPiece("m: the stream was cut"),
        *says("whole"),
    ]


async def test_the_last_error_is_raised_after_all_retries() -> None:
    model = ScriptedModel([CUT], [CUT], [CUT])
    with pytest.raises(AnswerBroken):
        await ask(model, 2)
    assert len(model.requests) == 3


async def test_a_call_that_does_not_begin_is_not_asked_again() -> None:
    model = ScriptedModel([ModelDown("out")], says("whole"))
    with pytest.raises(ModelDown):
        await ask(model, 2)
    assert len(model.requests) == 1
