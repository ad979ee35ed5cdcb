"""Answer one question on a tape, without a gateway."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import uuid4

import anyio

from agent.loop import Task, run_turn
from agent.model import ChatModel
from agent.tool import Tool
from agent.turn_log import TurnLog
from tape.entry import event, message
from tape.handle import Tape
from tape.turn_events import TURN_END, TurnStart


async def answer(
    model: ChatModel,
    tape: Tape,
    text: str,
    *,
    tools: Iterable[Tool] = (),
    system: str = "",
    **options: Any,
) -> str:
    """Ask a model and return the answer; the tape keeps the question, the calls and the answer.

    The tools run with the owner's role. `options` are more fields of OpenAI's request, for example
    `max_tokens`. Without an answer, raises AgentError; the tape says why.
    """
    log = TurnLog(tape, f"t-{uuid4().hex[:20]}", None)
    task = replace(Task.of(log, tools, system=system), options=options)
    await log.record(TurnStart(log.turn).to_entry(), message("user", text))
    end, final = {"turn": log.turn, "status": "failed"}, ""
    try:
        async with aclosing(run_turn(task, model)) as events:
            async for happened in events:
                if happened.kind == "final":
                    final = str(happened.data["text"])
                    log.defer(message("assistant", final, final=True, **log.answer_meta))
                    end["status"] = "done"
    finally:
        # A turn without an end would look interrupted: write the end even if the caller gives up.
        with anyio.CancelScope(shield=True):
            await log.record(*log.deferred, event(TURN_END, end))
    return final
