"""The kits for authors of tools, models and strategies: ours pass, and what is wrong does not."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any, Final

import pytest
from pydantic import BaseModel

from agent.model import ChatModel, ModelReply, ModelRequest, Piece, TextPiece
from agent.model_settings import ModelSettings
from agent.model_strategy import ByModel
from agent.models.offline import OfflineModel
from agent.models.openai import OpenAIModel
from agent.testing import MODEL_CHECKS, TOOL_CHECKS, ModelCheck, ScriptedModel, ToolCheck
from agent.testing.models import an_answer_is_its_parts_and_then_one_reply
from agent.testing.tools import a_result_is_text_or_json, an_unknown_argument_is_refused
from agent.tool import NoArguments, Tool, ToolContext
from agent.tools import BUILTIN_TOOLS
from tape.construct import ByRules, Candidate, Choice, Strategy
from tape.testing import STRATEGY_CHECKS, StrategyCheck
from tape.testing.strategies import each_candidate_is_chosen_or_not_once
from tests.agent.scripted import ECHO
from tests.fakes.openai.server import FakeOpenAI

SAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "echo": {"text": "plum"},
    "help": {},
    "tape.anchors": {},
    "tape.context": {"task": "plums"},
    "tape.context_summary": {},
    "tape.handoff": {"name": "phase", "summary": "it began"},
    "tape.info": {},
    "tape.search": {"query": "plums"},
}
"""Arguments for a call of each tool that needs neither a network nor a model."""

TOOLS: Final = [one for one in (*BUILTIN_TOOLS, ECHO) if one.name in SAMPLES]
MODELS: Final[Mapping[str, Callable[[FakeOpenAI], ChatModel]]] = {
    "offline": lambda _server: OfflineModel(pause=0),
    "openai": lambda server: OpenAIModel("m", ModelSettings(base_url=server.base_url)),
    "scripted": lambda _server: ScriptedModel(*["plum"] * 3),
}
STRATEGIES: Final[Mapping[str, Callable[[], Strategy]]] = {
    "rules": ByRules,
    "model": lambda: ByModel(ScriptedModel("[2, 1]")),
}


@pytest.mark.parametrize("check", TOOL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_tool(tool: Tool, check: ToolCheck) -> None:
    await check(tool, SAMPLES[tool.name])


@pytest.mark.parametrize("check", MODEL_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
async def test_model(model: FakeOpenAI, name: str, check: ModelCheck) -> None:
    await check(MODELS[name](model))


@pytest.mark.parametrize("check", STRATEGY_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", STRATEGIES)
async def test_strategy(name: str, check: StrategyCheck) -> None:
    await check(STRATEGIES[name]())


async def _object(_arguments: object, _context: ToolContext) -> object:
    return {"at": object()}


class Loose(BaseModel):
    """Arguments that take any other."""


@pytest.mark.parametrize(
    ("check", "arguments", "error"),
    [
        (a_result_is_text_or_json, NoArguments, TypeError),
        (an_unknown_argument_is_refused, Loose, AssertionError),
    ],
)
async def test_a_wrong_tool_does_not_pass(
    check: ToolCheck, arguments: type[BaseModel], error: type[Exception]
) -> None:
    with pytest.raises(error):
        await check(Tool("wrong", "Return an object.", arguments, _object), {})


class Twice(OfflineModel):
    """Replies twice."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        del request
        yield TextPiece("plum")
        yield ModelReply("twice", "plum")
        yield ModelReply("twice", "plum")


async def test_a_model_that_replies_twice_does_not_pass() -> None:
    with pytest.raises(AssertionError, match="2 replies"):
        await an_answer_is_its_parts_and_then_one_reply(Twice())


class Forgetful(ByRules):
    """Leaves a candidate out."""

    async def choose(self, task: str, candidates: Any, budget: int) -> list[Choice]:
        kept: list[Candidate] = list(candidates[1:])
        return list(await super().choose(task, kept, budget))


async def test_a_strategy_that_leaves_a_candidate_out_does_not_pass() -> None:
    with pytest.raises(AssertionError, match="the choices are of"):
        await each_candidate_is_chosen_or_not_once(Forgetful())
