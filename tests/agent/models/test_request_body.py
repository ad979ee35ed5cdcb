"""The body of a request: the settings of its model, and what its server refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from agent.model import ModelRequest
from agent.model_settings import ModelSettings
from agent.models.request_body import (
    CALL_IDS,
    FILLER,
    IMAGES,
    SINGLE,
    TOOLS,
    build_body,
    refused_in,
    with_short_ids,
)
from agent.models.strict import NO_ANSWER

TOOL = {"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}
ASK = {"role": "user", "content": "hello"}


def call(call_id: str, name: str = "echo") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": "{}"}}


def calls(*ids: str, text: str | None = None) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": [call(one) for one in ids]}


def result(call_id: str, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def body(
    *messages: dict[str, Any], refused: str = "", choice: str | None = None, **settings: Any
) -> dict[str, Any]:
    own = ModelSettings.model_validate(settings)
    request = ModelRequest(messages or [ASK], [TOOL], choice)
    return build_body(request, own, refused_in(own) | ({refused} if refused else set()))


def test_without_settings_a_request_holds_messages_tools_and_the_wish_for_usage() -> None:
    assert body() == {"messages": [ASK], "stream_options": {"include_usage": True}, "tools": [TOOL]}


def test_the_settings_of_a_model_are_in_its_requests() -> None:
    given = body(temperature=0.5, max_output=9, reasoning_effort="low", body={"top_p": 0.9})
    more = {"temperature": 0.5, "reasoning_effort": "low", "max_completion_tokens": 9, "top_p": 0.9}
    assert given == {**body(), **more}


@pytest.mark.parametrize("name", ["stream_options", "temperature", "top_p", "reasoning_effort"])
def test_a_refused_field_is_left_out(name: str) -> None:
    settings: dict[str, Any] = {"temperature": 1, "reasoning_effort": "low", "body": {"top_p": 0.9}}
    full = body(**settings)
    assert body(refused=name, **settings) == {k: v for k, v in full.items() if k != name}


def test_a_server_that_refuses_the_new_name_of_the_limit_gets_the_old_one() -> None:
    given = body(refused="max_completion_tokens", max_output=9)
    assert (given.get("max_tokens"), "max_completion_tokens" in given) == (9, False)


def test_the_last_step_forbids_calls_or_offers_no_tools() -> None:
    assert body(choice="none")["tool_choice"] == "none"
    assert body(choice="none", refused="tool_choice").keys() == {"messages", "stream_options"}


@pytest.mark.parametrize("given", [{"tools": False}, {"refused": TOOLS}])
def test_a_model_without_tools_sees_earlier_calls_as_text(given: dict[str, Any]) -> None:
    seen = body(ASK, calls("a", text="Let me look."), result("a", "12:00"), **given)
    assert seen["messages"] == [
        ASK,
        {"role": "assistant", "content": "Let me look."},
        {"role": "user", "content": "[echo returned]\n12:00"},
    ]
    assert "tools" not in seen


@pytest.mark.parametrize("given", [{"images": False}, {"refused": IMAGES}])
def test_a_model_without_vision_gets_notes_for_images(given: dict[str, Any]) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:,"}}
    look = {"role": "user", "content": [{"type": "text", "text": "look"}, picture]}
    (seen,) = body(look, **given)["messages"]
    assert seen["content"] == "look\n[an image that you cannot see]"


def test_a_template_of_single_calls_gets_each_call_with_its_result() -> None:
    messages = (ASK, calls("a", "b", text="Both."), result("a"), result("b"), ASK)
    assert body(*messages, refused=SINGLE)["messages"] == [
        ASK,
        calls("a", text="Both."),
        result("a"),
        calls("b", text=""),
        result("b"),
        ASK,
    ]


# Mistral


def test_ids_become_nine_letters_and_digits_in_calls_and_results() -> None:
    messages = [calls("call_abc", "call_def"), result("call_abc"), result("call_def")]
    asked, *answered = body(*messages, tool_call_ids="nine")["messages"]
    found = [one["id"] for one in asked["tool_calls"]]
    assert found == [one["tool_call_id"] for one in answered]
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", one) for one in found)


def test_ids_are_mapped_one_to_one_and_the_same_in_every_request() -> None:
    def ids(count: int) -> list[str]:
        messages = with_short_ids([calls(f"call_{number}") for number in range(count)])
        return [message["tool_calls"][0]["id"] for message in messages]

    assert len(set(ids(2000))) == 2000
    assert ids(100) == ids(2000)[:100]


def test_an_id_that_fits_stays_unless_another_one_has_taken_it() -> None:
    assert with_short_ids([calls("D681PevKs")]) == [calls("D681PevKs")]
    (taken,) = with_short_ids([calls("call_abc")])[0]["tool_calls"]
    twice = with_short_ids([calls("call_abc"), calls(taken["id"])])
    first, second = (message["tool_calls"][0]["id"] for message in twice)
    assert first == taken["id"] != second


@pytest.mark.parametrize("given", [{"answer_after_tool": True}, {"refused": FILLER}])
def test_a_question_after_a_result_gets_an_answer_between(given: dict[str, Any]) -> None:
    messages = [ASK, calls("a"), result("a"), ASK]
    between = {"role": "assistant", "content": NO_ANSWER}
    assert body(*messages, **given)["messages"] == [*messages[:3], between, ASK]


@pytest.mark.parametrize("name", [TOOLS, SINGLE, CALL_IDS, FILLER, IMAGES])
def test_no_change_writes_into_the_request(name: str) -> None:
    messages = (ASK, calls("a", "b"), result("a"), result("b"), ASK)
    before = repr(messages)
    body(*messages, refused=name)
    assert repr(messages) == before
