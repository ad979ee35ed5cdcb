"""Several models as one."""

from __future__ import annotations

import pytest

from agent.errors import ContextOverflow, ModelBusy, ModelDown
from agent.model import ModelRequest, Piece, ReasoningPiece, ResetPiece, TextPiece
from agent.models.offline import OfflineModel
from agent.models.registry import make_model
from agent.models.retry import FallbackModel
from agent.settings import AgentSettings
from agent.testing import ScriptedModel, says

pytestmark = pytest.mark.anyio

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
