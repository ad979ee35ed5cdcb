"""The model for a first start: no network, no key, no cost.

It says what it is and how to name another, repeats what it was told, and looks at the tape when it
is asked about it, so that streaming, tools and the tape can be seen at work.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Final
from uuid import uuid4

import anyio

from agent.handoffs import is_note
from agent.model import Message, ModelReply, ModelRequest, Piece, TextPiece, ToolCall

OFFLINE: Final = "offline"
_PIECE: Final = re.compile(r"\s*\S+\s*")
_TAPE_WORDS: Final = re.compile(r"\b(tape|tapes|remember|memory|entries)\b", re.IGNORECASE)

INTRODUCTION: Final = (
    "I am Tapeway's **offline model**: no model is named yet, so nothing leaves this machine and"
    " nothing costs anything. Name one with `TAPEWAY_AGENT__MODEL` (and `TAPEWAY_AGENT__BASE_URL`,"
    " `TAPEWAY_AGENT__API_KEY`) to get real answers.\n\n"
)
REMINDER: Final = "*(offline model)* "


class OfflineModel:
    """Answers from nothing but the request; `pause` is the time between pieces in seconds."""

    name = OFFLINE

    def __init__(self, pause: float = 0.02) -> None:
        self._pause = pause

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        """Answer a request; see `ChatModel`."""
        asked = last_said(request.messages)
        offered = {tool["function"]["name"] for tool in request.tools}
        results = trailing_results(request.messages)
        if "tape_info" in offered and not results and _TAPE_WORDS.search(asked):
            yield ModelReply(
                self.name, calls=(ToolCall(f"call_{uuid4().hex[:12]}", "tape_info", "{}"),)
            )
            return
        text = compose(request.messages, asked, results)
        for piece in _PIECE.findall(text):
            yield TextPiece(piece)
            await anyio.sleep(self._pause)
        yield ModelReply(self.name, text, finish_reason="stop")

    async def aclose(self) -> None:
        """There is nothing to close."""


def compose(messages: Sequence[Message], asked: str, results: Sequence[str]) -> str:
    """Write the answer."""
    spoke_before = any(
        message.get("role") == "assistant" and not str(message.get("content")).startswith("[Anchor")
        for message in messages
        if message.get("content")
    )
    opening = REMINDER if spoke_before else INTRODUCTION
    if results:
        return f"{opening}This is what the tape says of itself:\n\n{_fenced(results[-1])}"
    if not asked:
        return f"{opening}I heard you, though you said nothing."
    quoted = "\n".join(f"> {line}" for line in asked.splitlines())
    return f"{opening}You said:\n\n{quoted}"


def _fenced(text: str) -> str:
    return f"```json\n{text}\n```"


def last_said(messages: Sequence[Message]) -> str:
    """Return the bare text of the newest message of a person, without its frame."""
    for message in reversed(messages):
        if message.get("role") == "user" and not is_note(str(message.get("content"))):
            return _unframed(message.get("content"))
    return ""


def trailing_results(messages: Sequence[Message]) -> list[str]:
    """Return the tool results at the end of a request, oldest first."""
    results: list[str] = []
    for message in reversed(messages):
        if message.get("role") != "tool":
            break
        results.insert(0, str(message.get("content", "")))
    return results


def _unframed(content: object) -> str:
    if isinstance(content, list):
        parts = [part.get("text", "") for part in content if isinstance(part, dict)]
        content = "\n".join(parts)
    header, _, body = str(content).partition("\n")
    if not (header.startswith("[") and header.endswith("]")):
        return str(content).strip()
    return "\n".join(line.removeprefix("> ") for line in body.splitlines()).strip()
