"""The answers of model servers, as the bytes that they send."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import orjson

Json: TypeAlias = dict[str, Any]

EVENTS = "content-type: text/event-stream"
JSON = "content-type: application/json"
HTML = "content-type: text/html; charset=utf-8"
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP answer.

    pieces  the body; each piece leaves the server before the next
    ending  `whole`, `cut` (the connection breaks after the pieces) or `hang` (nothing more comes)
    """

    pieces: tuple[bytes, ...] = ()
    status: int = 200
    headers: tuple[str, ...] = (EVENTS,)
    ending: Literal["whole", "cut", "hang"] = "whole"

    def but(self, **changes: Any) -> Answer:
        """Return the answer with other fields."""
        return replace(self, **changes)


Demand: TypeAlias = Callable[[Json], Answer | None]
"""A rule of a server: returns its refusal of a request, or None."""


def event(data: Json | bytes) -> bytes:
    """Return an event of a stream."""
    return b"data: %b\n\n" % (data if isinstance(data, bytes) else orjson.dumps(data))


def chunk(delta: Json, finish: str | None = None, **more: Any) -> Json:
    """Return a chunk as OpenAI's reference shows it."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {
        "id": "chatcmpl-123",
        "object": "chat.completion.chunk",
        "created": 1694268190,
        "model": "model",
        "choices": [choice],
        **more,
    }


def stream(*events: Json | bytes, done: bool = True) -> Answer:
    """Return a stream of events."""
    return Answer((*map(event, events), *([DONE] if done else [])))


def say(*texts: str, finish: str | None = "stop") -> Answer:
    """Return a streamed answer."""
    opening = chunk({"role": "assistant", "content": ""})
    return stream(opening, *(chunk({"content": text}) for text in texts), chunk({}, finish))


def call(
    name: str = "tape_info", arguments: Any = "{}", call_id: str = "call_abc", **more: Any
) -> Json:
    """Return a tool call."""
    function = {"name": name, "arguments": arguments}
    return {"id": call_id, "type": "function", "function": function, **more}


def calling(*calls: Json, text: str = "", finish: str = "tool_calls", **more: Any) -> Answer:
    """Return a streamed step that calls tools; `more` stands beside the calls."""
    numbered = [{"index": number, **one} for number, one in enumerate(calls or (call(),))]
    opening = chunk({"role": "assistant", "content": text or None, **more})
    return stream(opening, chunk({"tool_calls": numbered}), chunk({}, finish))


def whole(message: Json, finish: str | None = "stop", **more: Any) -> Answer:
    """Return a completion in one piece of JSON."""
    choice = {
        "index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish,
    }  # fmt: skip
    body = {"id": "chatcmpl-123", "object": "chat.completion", "choices": [choice], **more}
    return Answer((orjson.dumps(body),), headers=(JSON,))


def refuse(status: int, body: Any, *headers: str) -> Answer:
    """Return an error: JSON, or a page of HTML."""
    if isinstance(body, str):
        return Answer((body.encode(),), status, (HTML, *headers))
    return Answer((orjson.dumps(body),), status, (JSON, *headers))


def error(status: int, message: str, *headers: str, **more: Any) -> Answer:
    """Return an error as OpenAI sends it."""
    fields = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return refuse(status, {"error": fields | more}, *headers)


def by_the_byte(answer: Answer, size: int = 1) -> Answer:
    """Return an answer that comes in pieces of one size, wherever they end."""
    body = b"".join(answer.pieces)
    return answer.but(pieces=tuple(body[at : at + size] for at in range(0, len(body), size)))


def zipped(answer: Answer) -> Answer:
    """Return an answer that is compressed."""
    body = gzip.compress(b"".join(answer.pieces), mtime=0)
    return answer.but(pieces=(body,), headers=(*answer.headers, "content-encoding: gzip"))
