"""What the model says in a chaos run, the same on every channel, and how it fails."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Final

import orjson

from tests.chaos.plan import LINES, Kind
from tests.chaos.record import ASKED, line
from tests.chaos.traps import Traps
from tests.fakes.openai.script import (
    Call,
    CutStream,
    Failure,
    RateLimited,
    Reply,
    Request,
    Text,
    ToolCalls,
)

RETRIES: Final = 2
"""Maximum number of calls after the first; the gateway is set to it."""


class Model:
    """Says the lines of an answer, after a tool where it was asked for one.

    An answer takes `seconds`, so that it can be seen while it is written; a long one has so many
    lines.
    """

    def __init__(self, traps: Traps, seconds: float, long: int) -> None:
        self._traps = traps
        self._lines = {**LINES, "long": long}
        self._seconds = seconds
        self._failures: Counter[str] = Counter()
        self.troubles: list[str] = []

    def __call__(self, request: Request) -> Reply:
        """Answer a request."""
        token, kind = _asked_in(request)
        after_tool = _is_after_tool(request)
        self._traps.springs("kill-tool" if after_tool else "kill-model")
        count = self._lines[kind]
        lines = [line(token, number, count) for number in range(1, count + 1)]
        if self.troubles:
            return self._trouble(self.troubles.pop(0), token, lines)
        if kind == "tool" and not after_tool:
            if self._traps.has("kill-acting"):
                self._traps.kill_soon("kill-acting", 0.02 + 0.03 * self._turn())
            calls = (Call(f"call_{token}", "act", orjson.dumps({"token": token}).decode()),)
            return ToolCalls(calls)
        step = max(1, count // 7)
        pieces = tuple("".join(lines[at : at + step]) for at in range(0, count, step))
        pauses = len(pieces) - 1
        return Text(pieces, delay=self._seconds / pauses, sleep=self._paced(pauses))

    def _paced(self, pauses: int) -> Callable[[float], Awaitable[None]]:
        """Return how to wait between pieces; after the last pause all is said in a moment."""
        left = pauses

        async def sleep(seconds: float) -> None:
            nonlocal left
            left -= 1
            await asyncio.sleep(seconds)
            if not left and self._traps.has("kill-said"):
                self._traps.kill_soon("kill-said", 0.004 * self._turn() ** 2)

        return sleep

    def _turn(self) -> int:
        """Return 0, 1 or 2 in turn, so that a trap does not always spring alike."""
        return sum(self._traps.record.fired.values()) % 3

    def _trouble(self, name: str, token: str, lines: list[str]) -> Reply:
        self._failures[token] += 1
        # A call is tried again only before its stream has begun.
        if "cut" in name or self._failures[token] > RETRIES:
            self._traps.record.may_fail.add(token)
        if name == "model-cut":
            return CutStream(tuple(lines[:2]))
        if name == "model-empty-cut":
            return CutStream()
        if name == "model-rate":
            return RateLimited(0.2)
        return Failure(500, "The server had an error.", type="server_error")


def _asked_in(request: Request) -> tuple[str, Kind]:
    for message in reversed(request.body["messages"]):
        found = ASKED.findall(str(message["content"])) if message["role"] == "user" else []
        if found:
            return found[-1]  # type: ignore[no-any-return]
    raise LookupError(f"no question in {request.body['messages']}")


def _is_after_tool(request: Request) -> bool:
    for message in reversed(request.body["messages"]):
        if message["role"] == "user" and ASKED.search(str(message["content"])):
            return False
        if message["role"] == "tool":
            return True
    return False
