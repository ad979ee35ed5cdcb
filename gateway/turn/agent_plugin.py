"""The builtin plugin: it provides the agent's model loop, default prompt and tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from typing import Any

import anyio

from agent.calls import Calls, CountedModel
from agent.events import AgentEvent
from agent.handoffs import Handoffs
from agent.loop import Task, run_turn
from agent.model import ModelReply, ModelRequest
from agent.model_strategy import ByModel
from agent.plain_view import plain_view
from agent.subagents import MAX_DEPTH, Subagents, close_left
from agent.system_prompt import DEFAULT_PROMPT, read_agents_file
from agent.taint import TAINT
from agent.token_meter import Meter, can_count_exactly
from agent.tool import Role, Tool, ToolContext
from agent.tool_runner import ToolRunner, is_failure
from agent.toolbox import Toolbox
from agent.tools import BUILTIN_TOOLS
from agent.turn_log import TurnLog, WriteOnce
from agent.wire import attach
from channels.message import OutboundMessage
from gateway.context.images import load_images
from gateway.context.selection import reselect_messages
from gateway.context.tape_access import known_people, other_tapes
from gateway.hooks.results import ResultRefused
from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import hookimpl
from gateway.links.hosts import SharedHosts
from gateway.logs import get_log
from gateway.metrics.catalog import TOOLS
from gateway.metrics.metered_model import count_prompt
from gateway.metrics.meters import Meters
from gateway.pipeline.turn import Turn, current_turn
from gateway.services import Services
from gateway.storage.ledger.rows import new_turn_id
from gateway.turn.confirm_card import read_allowed
from gateway.turn.late_parts import take_late_parts
from gateway.turn.link_filter import AnswerLinks
from gateway.turn.model_in_use import ModelInUse, UsedModel
from gateway.turn.task_boundary import detect_boundary
from gateway.turn.transactions import take_also
from tape.context import Message, TapeContext, view_entries
from tape.entry import event, message
from tape.errors import UnitFailed
from tape.snapshot import TapeSnapshot
from tape.tokens import estimate_text
from tape.turn_events import TURN_END, TurnStart


class AgentPlugin:
    """Implements the hooks that the gateway needs, for when no other plugin implements them."""

    def __init__(self, services: Services, models: ModelInUse) -> None:
        self._services = services
        self._models = models
        self._once = WriteOnce()
        self._hosts = SharedHosts(services.settings.agent.hosts_of_links())
        self._meter = Meter(services.settings.agent.count_tokens)
        if services.settings.agent.count_tokens == "exact" and not can_count_exactly():
            get_log().warning("agent.counter_estimates", why="install tapeway[exact] to count")

    @hookimpl
    def system_prompt(self) -> str:
        own = read_agents_file(self._services.settings.workspace_path)
        name = self._services.settings.agent.name
        opening = f"Your name is {name}. {DEFAULT_PROMPT}"
        return f"{opening}\n\n{own}" if own else opening

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return list(BUILTIN_TOOLS)

    @hookimpl
    async def run_model_stream(
        self, prompt: Any, session_id: str, state: dict[str, Any]
    ) -> AsyncGenerator[AgentEvent, None]:
        turn = current_turn.get()
        if turn is None:
            return self._outside_a_turn(prompt, session_id, state)
        await _record_prompt(turn, prompt, state.get("context_str"))
        await take_late_parts(self._services, turn)  # what came while it began, or was cut off
        used = self._models.take()
        turn.chosen.append(used.settings)
        try:
            task = await self._task(turn.log, session_id, prompt, state, turn, used)
            if turn.question.turn_id:
                await close_left(self._services.tapes, turn.log)
                await task.calls.recall(turn.tape, turn.id)
        except BaseException:
            await used.release()
            raise
        links = AnswerLinks(turn.log, self._hosts)
        task = replace(task, may_say=links.whole)
        return links.filtered(_released(run_turn(task, used.model), used))

    @hookimpl
    async def dispatch_outbound(self, message: OutboundMessage) -> bool | None:
        """Send a message at once; during a turn, leave it to the commit of the turn."""
        if current_turn.get() is not None:
            return None
        await self._services.router.dispatch(message)
        return True

    async def _outside_a_turn(
        self, prompt: Any, session_id: str, state: dict[str, Any]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Answer a message that a script or plugin passed in without a channel."""
        tape = self._services.tapes.session_tape(session_id)
        log = TurnLog(tape, new_turn_id(), None)
        await log.record(TurnStart(log.turn).to_entry(), message("user", prompt))
        used = self._models.take()
        try:
            task = await self._task(log, session_id, prompt, state, None, used)
            final = ""
            async for found in run_turn(task, used.model):
                if found.kind == "final":
                    final = str(found.data.get("text", ""))
                yield found
        finally:
            await used.release()
        end = event(TURN_END, {"turn": log.turn, "status": "done"})
        answer = message("assistant", final, **log.answer_meta)
        await log.record(*log.deferred, answer, log.stamp(end))

    async def _task(
        self,
        log: TurnLog,
        session_id: str,
        prompt: Any,
        state: dict[str, Any],
        turn: Turn | None,
        used: UsedModel,
    ) -> Task:
        settings = used.settings
        parts = await self._services.hooks.call_many("system_prompt", prompt=prompt, state=state)
        system = "\n\n".join(part for part in reversed(parts) if part)
        context = await self._services.hooks.call_first(
            "build_tape_context", session_id=session_id, state=state
        )
        entry_ids = turn.question.entry_ids if turn else ()

        async def build(log: TurnLog, upto: int) -> list[Message]:
            if isinstance(context, TapeContext):
                with suppress(ResultRefused):
                    entries = await view_entries(TapeSnapshot(log.tape, upto), context.anchor)
                    log.sources.look(entries)
                    return attach(await context.messages(entries), entries)
            return await plain_view(log, upto)

        async def before_step() -> None:
            if turn is not None:
                await self._steer(turn)

        calls = Calls(settings.budget.model_calls)
        model = CountedModel(used.model, calls)
        tool_context = ToolContext(
            tape=log.tape,
            role=await read_allowed(log, turn.question) if turn else Role.OWNER,
            lane=log.lane,
            turn=log.turn,
            asked=entry_ids,
            shared=turn is not None and turn.message.chat_kind == "group",
            asker=turn.question.asker if turn else "",
            strategy=ByModel(model) if settings.context.selection == "model" else None,
            asks=turn is not None,
        )
        if turn is not None:
            tool_context = replace(
                tool_context,
                tape_of=other_tapes(self._services, turn.question),
                person_of=known_people(self._services, turn.question),
            )
        mode = settings.context.handoff if turn and tool_context.sets_anchors else "off"
        boundary = await detect_boundary(turn.tape, turn.question) if turn and mode != "off" else ""
        return replace(
            await self._loop(log, session_id, system, tool_context, entry_ids, calls, used, 0),
            view=build,
            before_step=before_step,
            steps=settings.agent.steps,
            handoffs=Handoffs(mode, boundary, entry_ids, tool_context),
        )

    async def _loop(
        self,
        log: TurnLog,
        session_id: str,
        system: str,
        context: ToolContext,
        entry_ids: Sequence[int],
        calls: Calls,
        used: UsedModel,
        depth: int,
    ) -> Task:
        """Return the task for a turn, or for a subagent with the same role and hooks."""
        settings = used.settings
        tools = await self._services.hooks.tools()
        toolbox = Toolbox(tools, context.role, shared=context.shared)
        hooks = _LoopHooks(self._services.hooks, session_id, self._services.meters)
        reserve = estimate_text(system)

        async def retake(log: TurnLog, budget: int) -> None:
            again = await reselect_messages(log.tape, log.turn, entry_ids, max(0, budget - reserve))
            await log.record(again.to_entry())

        async def run(own: TurnLog, question: int, below: int) -> AsyncGenerator[AgentEvent, None]:
            inner = replace(context, tape=own.tape, turn=own.turn, give=None, asks=False)
            task = await self._loop(own, session_id, system, inner, (question,), calls, used, below)
            links = AnswerLinks(own, self._hosts)  # what it answers stands in a view as a result
            task = replace(task, may_say=links.whole)
            async with aclosing(links.filtered(run_turn(task, used.model))) as events:
                async for found in events:
                    yield found

        if depth < MAX_DEPTH and settings.agent.subagents:
            helpers = Subagents(self._services.tapes, log, run, depth, settings.agent.subagents)
            context = replace(context, give=helpers.give)
        return Task(
            log=log,
            toolbox=toolbox,
            runner=ToolRunner(
                log, toolbox, context, hooks, settings.agent.tool_timeout, self._count_tool
            ),
            hooks=hooks,
            system=system,
            retake=retake,
            budget=settings.model().prompt_budget(settings.context.prompt_tokens),
            steps=settings.agent.subagent_steps,
            calls=calls,
            kept=1 if depth else 0,  # the last one is for the answer itself
            once=self._once,
            meter=self._meter,
        )

    def _count_tool(self, name: str, cause: BaseException | None) -> None:
        outcome = "ok" if cause is None else "failed"
        if is_failure(cause):
            get_log().error("tool.failed", tool=name, exc_info=cause)
        elif cause is not None:
            outcome = "timeout" if isinstance(cause, TimeoutError) else "refused"
        self._services.meters.add(TOOLS, outcome)

    async def _steer(self, turn: Turn) -> None:
        """Add to this turn the questions that are meant to steer it, and late parts of albums."""
        while turn.steered:
            question = turn.steered[0]
            # The ledger and `turn.took` must agree, even if the turn is cancelled.
            with anyio.CancelScope(shield=True):
                try:
                    await take_also(self._services, turn, question)
                except UnitFailed:  # it has been dropped or deleted
                    get_log().info("turn.not_steered", turn=turn.id)
            if question in turn.steered:
                turn.steered.remove(question)
            if question.rows[0] in turn.took:
                await load_images(self._services, turn, question.entry_ids)
        await take_late_parts(self._services, turn)


