"""Build the body of a request from the model's settings and from what its server refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Final

from agent.image_parts import without_images
from agent.model import Message, ModelRequest
from agent.model_settings import ModelSettings
from agent.models.strict import NO_ANSWER, alternate, fold_system, one_call_each
from tape.context import merge_neighbours

TOOLS: Final = "tools"
IMAGES: Final = "images"
SYSTEM: Final = "a system message"
SINGLE: Final = "several calls in one message"
ROLES: Final = "roles that do not alternate"
CALL_IDS: Final = "call ids other than nine letters and digits"
FILLER: Final = "a question right after a tool's result"
ESSENTIAL: Final = frozenset({"model", "messages", "stream", TOOLS})
"""Fields without which there is no request, or which are left out by rules of their own."""

ID_LENGTH: Final = 9
_ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def refused_in(settings: ModelSettings) -> frozenset[str]:
    """Return what a model's settings say that its server refuses."""
    refused = {
        TOOLS: not settings.tools,
        IMAGES: not settings.images,
        "stream_options": not settings.stream_options,
        ROLES: settings.strict_roles,
        CALL_IDS: settings.tool_call_ids == "nine",
        FILLER: settings.answer_after_tool,
    }
    return frozenset(name for name, is_refused in refused.items() if is_refused)


def build_body(
    request: ModelRequest, settings: ModelSettings, refused: frozenset[str]
) -> dict[str, Any]:
    """Return a request's body (without model and stream), and leave out what the server refuses."""
    messages = request.messages
    for name, change in CHANGES.items():
        if name in refused:
            messages = change(messages)
    body: dict[str, Any] = {"messages": messages, "stream_options": {"include_usage": True}}
    # A server that takes no tool_choice could not be kept from calling.
    forbidden = request.tool_choice == "none" and "tool_choice" in refused
    if request.tools and TOOLS not in refused and not forbidden:
        body["tools"] = request.tools
        if request.tool_choice:
            body["tool_choice"] = request.tool_choice
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.reasoning_effort:
        body["reasoning_effort"] = settings.reasoning_effort
    if settings.max_output:
        old = "max_completion_tokens" in refused
        body["max_tokens" if old else "max_completion_tokens"] = settings.max_output
    body |= {**settings.body, **request.options}
    return {name: value for name, value in body.items() if name not in refused - ESSENTIAL}


def without_calls(messages: Sequence[Message]) -> list[Message]:
    """Replace earlier calls and their results with plain text, for a model without tools."""
    names: dict[str, str] = {}
    plain: list[dict[str, Any]] = []
    for message in messages:
        for call in message.get("tool_calls") or ():
            names[call["id"]] = call["function"]["name"]
        if message.get("tool_calls"):
            if message.get("content"):
                plain.append({"role": "assistant", "content": message["content"]})
        elif message["role"] == "tool":
            name = names.get(message["tool_call_id"], "a tool")
            plain.append({"role": "user", "content": f"[{name} returned]\n{message['content']}"})
        else:
            plain.append(dict(message))
    return [*merge_neighbours(plain)]


def with_short_ids(messages: Sequence[Message]) -> list[Message]:
    """Map the ids of calls to nine letters and digits; an id that fits stays as it is."""
    short: dict[str, str] = {}
    mapped: list[Message] = []
    for message in messages:
        if calls := message.get("tool_calls"):
            renamed = [{**call, "id": _short(call["id"], short)} for call in calls]
            message = {**message, "tool_calls": renamed}
        elif message["role"] == "tool":
            message = {**message, "tool_call_id": _short(message["tool_call_id"], short)}
        mapped.append(message)
    return mapped


def _short(call_id: str, short: dict[str, str]) -> str:
    if call_id not in short:
        fits = len(call_id) == ID_LENGTH and call_id.isascii() and call_id.isalnum()
        found, salt, taken = call_id if fits else "", 0, set(short.values())
        while not found or found in taken:
            number = int.from_bytes(sha256(f"{salt}:{call_id}".encode()).digest())
            digits = (number // len(_ALPHABET) ** place for place in range(ID_LENGTH))
            found = "".join(_ALPHABET[digit % len(_ALPHABET)] for digit in digits)
            salt += 1
        short[call_id] = found
    return short[call_id]


def with_filler(messages: Sequence[Message]) -> list[Message]:
    """Put a short answer between a tool's result and a person's message."""
    filled: list[Message] = []
    for message in messages:
        if message["role"] == "user" and filled and filled[-1]["role"] == "tool":
            filled.append({"role": "assistant", "content": NO_ANSWER})
        filled.append(message)
    return filled


CHANGES: Final[Mapping[str, Callable[[Sequence[Message]], list[Message]]]] = MappingProxyType(
    {
        TOOLS: without_calls,
        SYSTEM: fold_system,
        SINGLE: one_call_each,
        ROLES: alternate,
        CALL_IDS: with_short_ids,
        FILLER: with_filler,
        IMAGES: without_images,
    }
)
"""What a server refuses in messages, in the order of the changes, each with its change."""
