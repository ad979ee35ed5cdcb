"""A call that fails or breaks off is repeated, and repeats never multiply."""

from __future__ import annotations

import pytest

from agent.errors import (
    AnswerBroken,
    AnswerEmpty,
    AnswerFiltered,
    AnswerRefused,
    KeyRefused,
    ModelBusy,
    ModelDown,
    ModelError,
    ModelUnreachable,
    OutputUsedUp,
    PlanLimit,
    ReasoningOnly,
    RequestRejected,
)
from agent.model import ModelRequest, Piece, ResetPiece, TextPiece
from agent.models.registry import make_model
from agent.models.retry import RetryingModel
from agent.settings import AgentSettings
from agent.testing import ScriptedModel, says
from tests.fakes.openai.script import CutStream, EmptyStream, Failure, Reply, StreamError
from tests.fakes.openai.server import FakeOpenAI

REQUEST = ModelRequest([{"role": "user", "content": "hello"}])
CUT = AnswerBroken("the stream was cut")
SOON = {"retry-after-ms": "1"}
DOWN = Failure(503, "no", headers=SOON)
HALF = CutStream(("half",))


class Waits:
    """A sleep that does not wait, but notes for how long it should have."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def ask(model: ScriptedModel, retries: int, waits: Waits | None = None) -> list[Piece]:
    retrying = RetryingModel(model, retries, waits or Waits())
    return [piece async for piece in retrying.stream(REQUEST)]


@pytest.mark.parametrize("retries", [0, 2])
@pytest.mark.parametrize(
    "script",
    [(HALF,), (DOWN,), (DOWN, HALF), (HALF, DOWN), (EmptyStream(), DOWN), (StreamError(()), HALF)],
    ids=str,
)
async def test_retries_never_multiply(script: tuple[Reply, ...], retries: int) -> None:
    async with FakeOpenAI() as server:
        server.enqueue(*script * 9)
        values = {"model": "m", "base_url": server.base_url, "retries": retries}
        model = make_model(AgentSettings.model_validate(values))
        with pytest.raises(ModelError):
            [piece async for piece in model.stream(REQUEST)]
        await model.aclose()
        assert len(server.requests) == 1 + retries


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


@pytest.mark.parametrize("error", [ModelDown("out"), ModelUnreachable("away"), ModelBusy("429")])
async def test_a_call_that_does_not_begin_is_repeated_after_growing_waits(
    error: ModelError,
) -> None:
    waits = Waits()
    model = ScriptedModel(*[[error]] * 3, says("whole"))
    assert await ask(model, 3, waits) == says("whole")
    assert waits.seconds == [0.5, 1, 2]


async def test_a_busy_server_is_asked_again_when_it_says() -> None:
    waits = Waits()
    model = ScriptedModel([ModelBusy("429", 7)], says("whole"))
    await ask(model, 1, waits)
    assert waits.seconds == [7]


@pytest.mark.parametrize(
    "error",
    [ModelBusy("429", 3600), PlanLimit("daily", 1), KeyRefused("no"), RequestRejected("no")],
)
async def test_what_no_repeat_can_help_is_not_repeated(error: ModelError) -> None:
    model = ScriptedModel([error], says("whole"))
    with pytest.raises(type(error)):
        await ask(model, 2)
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("failure", "calls"),
    [
        (AnswerEmpty("nothing"), 3),
        (ReasoningOnly("only reasoning"), 2),
        (AnswerRefused("no"), 1),
        (AnswerFiltered("filtered"), 1),
        (OutputUsedUp("length"), 1),
    ],
    ids=lambda given: type(given).__name__,
)
async def test_an_end_without_an_answer_is_asked_again_where_that_can_help(
    failure: ModelError, calls: int
) -> None:
    model = ScriptedModel([failure], [failure], [failure])
    with pytest.raises(type(failure)):
        await ask(model, 2)
    assert len(model.requests) == calls
