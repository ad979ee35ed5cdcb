"""A model to try Tapeway with, which needs no network and no key and costs nothing.

It explains how to configure a real model, and repeats the message. A question about the tape makes
it call a tool, to show how streaming, tools and the tape work.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from typing import Final
from uuid import uuid4

import anyio

from agent.handoffs import is_note
from agent.model import Message, ModelReply, ModelRequest, Piece, TextPiece, ToolCall
from agent.tools.words import in_words
from tape.entry import load

OFFLINE: Final = "offline"
_PIECE: Final = re.compile(r"\s*\S+\s*")
_TAPE_WORDS: Final = re.compile(r"\b(tape|tapes|remember|memory|entries)\b", re.IGNORECASE)

INTRODUCTION: Final = (
    "I'm Tapeway's **offline model**: no model is configured yet, so nothing leaves this machine"
    " and nothing costs money. To get real answers, run `tapeway init`, or set"
    " `TAPEWAY_AGENT__MODEL` (and `TAPEWAY_AGENT__BASE_URL`, `TAPEWAY_AGENT__API_KEY`).\n\n"
)
_DATE: Final = re.compile(r"^\[\w{3} \d{4}-\d\d-\d\d\]\n")
_HEADER: Final = re.compile(r"^\[\d\d:\d\d (?:[^\[\]]|\[[^\[\]]*\])*\] ?")
REMINDER: Final = "*(offline model)* "


class OfflineModel:
    """Answers from the request alone; `pause` is the number of seconds between two parts."""

    name = OFFLINE

    def __init__(self, pause: float = 0.02) -> None:
        self._pause = pause

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        question = last_question(request.messages)
        offered = {tool["function"]["name"] for tool in request.tools}
        results = trailing_results(request.messages)
        if "tape_info" in offered and not results and _TAPE_WORDS.search(question):
            yield ModelReply(
                self.name, calls=(ToolCall(f"call_{uuid4().hex[:12]}", "tape_info", "{}"),)
            )
            return
        text = compose(request.messages, question, results)
        for piece in _PIECE.findall(text):
            yield TextPiece(piece)
            await anyio.sleep(self._pause)
        yield ModelReply(self.name, text, finish_reason="stop")

    async def aclose(self) -> None: ...


def compose(messages: Sequence[Message], question: str, results: Sequence[str]) -> str:
    spoke_before = any(
        message.get("role") == "assistant" and not str(message.get("content")).startswith("[Anchor")
        for message in messages
        if message.get("content")
    )
    opening = REMINDER if spoke_before else INTRODUCTION
    if results:
        return f"{opening}I looked at the tape. {_in_words(results[-1])}"
    if not question:
        return f"{opening}I got your message, but it has no text."
    quoted = "\n".join(f"> {line}" for line in question.splitlines())
    return f"{opening}You said:\n\n{quoted}"


def _in_words(result: str) -> str:
    try:
        return in_words("tape.info", load(result))
    except ValueError:
        return result


def last_question(messages: Sequence[Message]) -> str:
    """Return the text of the newest message by a person, without the frame for the model."""
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
    text = _DATE.sub("", str(content))
    if (header := _HEADER.match(text)) is not None:
        text = text[header.end() :]
    elif not (text.startswith("[") and text.partition("\n")[0].endswith("]")):
        return text.strip()
    else:  # entries of earlier versions have the header in a line of its own
        text = text.partition("\n")[2]
    return "\n".join(line.removeprefix("> ") for line in text.split("\n")).strip()
