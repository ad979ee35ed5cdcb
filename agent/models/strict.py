"""Rearrange messages for servers whose chat template is strict about the order of roles.

The templates of Llama 3, Mistral, Gemma and Qwen refuse a conversation that does not begin with a
user message, in which user and assistant do not alternate, or in which one message has several
tool calls. The result has the same texts in the same order, and depends on the messages only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from agent.model import Message

OPENING: Final = "(The conversation so far:)"
"""The user message that begins a conversation whose first message is by the assistant."""

NO_ANSWER: Final = "(No answer.)"
"""The assistant message between a tool's result and a user message."""


def alternate(messages: Sequence[Message]) -> list[Message]:
    """Return messages that begin with a user message and alternate between user and assistant.

    A system message at the beginning stays; a later one becomes a user message.
    """
    kept = 1 if messages and messages[0].get("role") == "system" else 0
    arranged: list[Message] = []
    for message in one_call_each(_as_user(messages[kept:])):
        _add(arranged, message)
    return [*messages[:kept], *arranged]


def one_call_each(messages: Sequence[Message]) -> list[Message]:
    """Give each call of a step its own message, followed by its result."""
    split: list[Message] = []
    later: list[Message] = []  # the step's further calls, whose results come next
    for message in messages:
        if message.get("role") != "tool":
            later = []
        calls: Sequence[Message] = message.get("tool_calls") or ()
        if len(calls) > 1:
            later = [{"role": "assistant", "content": "", "tool_calls": [call]} for call in calls]
            split.append({**message, "tool_calls": [calls[0]]})
            del later[0]
            continue
        split.append(message)
        if message.get("role") == "tool" and later:
            split.append(later.pop(0))
    return split


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """Put the system message into the first user message, for templates without that role."""
    if not messages or messages[0].get("role") != "system":
        return list(messages)
    system, *rest = messages
    if rest and rest[0].get("role") == "user":
        return [_joined({**system, "role": "user"}, rest[0]), *rest[1:]]
    return [{**system, "role": "user"}, *rest]


def _as_user(messages: Sequence[Message]) -> list[Message]:
    return [
        {**message, "role": "user"} if message.get("role") == "system" else message
        for message in messages
    ]


def _add(arranged: list[Message], message: Message) -> None:
    last = arranged[-1] if arranged else {"role": ""}
    role = message.get("role")
    if role == "tool":
        arranged.append(message)
    elif role == last["role"] and not last.get("tool_calls"):
        arranged[-1] = _joined(last, message)
    else:
        if role == "assistant" and not arranged:
            arranged.append({"role": "user", "content": OPENING})
        if role == "user" and last["role"] == "tool":
            arranged.append({"role": "assistant", "content": NO_ANSWER})
        arranged.append(message)


def _joined(first: Message, second: Message) -> Message:
    """Join two messages of one role; the second may have tool calls."""
    return {**first, **second, "content": _content(first.get("content"), second.get("content"))}


def _content(first: Any, second: Any) -> Any:
    if not first or not second:
        return first or second or ""
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_parts(first), *_parts(second)]


def _parts(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
