"""Reading a stream: what servers differ in, and what is no answer."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from agent.errors import AnswerBroken, ContextOverflow, ModelBusy, ModelError
from agent.model import ModelReply, Piece, ReasoningPiece, TextPiece
from agent.models.openai_stream import StreamReader, read_usage, stream_error


def lines(*chunks: dict[str, Any]) -> list[str]:
    return [f"data: {orjson.dumps(chunk).decode()}" for chunk in chunks]


def delta(finish: str | None = None, **said: Any) -> dict[str, Any]:
    return {"choices": [{"delta": said, "finish_reason": finish}]}


def fragment(**more: Any) -> dict[str, Any]:
    return delta(tool_calls=[more])


def read(reader: StreamReader, *given: str) -> list[Piece]:
    return [piece for line in given for piece in reader.read(f"{line}\n".encode())]


def whole(*given: str) -> ModelReply:
    """Return the reply to a stream of these lines."""
    reader = StreamReader("model")
    read(reader, *given)
    list(reader.end())
    return reader.reply()


def test_the_deltas_of_a_stream_are_its_pieces_and_together_its_reply() -> None:
    reader = StreamReader("model")
    said = lines(delta(role="assistant", content=""), delta(content="Hal"), delta(content="lo"))
    assert read(reader, *said, *lines(delta("stop"))) == [TextPiece("Hal"), TextPiece("lo")]
    assert (reader.reply().text, reader.reply().finish_reason) == ("Hallo", "stop")


def test_comments_blank_lines_and_other_fields_say_nothing() -> None:
    reader = StreamReader("model")
    assert read(reader, ": OPENROUTER PROCESSING", "", "event: ping", "id: 7", "data:") == []


def test_the_blank_after_data_is_optional() -> None:
    reader = StreamReader("model")
    (line,) = lines(delta(content="hi"))
    assert read(reader, line.replace("data: ", "data:")) == [TextPiece("hi")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_kept_apart_from_the_answer(name: str) -> None:
    reader = StreamReader("model")
    thought = lines(delta(**{name: "hm"}), delta("stop", content="yes"))
    assert read(reader, *thought) == [ReasoningPiece("hm"), TextPiece("yes")]
    assert reader.reply().text == "yes"


@pytest.mark.parametrize(
    "chunk",
    [{}, {"choices": None}, {"choices": [{}]}, {"choices": [{"delta": None}]}, {"usage": None}],
    ids=str,
)
def test_every_field_of_a_chunk_may_be_absent(chunk: dict[str, Any]) -> None:
    reader = StreamReader("model")
    assert read(reader, *lines(chunk, delta("stop", content="hi"))) == [TextPiece("hi")]
    assert reader.reply().model == "model"


def test_the_fragments_of_parallel_calls_are_put_together_by_their_index() -> None:
    reader = StreamReader("model")
    first = fragment(index=0, id="a", function={"name": "one", "arguments": ""})
    second = fragment(index=1, id="b", function={"name": "two", "arguments": '{"x"'})
    rest = fragment(index=0, function={"arguments": '{"y":2}'})
    read(reader, *lines(first, second, rest, fragment(index=1, function={"arguments": ":1}"})))
    read(reader, "data: [DONE]")
    calls = [(call.id, call.name, call.arguments) for call in reader.reply().calls]
    assert calls == [("a", "one", '{"y":2}'), ("b", "two", '{"x":1}')]


def test_calls_without_an_index_or_an_id_are_calls_of_their_own() -> None:
    reader = StreamReader("model")
    whole = [{"function": {"name": name, "arguments": None}} for name in ("one", "two")]
    read(reader, *lines(delta("tool_calls", tool_calls=whole)))
    one, two = reader.reply().calls
    assert (one.name, one.arguments, two.name) == ("one", "{}", "two")
    assert one.id.startswith("call_")
    assert one.id != two.id


def test_a_call_without_a_name_is_no_call() -> None:
    reader = StreamReader("model")
    read(reader, *lines(fragment(index=0, id="a"), delta("stop", content="hi")))
    assert reader.reply().calls == ()


def test_the_usage_and_the_server_s_name_of_the_model_are_reported() -> None:
    reader = StreamReader("model")
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}
    read(reader, *lines({"model": "model-0613"}, delta("stop", content="hi"), {"usage": usage}))
    assert reader.reply().model == "model-0613"
    assert reader.reply().usage == {"prompt_tokens": 9, "completion_tokens": 2}


def test_token_counts_that_were_not_reported_are_absent() -> None:
    assert read_usage({}) == {}
    assert read_usage({"prompt_tokens": None, "prompt_tokens_details": None}) == {}
    assert read_usage({"prompt_tokens_details": {"cached_tokens": 0}}) == {"cached_tokens": 0}


def test_done_without_a_finish_reason_ends_an_answer() -> None:
    reader = StreamReader("model")
    read(reader, *lines(delta(content="hi")), "data: [DONE]")
    assert reader.reply().text == "hi"


@pytest.mark.parametrize(
    "given",
    [[], lines(delta(content="half")), ["data: [DONE]"], lines(delta("stop", content=" \n"))],
    ids=["nothing", "cut", "only done", "blank"],
)
def test_a_stream_that_was_cut_or_says_nothing_is_no_answer(given: list[str]) -> None:
    reader = StreamReader("model")
    read(reader, *given)
    with pytest.raises(AnswerBroken):
        reader.reply()


@pytest.mark.parametrize("line", ["data: {broken\n", "data: [1]", 'data: "text"'])
def test_a_line_that_is_no_chunk_breaks_the_answer(line: str) -> None:
    with pytest.raises(AnswerBroken):
        read(StreamReader("model"), line)


@pytest.mark.parametrize("error", [{"message": "out of order", "code": 502}, "out of order"])
def test_an_error_inside_a_stream_breaks_the_answer(error: object) -> None:
    with pytest.raises(AnswerBroken, match="out of order"):
        read(StreamReader("model"), *lines({"error": error}))


def test_an_overflow_inside_a_stream_is_an_overflow() -> None:
    assert isinstance(stream_error({"code": "context_length_exceeded"}), ContextOverflow)
    assert isinstance(stream_error("the prompt is too long"), ContextOverflow)


@pytest.mark.parametrize("code", [429, "429", "rate_limit_exceeded"])
def test_a_rate_limit_inside_a_stream_is_never_an_overflow(code: object) -> None:
    error = stream_error({"code": code, "message": "token limit per minute reached"})
    assert type(error) is ModelBusy


@pytest.mark.parametrize("fields", [{"status": 429}, {"type": "rate_limit_error"}])
def test_a_rate_limit_is_known_by_its_status_and_type_too(fields: dict[str, object]) -> None:
    error = stream_error({**fields, "code": None, "message": "the token limit is reached"})
    assert isinstance(error, ModelBusy)


def test_a_broken_answer_is_an_error_of_the_model() -> None:
    assert isinstance(stream_error(None), ModelError)
