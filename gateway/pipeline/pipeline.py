"""Run each message through eight steps, each of which is a hook (see docs/reference/hooks.md)."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Final

import anyio

from agent.events import AgentEvent
from channels.message import OutboundMessage
from gateway.hooks.messages import as_outbound, content_of, field_of, session_of
from gateway.hooks.runtime import HookRuntime, call
from gateway.logs import get_log
from gateway.pipeline.redacted_events import RedactedEvents
from gateway.pipeline.router import OutboundChannelRouter
from gateway.pipeline.turn import TextSoFar, Turn, current_turn
from gateway.redaction.redactor import Redactor
from gateway.storage.ledger.rows import idem_key

SAVE_SECONDS: Final = 5.0
"""Maximum seconds for which `save_state` is protected from the cancellation of its turn."""


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The outcome of a pipeline run; the turn's commit sends the `unsent` messages."""

    session_id: str
    prompt: Any
    model_output: str  # all text that the model streamed
    final_text: str | None = None  # the text of the last step, or None if unknown
    outbounds: list[OutboundMessage] = field(default_factory=list)
    unsent: list[OutboundMessage] = field(default_factory=list)


@dataclass(slots=True)
class _Output:
    """The text so far, which a `reset` event empties, and the text of the last step."""

    said: TextSoFar
    final: str | None = None


@dataclass(frozen=True, slots=True)
class TurnPipeline:
    """Runs messages through the hooks."""

    hooks: HookRuntime
    router: OutboundChannelRouter
    workspace: str
    aliases: Mapping[str, str] = field(default_factory=dict)
    redactor: Redactor = field(default_factory=Redactor)

    @property
    def may_resolve_session(self) -> bool:
        """Whether a plugin may put messages into other sessions than those of their chats."""
        return bool(self.hooks.implementations("resolve_session"))

    async def resolve_session(self, message: Any) -> str:
        found = await self.hooks.call_first("resolve_session", message=message)
        return str(found) if found else self.default_session(message)

    def default_session(self, message: Any) -> str:
        """Return the session of the message's chat, for when no plugin resolves the session."""
        own = session_of(message)
        return self.aliases.get(own, own)

    async def process_inbound(self, message: Any, turn: Turn | None = None) -> TurnResult:
        """Run a message through the steps; report an error to `on_error` and raise it again."""
        token = current_turn.set(turn)
        try:
            return await self._steps(message, turn)
        except Exception as cause:
            await self.hooks.notify_error("turn", cause, message)
            raise
        finally:
            current_turn.reset(token)

    async def _steps(self, message: Any, turn: Turn | None) -> TurnResult:
        session_id = turn.question.session_id if turn else await self.resolve_session(message)
        state: dict[str, Any] = {"_runtime_workspace": self.workspace}
        values: dict[str, Any] = {"message": message, "session_id": session_id}
        for loaded in reversed(await self.hooks.call_many("load_state", **values)):
            if isinstance(loaded, dict):
                state.update(loaded)
        values["state"] = state
        output = _Output(turn.said if turn else TextSoFar())
        failed = True
        try:
            prompt = await self.hooks.call_first("build_prompt", **values)
            prompt = prompt or _builtin_prompt(message, state)
            await self._run_model({**values, "prompt": prompt}, output)
            failed = False
        finally:
            values["model_output"] = text = output.said.whole()
            if failed and turn is not None and turn.stopped_by and text.strip():
                await self._keep(values, turn)
            await self._save_state(values, failed=failed)
        try:
            outbounds = await self._render(values, turn)
            unsent = await self._unsent(outbounds)
        except anyio.get_cancelled_exc_class():
            if turn is not None and turn.stopped_by and text.strip():
                turn.kept[:] = _outbounds([], values, turn)  # without asking a plugin twice
            raise
        return TurnResult(session_id, prompt, text, output.final, outbounds, unsent)

    async def _keep(self, values: dict[str, Any], turn: Turn) -> None:
        """Render what a stopped turn said so far; if a plugin can't, nothing is kept."""
        with anyio.move_on_after(SAVE_SECONDS, shield=True):
            try:
                turn.kept[:] = await self._unsent(await self._render(values, turn))
            except Exception as cause:
                get_log().error("hook.stopped_not_rendered", exc_info=cause)

    async def _unsent(self, outbounds: list[OutboundMessage]) -> list[OutboundMessage]:
        return [
            outbound
            for outbound in outbounds
            if await self.hooks.call_first("dispatch_outbound", message=outbound) is None
        ]

    async def _run_model(self, values: dict[str, Any], output: _Output) -> None:
        message, prompt = values["message"], values["prompt"]
        ended = False
        async with AsyncExitStack() as stack:
            events = await self._model_events(values)
            if events is None:
                missing = LookupError("no plugin implements run_model or run_model_stream")
                await self.hooks.notify_error("run_model", missing, message)
                output.said.pieces.append(
                    prompt if isinstance(prompt, str) else content_of(message)
                )
                return
            if inspect.isasyncgen(events):
                await stack.enter_async_context(aclosing(events))
            redacted = RedactedEvents(self.redactor)
            async for raw in events:
                for event in redacted.take(_as_event(raw)):
                    await self._take_event(event, message, output)
                    ended = ended or event.kind == "final"
            if not ended:
                for event in redacted.take(AgentEvent("final", {})):
                    await self._take_event(event, message, output)

    async def _model_events(self, values: dict[str, Any]) -> AsyncIterator[Any] | None:
        """Return the first plugin's stream of events, or its whole text as a single event."""
        for name in self.hooks.names():
            stream = self.hooks.of_plugin(name, "run_model_stream")
            events: AsyncIterator[Any] | None = await call(stream, values) if stream else None
            if events is not None:
                return events
            whole = self.hooks.of_plugin(name, "run_model")
            text = await call(whole, values) if whole else None
            if text is not None:
                return _stream_of_one(str(text))
        return None

    async def _take_event(self, event: AgentEvent, message: Any, output: _Output) -> None:
        if event.kind == "text":
            output.said.push(str(event.data.get("delta", "")))
            if event.data.get("again"):
                output.said.end_step()
        elif event.kind == "reset":
            output.said.reset()
        elif event.kind == "tool_call":
            output.said.end_step()
        elif event.kind == "final":
            final = event.data.get("text")
            output.final = final if isinstance(final, str) else None
        await self.router.dispatch_event(event, message)
        if event.kind == "error":
            error = event.data.get("error")
            cause = error if isinstance(error, BaseException) else RuntimeError(str(event.data))
            await self.hooks.notify_error("run_model", cause, message)

    async def _save_state(self, values: dict[str, Any], *, failed: bool) -> None:
        """Save the state; if the turn has already failed, only log an error from saving."""
        with anyio.move_on_after(SAVE_SECONDS, shield=True) as scope:
            try:
                await self.hooks.call_many("save_state", **values)
            except Exception as cause:
                if not failed:
                    raise
                get_log().error("hook.save_state_failed", exc_info=cause)
                await self.hooks.notify_error("save_state", cause, values["message"])
        if scope.cancelled_caught:
            get_log().error("hook.save_state_too_slow", seconds=SAVE_SECONDS)

    async def _render(self, values: dict[str, Any], turn: Turn | None) -> list[OutboundMessage]:
        rendered = await self.hooks.call_many("render_outbound", **values)
        return _outbounds(rendered, values, turn)