async def _released(
    events: AsyncGenerator[AgentEvent, None], used: UsedModel
) -> AsyncGenerator[AgentEvent, None]:
    """Pass events on, and release the model at their end."""
    try:
        async with aclosing(events):
            async for found in events:
                yield found
    finally:
        await used.release()


async def _record_prompt(turn: Turn, prompt: Any, context: object) -> None:
    """Record a plugin's prompt; the view shows the prompt in place of the question's entry."""
    text = turn.message.text
    if prompt == text:
        return
    number = turn.question.entry_ids[-1]
    entry = (await turn.tape.entries([number])).get(number)
    taint: dict[str, Any] = {}
    if entry is not None:
        taint = {name: entry.meta[name] for name in (TAINT, "media") if name in entry.meta}
        if prompt == f"{context}\n\n{text}" and entry.meta.get("text") == text:
            prompt = f"{context}\n\n{entry.text}"  # in a group, with who wrote it
    written = message("user", prompt, prompt_of=number, **taint)
    await turn.log.record(written, key=f"prompt:{turn.id}")


@dataclass(frozen=True, slots=True)
class _LoopHooks:
    """Calls the plugins' hooks around model calls and tool calls."""

    _hooks: HookRuntime
    _session_id: str
    _meters: Meters

    async def before_llm_call(self, request: ModelRequest) -> None:
        count_prompt(self._meters, request)
        await self._hooks.call_many("before_llm_call", request=request, session_id=self._session_id)

    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None:
        await self._hooks.call_many(
            "after_llm_call", request=request, reply=reply, session_id=self._session_id
        )

    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        await self._hooks.call_many(
            "before_tool_call", name=name, arguments=arguments, session_id=self._session_id
        )

    async def after_tool_call(self, name: str, result: str) -> None:
        await self._hooks.call_many(
            "after_tool_call", name=name, result=result, session_id=self._session_id
        )
