"""What a server refuses is learned from the repeat that succeeds without it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from agent.errors import ModelError, RequestRejected
from agent.model import ModelRequest
from agent.model_settings import ModelSettings
from agent.models.learned import Learned
from agent.models.openai import OpenAIModel
from tests.agent.scripted import ECHO
from tests.fakes.openai.script import Failure, Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI

START = datetime(2026, 1, 1, tzinfo=UTC)
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
LOOK = {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}
ASK = {"role": "user", "content": "hello"}
FUNCTION = {"name": "echo", "arguments": "{}"}
CALLS = [{"id": f"call_{name}", "type": "function", "function": FUNCTION} for name in "ab"]
RESULTS = [{"role": "tool", "tool_call_id": one["id"], "content": "done"} for one in CALLS]
STEPS: list[dict[str, Any]] = [
    ASK,
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    *RESULTS,
]
EVERYTHING = {
    "temperature": 0.2,
    "max_output": 9,
    "reasoning_effort": "low",
    "body": {"parallel_tool_calls": False},
}


def has(name: str) -> Callable[[dict[str, Any]], bool]:
    return lambda body: name in body


def has_image(body: dict[str, Any]) -> bool:
    return any(isinstance(message["content"], list) for message in body["messages"])


def has_long_ids(body: dict[str, Any]) -> bool:
    ids = [call["id"] for message in body["messages"] for call in message.get("tool_calls", ())]
    return any(len(one) != 9 for one in ids)


def asks_after_result(body: dict[str, Any]) -> bool:
    roles = [message["role"] for message in body["messages"]]
    return ("tool", "user") in pairwise(roles)


def has_two_calls(body: dict[str, Any]) -> bool:
    return any(len(message.get("tool_calls", ())) > 1 for message in body["messages"])


Refuses = Callable[[dict[str, Any]], bool]
REFUSALS: list[tuple[Failure, Refuses]] = [
    (
        Failure(
            400,
            "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use"
            " 'max_tokens' instead.",
        ),
        has("max_completion_tokens"),
    ),
    (
        Failure(
            400,
            "Unsupported value: 'temperature' does not support 0.2 with this model. Only the"
            " default (1) value is supported.",
            "unsupported_value",
            param="temperature",
        ),
        has("temperature"),
    ),
    (Failure(400, "Unrecognized request argument supplied: stream_options"), has("stream_options")),
    (Failure(422, "[{'loc': ['body', 'stream_options']}]"), has("stream_options")),
    (
        Failure(400, "Unsupported parameter: 'parallel_tool_calls' is not supported."),
        has("parallel_tool_calls"),
    ),
    (
        Failure(400, "Unrecognized request argument supplied: reasoning_effort"),
        has("reasoning_effort"),
    ),
    (Failure(400, "registry.ollama.ai/library/gemma:2b does not support tools"), has("tools")),
    (Failure(404, "No endpoints found that support tool use."), has("tools")),
    (
        Failure(
            400,
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be'
            " set",
        ),
        has("tools"),
    ),
    (Failure(500, "tools param requires --jinja flag"), has("tools")),
    (Failure(404, "No endpoints found that support image input"), has_image),
    (Failure(500, "image input is not supported - hint: you may need the mmproj"), has_image),
    (
        Failure(
            400, "Tool call id was call_a but must be a-z, A-Z, 0-9, with a length of 9.", code=3280
        ),
        has_long_ids,
    ),
    (Failure(400, "Unexpected role 'user' after role 'tool'", code=3230), asks_after_result),
    (Failure(500, "This model only supports single tool-calls at once!"), has_two_calls),
]


def refusing(failure: Failure, refuses: Refuses) -> Callable[[Request], Reply]:
    return lambda request: failure if refuses(request.body) else Text(("hello",))


async def ask(server: FakeOpenAI, learned: Learned, *messages: dict[str, Any]) -> None:
    request = ModelRequest(messages or (*STEPS, LOOK), [ECHO.schema()])
    values = {"base_url": server.base_url, **EVERYTHING}
    model = OpenAIModel("m", ModelSettings.model_validate(values), learned)
    try:
        async for _ in model.stream(request):
            pass
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    ("failure", "refuses"), REFUSALS, ids=[failure.message for failure, _ in REFUSALS]
)
async def test_what_a_server_refuses_costs_one_call_a_day(
    failure: Failure, refuses: Refuses
) -> None:
    now = [START]
    learned = Learned(lambda: now[0])
    async with FakeOpenAI(default=refusing(failure, refuses)) as server:
        for _ in range(3):
            await ask(server, learned)
        assert [refuses(request.body) for request in server.requests] == [True] + [False] * 3
        now[0] += timedelta(days=1)
        await ask(server, learned)
        assert len(server.requests) == 6


async def test_a_server_may_refuse_several_things_one_after_another() -> None:
    learned = Learned()

    def refuse(request: Request) -> Reply:
        for failure, refuses in REFUSALS[:7]:
            if refuses(request.body):
                return failure
        return Text(("hello",))

    async with FakeOpenAI(default=refuse) as server:
        await ask(server, learned)
        count = len(server.requests)
        await ask(server, learned)
        assert len(server.requests) == count + 1
    assert len(learned.lessons()) == 6


@pytest.mark.parametrize("error", [Failure(400, "stream_options"), Failure(401, "no")])
async def test_nothing_is_learned_from_a_repeat_that_fails(
    model: FakeOpenAI, error: Failure
) -> None:
    learned = Learned()
    model.enqueue(Failure(400, "unknown field stream_options"), error)
    with pytest.raises(ModelError):
        await ask(model, learned, ASK)
    assert learned.lessons() == []


async def test_a_refusal_that_blames_nothing_is_an_error_at_once(model: FakeOpenAI) -> None:
    learned = Learned()
    model.enqueue(Failure(400, "Invalid schema for function 'echo'"))
    with pytest.raises(RequestRejected, match="Invalid schema"):
        await ask(model, learned, ASK)
    assert len(model.requests) == 1


async def test_one_picture_that_is_refused_says_nothing_about_others(model: FakeOpenAI) -> None:
    learned = Learned()
    model.enqueue(Failure(400, "the picture is broken"))
    await ask(model, learned, LOOK)
    await ask(model, learned, LOOK)
    assert [has_image(request.body) for request in model.requests] == [True, False, True]


def test_a_lesson_is_about_one_model_on_one_server_and_says_so() -> None:
    learned = Learned(lambda: START)
    learned.learn("http://a/v1", "m", "stream_options")
    learned.learn("http://b/v1", "m", "tags", "begins to reason without a tag")
    assert learned.about("http://a/v1", "m") == {"stream_options"}
    assert learned.about("http://a/v1", "n") == frozenset()
    one, other = map(str, learned.lessons())
    refused = "refuses stream_options, so requests go without it for a day"
    assert one == f"m on http://a/v1 {refused} (since 00:00 UTC)"
    assert other == "m on http://b/v1 begins to reason without a tag (since 00:00 UTC)"
