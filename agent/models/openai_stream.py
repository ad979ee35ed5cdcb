"""Read a streamed chat completion into the parts of an answer.

The SDK needs about 100 microseconds to turn a chunk into an object; this module needs 7 to 19.
Every field of a chunk is optional and of any type, because compatible servers differ in all of
them: what can't be understood is left out, or breaks the answer if the model meant it to be done.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from agent.errors import (
    AnswerBroken,
    AnswerEmpty,
    AnswerFiltered,
    AnswerRefused,
    ModelBusy,
    ModelError,
    OutputUsedUp,
    ReasoningOnly,
)
from agent.model import ModelReply, Piece, ReasoningPiece
from agent.models.calls import CallCollector
from agent.models.chunks import ChunkReader, shown
from agent.models.extras import MESSAGE, Extras
from agent.models.overflow import by_wording
from agent.models.reasoning import InlineReasoning, TextSplitter
from agent.models.waits import named_wait

_REASONING: Final = ("reasoning_content", "reasoning", "reasoning_text")
_FINISHES: Final = (
    ("length", re.compile(r"length|max_\w*tokens|context_window", re.IGNORECASE)),
    (
        "content_filter",
        re.compile(r"filter|safety|sensitive|recitation|prohibited|blocklist|spii", re.IGNORECASE),
    ),
    ("refusal", re.compile(r"refusal", re.IGNORECASE)),
)
_BROKEN: Final = re.compile(
    r"error|abort|malformed|insufficient_system_resource|unexpected_tool_call", re.IGNORECASE
)
_MAX_TOKENS_REPORTED: Final = 2**53


@dataclass(slots=True)
class StreamReader:
    """Collects the parts of one answer.

    model      the model's name in the request
    server     the server's address, without credentials
    reasoning  what is known about reasoning in the model's text
    begun      whether anything has arrived
    """

    model: str
    server: str = ""
    reasoning: InlineReasoning = field(default_factory=InlineReasoning)
    requested: str = field(init=False)
    _chunks: ChunkReader = field(default_factory=ChunkReader, init=False)
    _calls: CallCollector = field(default_factory=CallCollector, init=False)
    _text: TextSplitter = field(init=False)
    _usage: dict[str, int] = field(default_factory=dict, init=False)
    _extra: Extras = field(default_factory=lambda: Extras(MESSAGE), init=False)
    _refusals: list[str] = field(default_factory=list, init=False)
    _finish: str | None = field(default=None, init=False)
    _choice: int | str | None = field(default=None, init=False)
    _streamed: bool = field(default=False, init=False)
    _called: bool = field(default=False, init=False)
    _closed: bool = field(default=False, init=False)
    begun: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.requested = self.model
        self._text = TextSplitter(self.reasoning)

    @property
    def finished(self) -> bool:
        """Return whether the answer is complete, whatever may follow it."""
        return self._chunks.done or self._finish is not None

    @property
    def closed(self) -> bool:
        """Return whether nothing more of the answer can follow."""
        return self._chunks.done or self._closed

    def read(self, part: bytes) -> list[Piece]:
        """Read bytes of the answer, and return its parts from all complete chunks."""
        self.begun = True
        pieces: list[Piece] = []
        for chunk in self._chunks.read(part):
            self._read(chunk, pieces)
        return pieces

    def end(self) -> list[Piece]:
        """Return the parts that the end of the bytes completes."""
        pieces: list[Piece] = []
        for chunk in self._chunks.end():
            self._read(chunk, pieces)
        complete = self.finished and not self._is_cut() and not self._called
        return pieces + self._text.end(complete=complete)

    def _is_cut(self) -> bool:
        finish = self._finish or ""
        return finish in ("length", "content_filter", "refusal") or bool(_BROKEN.search(finish))

    def reply(self) -> ModelReply:
        """Return the complete answer; raises AnswerBroken if it was cut off, or why it is none."""
        text = "".join(self._text.texts)
        try:
            calls, extra = self._calls.calls(), self._extra.whole(join=True)
            orjson.dumps([extra, [call.extra for call in calls]])
        except (TypeError, RecursionError):
            raise AnswerBroken("what stands beside the answer is nested too deeply") from None
        if not self.finished:
            raise AnswerBroken("the stream ended before the answer did")
        if self._finish is not None and _BROKEN.search(self._finish):
            raise AnswerBroken(f"the server ended the answer with {self._finish!r:.200}")
        if self._choice is None:
            raise AnswerBroken("the server sent no choice of an answer")
        if not text.strip() and not calls:
            raise self._no_answer()
        return ModelReply(
            self.model,
            text,
            calls,
            self._usage,
            self._finish,
            extra,
            "".join(self._refusals),
            self.server,
            self.requested,
        )

    def _no_answer(self) -> ModelError:
        refusal = "".join(self._refusals)
        if refusal or self._finish == "refusal":
            return AnswerRefused(refusal or "the model refused without a word")
        if self._finish == "content_filter":
            return AnswerFiltered("a content filter left nothing of the answer")
        if self._finish == "length":
            return OutputUsedUp("the output tokens were used up before there was any text")
        if self._text.thought or self._text.apart:
            return ReasoningOnly(f"the model only reasoned (finish_reason {self._finish})")
        return AnswerEmpty(f"the model said nothing (finish_reason {self._finish})")

    def _read(self, chunk: Mapping[str, Any], pieces: list[Piece]) -> None:
        if chunk.get("error"):
            raise stream_error(chunk["error"])
        if chunk.get("object") == "error":
            raise stream_error(chunk)
        usage, model = chunk.get("usage"), chunk.get("model")
        if isinstance(usage, dict):
            self._usage = read_usage(usage) or self._usage
        if model and isinstance(model, str):
            self.model = model
        choice = self._first(chunk.get("choices"))
        if choice is None:
            return
        finish = choice.get("finish_reason")
        said = choice.get("delta")
        if said:
            self._streamed = True
        elif not self._streamed:
            said = choice.get("message") or choice.get("text")
        if finish and finish != "null":
            self._finish = _finish(finish)
            # Some proxies put a finish_reason into every chunk.
            parts = said.values() if isinstance(said, dict) else [said]
            self._closed = not any(part for part in parts if part != "assistant")
        if isinstance(said, dict):
            self._message(said, pieces)
        elif isinstance(said, str):
            pieces += self._text.feed(said)

    def _first(self, choices: object) -> Mapping[str, Any] | None:
        """Return the chunk's part of the first choice; others are answers nobody asked for."""
        if isinstance(choices, dict):
            one = not choices.keys().isdisjoint({"delta", "message", "text", "finish_reason"})
            choices = [choices] if one else list(choices.values())
        if not isinstance(choices, list):
            if choices:
                raise AnswerBroken(f"the answer's choices are {shown(choices)}")
            return None
        for position, choice in enumerate(choices):
            if isinstance(choice, str):
                choice = {"text": choice}
            if isinstance(choice, dict):
                index = choice.get("index")
                named = index if isinstance(index, (int, str)) else position
                if self._choice is None:
                    self._choice = named
                if self._choice == named:
                    return choice
        return None

    def _message(self, said: Mapping[str, Any], pieces: list[Piece]) -> None:
        self._extra.add(said)
        for name in _REASONING:
            reasoning = said.get(name)
            if reasoning and isinstance(reasoning, str):
                self._reasoning(reasoning, pieces)
                break
        content = said.get("content")
        if isinstance(content, str):
            if content:
                pieces += self._text.feed(content)
        elif content:
            for part in content if isinstance(content, list) else [content]:
                self._part(part, pieces)
        if isinstance(said.get("refusal"), str):
            self._refusals.append(said["refusal"])
        calls = said.get("tool_calls") or said.get("function_call")
        if calls:
            self._called = True
            self._calls.add(calls)

    def _part(self, part: object, pieces: list[Piece]) -> None:
        if isinstance(part, str):
            pieces += self._text.feed(part)
        elif isinstance(part, dict):
            # Mistral's parts of type "thinking" hold parts of text.
            thinking = part.get("thinking")
            for thought in thinking if isinstance(thinking, list) else [{"text": thinking}]:
                if isinstance(thought, dict) and isinstance(thought.get("text"), str):
                    self._reasoning(thought["text"], pieces)
            if isinstance(part.get("refusal"), str):
                self._refusals.append(part["refusal"])
            if isinstance(part.get("text"), str):
                pieces += self._text.feed(part["text"])

    def _reasoning(self, reasoning: str, pieces: list[Piece]) -> None:
        self._text.apart = True
        pieces.append(ReasoningPiece(reasoning))


