"""What servers that people run have done to the agent, found in a review; each with its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.errors import ContextOverflow, ModelDown, ModelError, RequestRejected
from agent.model import Message, ModelReply, ModelRequest, Piece, TextPiece
from agent.model_settings import ModelSettings
from agent.models.learned import Learned, is_lasting, suspect
from agent.models.openai import OpenAIModel
from agent.models.openai_stream import StreamReader
from agent.models.reasoning import InlineReasoning
from agent.models.request_body import IMAGES
from agent.settings import AgentSettings
from agent.toolbox import to_wire
from tests.fakes.played_http import Answer, events, played_http, refusal

HELLO = ModelRequest([{"role": "user", "content": "hello"}], [{"type": "function"}])
SAYS = '{"choices":[{"index":0,"delta":{"content":"Hi."},"finish_reason":"stop"}]}'
UPSTREAM = (
    '{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\\"error\\":'
    '{\\"message\\":\\"This model\'s maximum context length is 8192 tokens.\\"}}"}}}'
)
PICTURE: list[Message] = [
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}
]


async def ask(
    *answers: Answer, learned: Learned | None = None, **given: Any
) -> list[dict[str, Any]]:
    """Ask once, and return the bodies of the requests; raises ModelError."""
    async with played_http(*answers) as server:
        settings = ModelSettings.model_validate({"base_url": server.base_url, **given})
        model = OpenAIModel("m", settings, learned)
        try:
            async for _piece in model.stream(HELLO):
                pass
        finally:
            await model.aclose()
        return [json.loads(body) for body in server.bodies]


@pytest.mark.parametrize(
    "answer", [refusal(UPSTREAM), events(UPSTREAM)], ids=["a status", "in a stream"]
)
async def test_openrouter_s_quote_of_the_provider_is_read(answer: Answer) -> None:
    with pytest.raises(ContextOverflow):
        await ask(answer)


async def test_a_word_in_a_sentence_drops_no_field_of_the_operator() -> None:
    body = {"provider": {"data_collection": "deny"}}
    said = '{"error":{"message":"No endpoints found that support tool use. To learn more about'
    learned = Learned()
    bodies = await ask(
        refusal(f'{said} provider routing, visit the site."}}}}', 404),
        events(SAYS),
        learned=learned,
        body=body,
    )
    assert [sent["provider"] for sent in bodies] == [body["provider"]] * 2
    assert ["tools" in sent for sent in bodies] == [True, False]
    assert [lesson.what for lesson in learned.lessons()] == ["tools"]


@pytest.mark.parametrize(
    "said",
    [
        "error parsing tool call: raw='{\"a\": unknown', err=unexpected end of JSON input",
        "Failed to parse tool call arguments as JSON: unexpected end of input",
    ],
)
def test_a_slip_of_the_model_is_no_refusal_of_tools(said: str) -> None:
    body = {"messages": HELLO.messages, "tools": HELLO.tools}
    assert suspect(body, ModelDown(said), ()) == ""


@pytest.mark.parametrize(
    "said",
    [
        "You uploaded an unsupported image. Please make sure it has one of the formats: ['png'].",
        "Could not process image",
        "Unable to process input image",
    ],
)
def test_one_odd_picture_blinds_the_model_for_this_request_only(said: str) -> None:
    error = RequestRejected(said)
    assert suspect({"messages": PICTURE}, error, ()) == IMAGES
    assert not is_lasting(IMAGES, error)


def test_a_busy_server_keeps_the_picture() -> None:
    assert suspect({"messages": PICTURE}, ModelDown("the server is overloaded"), ()) == ""


def test_arguments_that_are_no_json_go_back_as_json() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "echo", "arguments": '{"te'}}
    (sent,) = to_wire([{"role": "assistant", "content": "", "tool_calls": [call]}])
    assert json.loads(sent["tool_calls"][0]["function"]["arguments"]) == {"unreadable": '{"te'}
    assert call["function"] == {"name": "echo", "arguments": '{"te'}


def test_a_finish_reason_in_every_chunk_closes_nothing_before_the_last() -> None:
    reader = StreamReader("m")
    reader.read(f"data: {SAYS}\n\n".encode())
    assert (reader.finished, reader.closed) == (True, False)
    reader.read(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    assert reader.closed


def test_a_finish_reason_called_null_is_none() -> None:
    reader = StreamReader("m")
    reader.read(f"data: {SAYS.replace('stop', 'null')}\n\n".encode())
    assert not reader.finished


def test_an_end_by_another_name_gives_held_back_text_free() -> None:
    reader = StreamReader("m", reasoning=InlineReasoning("open"))
    pieces: list[Piece] = [
        *reader.read(f"data: {SAYS.replace('stop', 'eos_token')}\n\n".encode()),
        *reader.end(),
    ]
    assert pieces[-1] == TextPiece("Hi.")
    assert isinstance(reader.reply(), ModelReply)


def test_a_call_whose_last_fragment_repeats_its_id_and_name_is_one_call() -> None:
    fragment = '{"index":0,"id":"c1","function":{"name":"echo","arguments":%s}}'
    chunk = '{"choices":[{"index":0,"delta":{"tool_calls":[%s]},"finish_reason":%s}]}'
    reader = StreamReader("m")
    for arguments, finish in (('"{}"', "null"), ('""', '"tool_calls"')):
        reader.read(f"data: {chunk % (fragment % arguments, finish)}\n\n".encode())
    assert [call.id for call in reader.reply().calls] == ["c1"]


async def test_a_secret_header_that_the_server_repeats_is_masked() -> None:
    with pytest.raises(ModelError) as refused:
        await ask(
            refusal('{"error":{"message":"no s3cret-header"}}'), headers={"x": "s3cret-header"}
        )
    assert "s3cret" not in str(refused.value)


def test_a_section_s_headers_stay_with_its_server() -> None:
    section = {"base_url": "https://one.example/v1", "headers": {"api-key": "s3cret"}}
    sections = {"m": ModelSettings.model_validate(section)}
    agent = AgentSettings.model_validate({"model": "m", "base_url": "http://127.0.0.1:1/v1"})
    assert not agent.model_settings("m", sections).headers
