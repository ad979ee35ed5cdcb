"""What a provider puts beside a message or a tool call, and demands back in later requests.

A thought signature or a piece of reasoning is kept verbatim in `meta.wire` of the entry that it
came with:

    server, model  who sent it
    text           whether the step's text, an entry of its own, belongs to the same message
    message        fields beside `role`, `content` and `tool_calls`
    calls          fields beside `id`, `type` and `function`, by the call's id

On its way to a model, a message carries this under the key `wire`; `WireFields.restore` turns it
into the fields again. They go only to the server and model that they came from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from agent.model import Message, ModelReply
from tape.entry import MESSAGE, TOOL_CALL, Entry

How = Literal["fields", "fillers", "plain"]

WIRE: Final = "wire"
SIGNATURE_FILLER: Final = {"google": {"thought_signature": "skip_thought_signature_validator"}}
"""What Gemini accepts in `extra_content` of a call that another model made."""

_SIGNATURE: Final = re.compile(r"thought[ _]?signature", re.IGNORECASE)
_REASONING: Final = re.compile(r"reasoning_content", re.IGNORECASE)
_WANTS: Final = re.compile(r"missing|must be (passed|provided|included)|required", re.IGNORECASE)


def wire_of(reply: ModelReply) -> dict[str, Any]:
    """Return the `meta` that keeps what a provider put beside a reply and its calls, or {}."""
    calls = {call.id: dict(call.extra) for call in reply.calls if call.extra}
    if not reply.extra and not calls:
        return {}
    kept: dict[str, Any] = {"server": reply.server, "model": reply.requested}
    if reply.calls and reply.text.strip():
        kept["text"] = True
    if reply.extra:
        kept["message"] = dict(reply.extra)
    if calls:
        kept["calls"] = calls
    return {WIRE: kept}


def attach(messages: Iterable[Message], entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """Return a view's messages, with the key `wire` on those whose entries have it."""
    attached = [one.copy() if isinstance(one, dict) else dict(one) for one in messages]
    at = 0
    for entry in entries:
        kept = entry.meta.get(WIRE)
        if not isinstance(kept, Mapping) or entry.kind not in (MESSAGE, TOOL_CALL):
            continue
        for position in range(at, len(attached)):
            if _shows(attached[position], entry):
                attached[position][WIRE] = kept
                at = position + 1
                break
    return attached


def _shows(message: Message, entry: Entry) -> bool:
    if entry.kind == TOOL_CALL:
        return bool(message.get("tool_calls")) and message["tool_calls"] == entry.payload["calls"]
    return message.get("role") == "assistant" and message == entry.payload


def without_wire(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Return messages as people may see them."""
    return [{key: value for key, value in one.items() if key != WIRE} for one in messages]


@dataclass(slots=True)
class WireFields:
    """Puts the fields back for one model on one server, and learns what this model demands.

    signed    whether every step with calls needs a thought signature (Gemini)
    reasoned  whether messages of a conversation with calls need `reasoning_content` (DeepSeek)
    refused   whether the server refuses the fields that it sends
    """

    server: str
    model: str
    signed: bool = field(default=False, init=False)
    reasoned: bool = field(default=False, init=False)
    refused: bool = field(default=False, init=False)

    def restore(self, messages: Sequence[Message], how: How = "fields") -> list[dict[str, Any]]:
        """Return messages as this server gets them.

        fields   with the fields that it sent, and fillers where it demands some that are missing
        fillers  with fillers in place of all fields
        plain    without either
        """
        if self.refused or how == "plain" or not _have_calls(messages):
            return without_wire(messages)
        self._notice(messages)
        keep = how == "fields"
        joined = _join_texts(messages) if keep else messages
        return [self._restored(message, keep=keep) for message in joined]

    def learn(self, messages: Sequence[Message], error: str) -> How | None:
        """Return how to repeat a rejected request, or None if these fields are not the reason."""
        if not _have_calls(messages):
            return None
        signature, reasoning = bool(_SIGNATURE.search(error)), bool(_REASONING.search(error))
        wanted = _WANTS.search(error) is not None
        if signature or (reasoning and wanted):
            self.refused = False
        news = wanted and ((signature and not self.signed) or (reasoning and not self.reasoned))
        self.signed |= signature
        if news:
            self.reasoned |= reasoning
            return "fields"
        sent = {key for message in messages for key in self._own(message).get("message", ())}
        if signature or (wanted and reasoning):
            return "fillers" if any(self._own(message) for message in messages) else None
        return "plain" if reasoning or any(_names(error, key) for key in sent) else None

    def learned(self, how: How) -> None:
        """Remember that a rejected request succeeded in this way."""
        self.refused = self.refused or how == "plain"

    def _notice(self, messages: Sequence[Message]) -> None:
        # What this model has sent shows what it demands, before it rejects a request.
        for message in messages:
            own = self._own(message)
            self.reasoned |= "reasoning_content" in own.get("message", ())
            self.signed |= any(_is_signed(extra) for extra in own.get("calls", {}).values())

    def _own(self, message: Message) -> Mapping[str, Any]:
        kept = message.get(WIRE)
        if not isinstance(kept, Mapping):
            return {}
        same = (kept.get("server"), kept.get("model")) == (self.server, self.model)
        return kept if same else {}

    def _restored(self, message: Message, *, keep: bool) -> dict[str, Any]:
        own = self._own(message) if keep else {}
        shown = {key: value for key, value in message.items() if key != WIRE}
        if shown.get("role") != "assistant":
            return shown
        fields = dict(own.get("message", ()))
        if self.reasoned:
            fields.setdefault("reasoning_content", "")
        shown |= {key: value for key, value in fields.items() if key not in shown}
        if shown.get("tool_calls"):
            shown["tool_calls"] = self._calls(shown["tool_calls"], own.get("calls", {}))
        return shown

    def _calls(self, calls: Sequence[Message], own: Mapping[str, Any]) -> list[dict[str, Any]]:
        restored = [{**call, **own.get(call.get("id", ""), {})} for call in calls]
        if self.signed and not any(_is_signed(call) for call in restored):
            restored[0] = {**restored[0], "extra_content": SIGNATURE_FILLER}
        return restored


def _have_calls(messages: Sequence[Message]) -> bool:
    return any(message.get("tool_calls") for message in messages)


def _names(error: str, key: str) -> bool:
    # A field such as `reasoning` is also a word, so it must stand in quotes or have an underscore.
    quoted = re.search(rf"['\"`]{re.escape(key)}['\"`]", error)
    return quoted is not None or ("_" in key and key in error)


def _is_signed(extra: Mapping[str, Any]) -> bool:
    content = extra.get("extra_content")
    google = content.get("google") if isinstance(content, Mapping) else None
    return isinstance(google, Mapping) and "thought_signature" in google


def _join_texts(messages: Sequence[Message]) -> list[Message]:
    """Join a step's text with its calls, which the provider sent as one message."""
    joined: list[Message] = []
    for message in messages:
        kept = message.get(WIRE)
        with_text = isinstance(kept, Mapping) and kept.get("text") and message.get("tool_calls")
        if with_text and joined and _is_text(joined[-1]):
            joined[-1] = {**message, "content": joined[-1]["content"]}
        else:
            joined.append(message)
    return joined


def _is_text(message: Message) -> bool:
    text = isinstance(message.get("content"), str)
    return message.get("role") == "assistant" and text and not message.get("tool_calls")
