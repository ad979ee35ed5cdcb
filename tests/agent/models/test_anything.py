"""Whatever JSON or bytes come, a reader answers or raises an error of the model."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import AnswerBroken, ModelError
from agent.model import ModelReply, Piece, ResetPiece, TextPiece
from agent.models.openai_stream import StreamReader
from tests.kit.examples import examples

WORDS = "choices delta message content tool_calls function name arguments id index type text"
MORE = "thinking usage prompt_tokens error code model finish_reason reasoning_details refusal"
NAMES = st.sampled_from([*WORDS.split(), *MORE.split(), "extra_content", "x"])
SAID = st.sampled_from(["<think>", "</think>", "[THINK]", "`", "stop", "length", "{}", "\ud83d"])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | SAID
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=5)
CHOICES = st.fixed_dictionaries(
    {}, optional={"index": VALUES, "delta": OBJECTS, "message": OBJECTS, "finish_reason": VALUES}
)
CHUNKS = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(CHOICES | VALUES, max_size=3) | VALUES,
        "usage": VALUES,
        "error": VALUES,
        "model": VALUES,
    },
)


def read(data: bytes, size: int) -> tuple[list[Piece], ModelReply | None]:
    reader, pieces = StreamReader("model"), []
    try:
        for start in range(0, len(data), size):
            pieces += reader.read(data[start : start + size])
        pieces += reader.end()
        return pieces, reader.reply()
    except ModelError:
        return pieces, None


def shown(pieces: list[Piece]) -> str:
    """Return what a person sees in the end."""
    text = ""
    for piece in pieces:
        if isinstance(piece, TextPiece):
            text += piece.delta
        elif isinstance(piece, ResetPiece):
            text = ""
    return text


@examples(150)
@given(st.lists(CHUNKS, max_size=4), st.booleans(), st.integers(1, 40))
def test_any_chunks_are_an_answer_or_an_error_of_the_model(
    chunks: list[dict[str, Any]], whole: bool, size: int
) -> None:
    events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    data = json.dumps(chunks) if whole else f"{events}data: [DONE]\n\n"
    pieces, reply = read(data.encode(), size)
    if reply is not None:
        assert shown(pieces) == reply.text
        assert len({call.id for call in reply.calls}) == len(reply.calls)
        assert all(call.name and isinstance(call.arguments, str) for call in reply.calls)
        orjson.dumps([reply.text, dict(reply.extra), dict(reply.usage)])


@examples(150)
@given(
    st.lists(
        st.binary(max_size=30)
        | st.sampled_from([b"data: ", b"\r", b"\n", b"{", b"}", b"[", b"error: ", b"\xef\xbb\xbf"])
    )
)
def test_any_bytes_are_an_answer_or_an_error_of_the_model(parts: list[bytes]) -> None:
    read(b"".join(parts), 7)


DEEP = [
    '{"error":%s}',
    '{"error":{"message":NaN,"code":%s}}',
    '{"choices":%s}',
    '{"choices":[{"index":%s,"delta":{"content":"a"}}]}',
    '{"choices":[{"delta":{"content":%s}}]}',
    '{"choices":[{"delta":{"content":"a","x":%s}}]}',
    '{"choices":[{"delta":{"tool_calls":%s}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"a","arguments":%s}}]}}]}',
    '{"choices":[{"delta":{"tool_calls":[{"x":%s,"function":{"name":"a"}}]}}]}',
    '{"usage":%s}',
    "%s",
]


@pytest.mark.parametrize("depth", [260, 900, 1010, 5000])
@pytest.mark.parametrize("chunk", DEEP)
def test_deep_nesting_is_no_error_of_our_own(chunk: str, depth: int) -> None:
    for nested in ('{"a":' * depth + "1" + "}" * depth, "[" * depth + "]" * depth):
        event = f"data: {chunk % nested}\n\n"
        _, reply = read((event * 2 + "data: [DONE]\n\n").encode(), 4096)
        if reply is not None:
            orjson.dumps(dict(reply.extra))


def test_arguments_that_can_t_be_written_down_break_the_answer() -> None:
    reader = StreamReader("model")
    nested = "[" * 300 + "]" * 300
    call = '{"choices":[{"delta":{"tool_calls":[{"function":{"name":"a","arguments":%s}}]}}]}'
    with pytest.raises(AnswerBroken, match="nested"):
        reader.read(f"data: {call % nested}\n\n".encode())
