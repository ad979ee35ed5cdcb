"""What the fake chat completions server can be told to answer, and its JSON on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]

# The API's own rule of thumb, which a test can work out by hand.
_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Usage:
    """Count the tokens of one exchange; `cached_tokens` is the part of the prompt found cached."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0

    def as_json(self) -> JsonObject:
        """Return the API's `usage` object."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
        }


@dataclass(frozen=True, slots=True)
class Request:
    """Hold one parsed request.

    Header names are lower-case. `body` is empty when the bytes were not a JSON object.
    `body_bytes` is the body's length, `received_at` is in seconds of `time.monotonic`.
    """

    body: JsonObject
    headers: Mapping[str, str]
    path: str
    body_bytes: int
    received_at: float
    method: str = "POST"

    @property
    def streamed(self) -> bool:
        """Return whether the client asked for a stream."""
        return bool(self.body.get("stream"))

    @property
    def last_user_text(self) -> str:
        """Return the text of the last user message, its text parts joined; "" if there is none."""
        for message in reversed(self.body.get("messages", [])):
            if message["role"] == "user":
                return _text_of(message["content"])
        return ""


@dataclass(frozen=True, slots=True)
class Refused:
    """Hold a request the server refused by its own rules, and how."""

    request: Request
    status: int
    code: str | int | None
    message: str


@dataclass(frozen=True, slots=True)
class Text:
    """Answer with text, one delta per piece, reasoning first.

    `delay` is the pause between two deltas in seconds, which `sleep` waits. `gate` is awaited
    after the first piece of text; a request without `stream` awaits it before the whole answer.
    `comments` puts an SSE comment before every event.
    """

    pieces: tuple[str, ...]
    usage: Usage | None = None
    delay: float = 0.0
    gate: asyncio.Event | None = None
    finish_reason: str = "stop"
    reasoning: tuple[str, ...] = ()
    comments: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Call:
    """Name one function call; `arguments` is JSON text, sent as it is, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """Answer with function calls after optional text.

    The arguments travel in deltas of `fragment` characters, parallel calls taking turns.
    `delay`, `gate`, `comments` and `sleep` are those of `Text`; with no text the gate is awaited
    after the first delta.
    """

    calls: tuple[Call, ...]
    pieces: tuple[str, ...] = ()
    fragment: int = 8
    usage: Usage | None = None
    delay: float = 0.0
    gate: asyncio.Event | None = None
    finish_reason: str = "tool_calls"
    reasoning: tuple[str, ...] = ()
    comments: bool = False
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Failure:
    """Answer with an HTTP error and the API's error body; the code is an int on some servers."""

    status: int
    message: str
    code: str | int | None = None
    type: str = "invalid_request_error"
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Return the API's error body."""
        return error_body(self.message, self.type, self.param, self.code)


@dataclass(frozen=True, slots=True)
class RateLimited:
    """Answer 429 with `Retry-After` in seconds; None leaves the header out."""

    retry_after: float | None = None
    message: str = "Rate limit reached for requests."

    def as_failure(self) -> Failure:
        """Return the same answer spelled out."""
        after = self.retry_after
        headers = {} if after is None else {"retry-after": f"{after:g}"}
        return Failure(429, self.message, "rate_limit_exceeded", "requests", headers=headers)


@dataclass(frozen=True, slots=True)
class CutStream:
    """Stream the pieces, begin one more chunk, and abort the connection in the middle of it."""

    pieces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmptyStream:
    """Answer 200 with an event stream that has no event, or only `[DONE]`."""

    done: bool = False


@dataclass(frozen=True, slots=True)
class StreamError:
    """Stream the pieces, then an error event, and end without `[DONE]`."""

    pieces: tuple[str, ...] = ()
    message: str = "The server had an error while processing your request."
    code: str | int | None = "server_error"
    type: str = "server_error"

    def as_json(self) -> JsonObject:
        """Return the error event's data."""
        return error_body(self.message, self.type, None, self.code)


@dataclass(frozen=True, slots=True)
class Hang:
    """Accept the request and never answer, until the client leaves or the server is closed."""


Spoken: TypeAlias = Text | ToolCalls
Reply: TypeAlias = Spoken | Failure | RateLimited | CutStream | EmptyStream | StreamError | Hang


