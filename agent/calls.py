"""Count the model calls of one answer, its subagents' calls included."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from agent.errors import StepLimit
from agent.model import ChatModel, ModelRequest, Piece
from agent.spent import CALLS, Spent
from tape.entry import EVENT, TOOL_CALL
from tape.handle import Tape


@dataclass(slots=True)
class Calls:
    """The model calls that an answer may still make; its loop and its subagents share them."""

    left: int

    def take(self, kept: int = 0) -> bool:
        """Use one call, unless only the `kept` last ones are left; return whether it was."""
        if self.left <= kept:
            return False
        self.left -= 1
        return True

    async def recall(self, tape: Tape, turn: str) -> None:
        """Subtract the calls that a turn has made in an earlier process."""
        spent = Spent()
        for entry in await tape.find(turn=turn, kinds=(EVENT, TOOL_CALL)):
            spent.take(entry)
        made = sum(counts[CALLS] for counts in spent.models.values())
        self.left = max(1, self.left - made)  # one for the answer


class CountedModel:
    """A model whose calls are counted; it leaves the last one to the answer."""

    def __init__(self, model: ChatModel, calls: Calls) -> None:
        self.name = model.name
        self._model = model
        self._calls = calls

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        if not self._calls.take(1):
            raise StepLimit("the answer's model calls are used up")
        async with aclosing(self._model.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        """Do nothing: others use the model, too."""
