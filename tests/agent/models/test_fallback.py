"""Several models as one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.errors import ContextOverflow, ModelBusy, ModelDown
from agent.model import ModelReply, ModelRequest, Piece, ReasoningPiece, ResetPiece, TextPiece
from agent.model_settings import ModelSettings
from agent.models.offline import OfflineModel
from agent.models.registry import make_model
from agent.models.retry import FallbackModel
from agent.settings import AgentSettings
from agent.testing import ScriptedModel, says
from tests.fakes.openai.script import Failure
from tests.fakes.openai.server import FakeOpenAI

REQUEST = ModelRequest([{"role": "user", "content": "hello"}])


async def ask(*models: ScriptedModel) -> list[Piece]:
    return [piece async for piece in FallbackModel(models).stream(REQUEST)]


async def test_while_the_first_model_answers_no_other_is_asked() -> None:
    first, second = ScriptedModel(says("one")), ScriptedModel(says("two"))
    assert await ask(first, second) == says("one")
    assert second.requests == []


async def test_the_next_model_is_asked_the_same_when_one_fails() -> None:
    first, second = ScriptedModel([ModelDown("out")]), ScriptedModel(says("two"))
    assert (await ask(first, second))[-2:] == says("two")
    assert first.requests == second.requests == [REQUEST]


async def test_what_a_failed_model_has_said_is_taken_back() -> None:
    first = ScriptedModel([TextPiece("half"), ModelDown("out")], name="first")
    pieces = await ask(first, ScriptedModel(says("two")))
    assert pieces == [TextPiece("half"), ResetPiece("first: out"), *says("two")]


async def test_a_model_that_fails_before_it_spoke_takes_nothing_back() -> None:
    first = ScriptedModel([ReasoningPiece("hm"), ModelDown("out")])
    pieces = await ask(first, ScriptedModel(says("two")))
    assert not any(isinstance(piece, ResetPiece) for piece in pieces)


async def test_a_prompt_that_is_too_long_is_no_reason_to_ask_another() -> None:
    second = ScriptedModel(says("two"))
    with pytest.raises(ContextOverflow):
        await ask(ScriptedModel([ContextOverflow("too long")]), second)
    assert second.requests == []


@pytest.mark.parametrize(
    ("windows", "shortened", "asked"),
    [
        ((8, 4, 16), True, [1, 0, 1]),
        ((8, 4, 16), False, [1, 0, 0]),
        ((8, 0, 8), True, [1, 0, 0]),
        ((0, 2, 10_000), True, [1, 0, 1]),
    ],
)
async def test_a_prompt_that_was_shortened_in_vain_goes_to_a_larger_window(
    windows: tuple[int, ...], shortened: bool, asked: list[int]
) -> None:
    models = [ScriptedModel([ContextOverflow("too long")]), *map(ScriptedModel, "ab")]
    request = replace(REQUEST, shortened=shortened)
    try:
        [_ async for _ in FallbackModel(models, windows).stream(request)]
    except ContextOverflow:
        assert sum(asked) == 1
    assert [len(model.requests) for model in models] == asked


async def test_a_fallback_model_lives_on_its_own_server() -> None:
    async with FakeOpenAI(api_key="ka") as first, FakeOpenAI(api_key="kb") as second:
        first.enqueue(Failure(400, "no"))
        values = {"model": "big", "fallback_models": "small", "api_key": "ka"}
        settings = AgentSettings.model_validate({**values, "base_url": first.base_url})
        section = ModelSettings.model_validate({"base_url": second.base_url, "api_key": "kb"})
        model = make_model(settings, {"small": section})
        pieces = [piece async for piece in model.stream(REQUEST)]
        await model.aclose()
    assert isinstance(pieces[-1], ModelReply)
    assert pieces[-1].requested == "small"
    assert [request.body["model"] for request in second.requests] == ["small"]


async def test_when_all_fail_the_last_one_s_error_is_raised() -> None:
    models = [ScriptedModel([ModelDown("one")]), ScriptedModel([ModelBusy("two", 3)])]
    with pytest.raises(ModelBusy, match="two"):
        await ask(*models)


async def test_an_error_that_is_not_the_model_s_is_not_hidden() -> None:
    second = ScriptedModel(says("two"))
    with pytest.raises(ZeroDivisionError):
        await ask(ScriptedModel([ZeroDivisionError()]), second)
    assert second.requests == []


async def test_closing_closes_every_model() -> None:
    models = [ScriptedModel(), ScriptedModel()]
    await FallbackModel(models).aclose()
    assert [model.closed for model in models] == [True, True]


async def test_settings_with_fallbacks_make_one_model_named_like_the_first() -> None:
    values = {"model": "big", "fallback_models": "small, offline", "api_key": "k"}
    model = make_model(AgentSettings.model_validate(values))
    assert isinstance(model, FallbackModel)
    assert model.name == "big"
    await model.aclose()


async def test_settings_that_name_no_model_make_the_offline_one() -> None:
    assert isinstance(make_model(AgentSettings()), OfflineModel)