def _outbounds(
    rendered: list[Any], values: Mapping[str, Any], turn: Turn | None
) -> list[OutboundMessage]:
    """Return what plugins rendered as messages, or the model's text if they rendered nothing."""
    flat = list(_flatten(rendered)) or [{"text": values["model_output"]}]
    outbounds = [as_outbound(one, values["message"]) for one in flat]
    if turn is None:
        return outbounds
    return [
        replace(outbound, turn=turn.id, part=part, idem=idem_key(turn.id, part))
        for part, outbound in enumerate(outbounds)
    ]


def _builtin_prompt(message: Any, state: Mapping[str, Any]) -> str:
    """Return the message's text, after the `context_str` that a plugin's `load_state` brought."""
    context, text = state.get("context_str"), content_of(message)
    return f"{context}\n\n{text}" if isinstance(context, str) and context.strip() else text


def _flatten(rendered: list[Any]) -> Any:
    for result in rendered:
        if result is None:
            continue
        if isinstance(result, (list, tuple)):
            yield from (one for one in result if one is not None)
        else:
            yield result


def _as_event(raw: Any) -> AgentEvent:
    if isinstance(raw, AgentEvent):
        return raw
    if isinstance(raw, str):
        return AgentEvent("text", {"delta": raw})
    data = field_of(raw, "data", {})
    return AgentEvent(field_of(raw, "kind"), data if isinstance(data, Mapping) else {})


async def _stream_of_one(text: str) -> AsyncIterator[AgentEvent]:
    yield AgentEvent("text", {"delta": text})
