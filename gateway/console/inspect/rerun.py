"""Ask a model once more what a turn asked: another model, or without some of the messages.

It is one call, with the prompt of the turn's last call and so with the results that its tools had
then. No tool runs and nothing is sent. The answer is written to a fork that is never merged, and is
erased with the turn. What it costs is counted as the visitor's.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlsplit

import anyio
from starlette.exceptions import HTTPException

from agent.errors import AgentError
from agent.model import ModelReply, ModelRequest
from agent.models.learned import Learned
from agent.models.offline import OFFLINE
from agent.models.registry import make_one
from agent.spent import ESTIMATED
from agent.token_meter import facts_of
from agent.tool import wire_name
from gateway.console.chats import ConsoleChat
from gateway.console.inspect.view_parts import Json, ShownView, read_view
from gateway.console.parts import ConsoleParts
from gateway.console.visitor import Visitor
from gateway.context.vision_model import VisionModel
from gateway.errors import AdminError
from gateway.logs import get_log
from gateway.metrics.metered_model import MeteredModel
from gateway.services import Services
from gateway.storage.ledger.rows import new_turn_id
from gateway.storage.ledger.usage import TurnUsage
from gateway.turn.usage import cost_of
from tape.context import Message, pair_up
from tape.entry import event, message
from tape.tokens import estimate
from tape.unit_of_work import Unit

TOKENS: Final = ("prompt_tokens", "cached_tokens", "completion_tokens")
RERUN: Final = "console.rerun"
EXPECTED_ANSWER_TOKENS: Final = 500
"""Tokens of the answer with which the cost is estimated beforehand."""

NOT_AGREED: Final = "Running it again needs your agreement: a provider sees the text, and it costs."
UNKNOWN_MODEL: Final = "This model is not in the settings; name one of them."
NOTHING_LEFT: Final = "Nothing would be left to ask: keep at least one message."
ANOTHER_RUNS: Final = "Another turn is being run again; wait until it is done."
GONE_SINCE: Final = "What was asked has been deleted since; the answer is not shown and not kept."


@dataclass(frozen=True, slots=True)
class Rerun:
    """What is asked again.

    without  ids of the entries that the prompt leaves out
    """

    view: ShownView
    model: str
    without: Collection[int] = ()

    @property
    def messages(self) -> list[Message]:
        """The prompt without what is left out, and without calls or results of it alone."""
        places = self.view.prompt.places or [0] * len(self.view.prompt.messages)
        kept = [
            one
            for one, place in zip(self.view.prompt.messages, places, strict=True)
            if not place or place not in self.without
        ]
        return pair_up(kept)


def models_of(services: Services) -> list[str]:
    """Return the models that may be asked: those of the settings."""
    settings = services.settings
    return list(dict.fromkeys([*settings.agent.models(), *settings.models]))


def offers(services: Services, view: ShownView) -> list[Json]:
    """Return for each model the `server` that would see the text, and about what it would `cost`.

    The server is "" if the settings name none, and `local` if the model needs none.
    """
    settings, tokens = services.settings, estimate(view.prompt.messages)
    counts = {"prompt_tokens": tokens, "completion_tokens": EXPECTED_ANSWER_TOKENS}
    found = []
    for name in models_of(services):
        address = "" if name == OFFLINE else settings.model(name).base_url
        server = urlsplit(address).hostname or ""
        cost = cost_of(settings, name, Counter(counts))
        found.append(
            {
                "model": name,
                "server": server,
                "tokens": tokens,
                "cost": cost,
                "local": name == OFFLINE,
            }
        )
    return found


class RunAgain:
    """Runs turns again, one at a time in this process, since each run costs."""

    def __init__(self, parts: ConsoleParts) -> None:
        self._parts = parts
        self._one = anyio.Lock()

    async def run(self, chat: ConsoleChat, visitor: Visitor, asked: Rerun) -> Json:
        """Ask a model, and return its `text`, `model`, `tokens`, `cost` and `ms`.

        Raises AdminError, and HTTPException 429 while another one runs.
        """
        try:
            self._one.acquire_nowait()
        except anyio.WouldBlock:
            raise HTTPException(429, ANOTHER_RUNS) from None
        try:
            return await _run_again(self._parts, chat, visitor, asked)
        finally:
            self._one.release()


async def _run_again(
    parts: ConsoleParts, chat: ConsoleChat, visitor: Visitor, asked: Rerun
) -> Json:
    services = parts.services
    if asked.model not in models_of(services):
        raise AdminError(UNKNOWN_MODEL)
    messages = asked.messages
    if not any(one.get("role") == "user" for one in messages):
        raise AdminError(NOTHING_LEFT)
    request = ModelRequest(messages, await offered_tools(services, asked.view), "none")
    began = time.monotonic()
    try:
        with anyio.fail_after(services.settings.turn.deadline):
            reply = await _ask(services, asked.model, request)
    except AgentError as cause:
        raise AdminError(f"The model did not answer: {cause.sentence}.") from cause
    except TimeoutError as cause:
        raise AdminError("The model did not answer in time.") from cause
    took = round((time.monotonic() - began) * 1000)
    facts = facts_of(request, reply)
    guessed = facts.get(ESTIMATED)
    counts = Counter({ESTIMATED: int(bool(guessed)), **(guessed or facts["usage"])})
    run = new_turn_id()
    cost = await _charge(services, chat, visitor, asked.model, run, counts)
    get_log().info("console.rerun", person=visitor.person, model=asked.model, cost=cost)
    if not await _is_still_there(parts, chat, asked.view):
        raise AdminError(GONE_SINCE)
    await _record(services, chat, visitor, asked, reply, run)
    text = services.redactor.clean(reply.text)
    return {
        "text": text,
        "model": reply.model or asked.model,
        "tokens": {name: counts[name] for name in TOKENS},
        "estimated": bool(guessed),
        "cost": cost,
        "ms": took,
        "calls": [call.name for call in reply.calls],
    }


async def _is_still_there(parts: ConsoleParts, chat: ConsoleChat, view: ShownView) -> bool:
    """Return whether nothing of what was asked has been deleted or erased since."""
    try:
        now = await read_view(parts.reads.tape(chat.tape), view.turn, view.at)
    except AdminError:
        return False
    return now.prompt.messages == view.prompt.messages


async def offered_tools(services: Services, view: ShownView) -> list[Json]:
    """Describe the tools that a call offered, as far as there are any today; none runs."""
    offered = view.steps[view.at].payload["data"].get("tools") or ()
    known = {tool.wire_name: tool for tool in await services.hooks.tools()}
    names = [wire_name(str(name)) for name in offered]
    return [dict(known[name].schema()) for name in names if name in known]


async def _ask(services: Services, name: str, request: ModelRequest) -> ModelReply:
    watched = partial(MeteredModel, meters=services.meters)
    one = make_one(name, services.settings.model(name), Learned(), watched)
    model = VisionModel(one, services.files)
    reply: ModelReply | None = None
    try:
        async with aclosing(model.stream(request)) as pieces:
            async for piece in pieces:
                if isinstance(piece, ModelReply):
                    reply = piece
    finally:
        with anyio.CancelScope(shield=True):
            await model.aclose()
    if reply is None:
        raise AdminError("The model gave no reply.")
    return reply


async def _record(
    services: Services,
    chat: ConsoleChat,
    visitor: Visitor,
    asked: Rerun,
    reply: ModelReply,
    run: str,
) -> None:
    """Write the answer to a fork, which is discarded: it stays as evidence, and in no view."""
    tape, view = services.tapes.tape(chat.tape), asked.view
    step = view.steps[view.at]
    facts = {"turn": view.turn, "step": step.id, "model": asked.model, "run": run}
    more = {"without": sorted(asked.without), "by": visitor.person}
    async with tape.fork(at=step, merge_back=False) as fork:
        # An erasure of the turn takes what is named after it, as the turns of its subagents.
        own = {"run": run, "turn": f"{view.turn}/{run}"}
        said = message("assistant", reply.text, **own)
        await fork.append(event(RERUN, {**facts, **more}, **own), said)


async def _charge(
    services: Services,
    chat: ConsoleChat,
    visitor: Visitor,
    model: str,
    run: str,
    counts: Counter[str],
) -> float | None:
    cached = min(counts["cached_tokens"], counts["prompt_tokens"])
    cost = cost_of(services.settings, model, counts)
    unit = Unit()
    services.ledger.usage.record(
        unit,
        TurnUsage(
            run,
            model,
            services.clock.now().date().isoformat(),
            chat.session_id,
            visitor.person,
            visitor.name,
            calls=1,
            input=counts["prompt_tokens"] - cached,
            cached=cached,
            output=counts["completion_tokens"],
            cost=cost,
            estimated=counts[ESTIMATED],
        ),
    )
    await services.store.commit(unit)
    return cost