def stream_error(error: object) -> ModelError:
    """Return the error reported in a stream or body despite status 200."""
    details = error if isinstance(error, Mapping) else {"message": error}
    message = shown(details.get("message") or details)
    metadata = details.get("metadata")
    if isinstance(metadata, Mapping) and isinstance(metadata.get("raw"), str):
        message = f"{message}: {shown(metadata['raw'])}"
    given = [details.get(name) for name in ("code", "status", "type")]
    named = [str(one) for one in given if isinstance(one, (int, str))]
    status = next((int(one) for one in named if re.fullmatch("[45][0-9]{2}", one)), None)
    found = by_wording(status, " ".join(named), message) or AnswerBroken(message)
    if isinstance(found, ModelBusy):
        found.retry_after = named_wait({}, details, message)
    return found


def read_usage(usage: Mapping[str, Any]) -> dict[str, int]:
    """Return the token counts that a provider reported, under OpenAI's names."""
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    found = {
        "prompt_tokens": _count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        "completion_tokens": _count(usage.get("completion_tokens", usage.get("output_tokens"))),
        # DeepSeek reports it beside the others.
        "cached_tokens": _count(usage.get("prompt_cache_hit_tokens") if cached is None else cached),
    }
    return {name: value for name, value in found.items() if value is not None}


def _count(value: object) -> int | None:
    if isinstance(value, str) and re.fullmatch("[0-9]{1,15}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return int(value) if 0 <= value < _MAX_TOKENS_REPORTED else None


def _finish(reason: object) -> str:
    text = reason if isinstance(reason, str) else "stop"
    if _BROKEN.search(text):
        return text
    return next((name for name, pattern in _FINISHES if pattern.search(text)), text)