@dataclass(frozen=True, slots=True)
class Envelope:
    """Wrap deltas and messages of one answer as the API does; `created` is in Unix seconds."""

    id: str
    created: int
    model: str
    include_usage: bool = False

    def chunk(self, delta: JsonObject, finish_reason: str | None = None) -> JsonObject:
        """Return one `chat.completion.chunk` of the single choice."""
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        return self._chunk([choice], None)

    def usage_chunk(self, usage: Usage) -> JsonObject:
        """Return the last chunk, which has no choice and all of the usage."""
        return self._chunk([], usage)

    def whole(self, reply: Spoken, usage: Usage) -> JsonObject:
        """Return the `chat.completion` object of an answer that is not streamed."""
        choice = {
            "index": 0,
            "message": _message(reply),
            "logprobs": None,
            "finish_reason": reply.finish_reason,
        }
        head = self._head("chat.completion")
        return head | {"choices": [choice], "usage": usage.as_json()}

    def _chunk(self, choices: list[JsonObject], usage: Usage | None) -> JsonObject:
        chunk = self._head("chat.completion.chunk") | {"choices": choices}
        if self.include_usage:
            # Every chunk but the last has the key with a null when the client asks for usage.
            chunk["usage"] = usage and usage.as_json()
        return chunk

    def _head(self, kind: str) -> JsonObject:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


def error_body(message: str, kind: str, param: str | None, code: str | int | None) -> JsonObject:
    """Return `{"error": {...}}` with the API's four keys."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def context_length_exceeded(with_code: bool = True) -> Failure:
    """Return the 400 of a prompt that is too long.

    With the code it is OpenAI's; without, it has llama.cpp's wording and type. (Today's
    llama.cpp and vLLM put the status there, as an int: `dataclasses.replace(it, code=400)`.)
    """
    if with_code:
        message = (
            "This model's maximum context length is 8192 tokens. However, your messages "
            "resulted in 9001 tokens. Please reduce the length of the messages."
        )
        return Failure(400, message, "context_length_exceeded", param="messages")
    message = "the request exceeds the available context size, try increasing it"
    return Failure(400, message, type="exceed_context_size_error")


def echo(request: Request, pieces: int = 4, delay: float = 0.0) -> Text:
    """Answer `You said: <last user text>` in at most `pieces` pieces, `delay` seconds apart."""
    text = f"You said: {request.last_user_text}"
    return Text(tuple(_slices(text, -(-len(text) // max(pieces, 1)))), delay=delay)


def usage_of(reply: Spoken, request: Request) -> Usage:
    """Return the scripted usage, or one estimated from the lengths of body and answer."""
    if reply.usage is not None:
        return reply.usage
    written = sum(map(len, reply.reasoning + reply.pieces))
    if isinstance(reply, ToolCalls):
        written += sum(len(call.name) + len(call.arguments) for call in reply.calls)
    prompt_tokens = request.body_bytes // _CHARACTERS_PER_TOKEN
    return Usage(prompt_tokens, -(-written // _CHARACTERS_PER_TOKEN))


def opening(reply: Spoken | CutStream | StreamError) -> JsonObject:
    """Return the first delta, which gives the role and no text."""
    calls_only = isinstance(reply, ToolCalls) and not reply.pieces
    return {"role": "assistant", "content": None if calls_only else ""}


def deltas(reply: Spoken | CutStream | StreamError) -> list[JsonObject]:
    """Return the deltas after the opening one, in the order they are sent."""
    found: list[JsonObject] = []
    if isinstance(reply, Text | ToolCalls):
        found += [{"reasoning_content": piece} for piece in reply.reasoning]
    found += [{"content": piece} for piece in reply.pieces]
    if isinstance(reply, ToolCalls):
        found += _call_deltas(reply)
    return found


def _call_deltas(reply: ToolCalls) -> list[JsonObject]:
    """Return the fragments of all calls, the calls taking turns as parallel calls may."""
    parts = [_fragments(index, call, reply.fragment) for index, call in enumerate(reply.calls)]
    turns = zip_longest(*parts)
    return [{"tool_calls": [part]} for turn in turns for part in turn if part is not None]


def _fragments(index: int, call: Call, size: int) -> list[JsonObject]:
    """Return one call's parts; only the first names it, and has no arguments yet."""
    named = _whole_call(call) | {"function": {"name": call.name, "arguments": ""}}
    parts = _slices(call.arguments, size)
    return [
        {"index": index} | named,
        *({"index": index, "function": {"arguments": part}} for part in parts),
    ]


def _message(reply: Spoken) -> JsonObject:
    text = "".join(reply.pieces)
    message: JsonObject = {"role": "assistant", "content": text or None, "refusal": None}
    if reply.reasoning:
        message["reasoning_content"] = "".join(reply.reasoning)
    if isinstance(reply, ToolCalls):
        message["tool_calls"] = [_whole_call(call) for call in reply.calls]
    return message


def _whole_call(call: Call) -> JsonObject:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _slices(text: str, size: int) -> Iterable[str]:
    step = max(size, 1)
    return (text[start : start + step] for start in range(0, len(text), step))


def _text_of(content: str | list[JsonObject]) -> str:
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content if part.get("type") == "text")
