"""The turn pipeline: each numbered step, and what happens when one fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, ClassVar

import anyio
import pytest

from agent.events import AgentEvent
from channels.base import Channel
from channels.host import ChannelEvent
from channels.message import InboundMessage, OutboundMessage, Receipt
from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import hookimpl
from gateway.pipeline.pipeline import TurnPipeline
from gateway.pipeline.router import OutboundChannelRouter

MESSAGE: dict[str, Any] = {"channel": "probe", "chat_id": "1", "content": "hello", "ext_id": "e"}


class ProbeChannel(Channel):
    """Keeps what it is given."""

    name: ClassVar[str] = "probe"

    def __init__(self) -> None:
        super().__init__()
        self.events: list[tuple[str, Any]] = []
        self.sent: list[OutboundMessage] = []
        self.breaks = False

    async def run(self) -> None:
        """Never started."""

    async def stop(self) -> None:
        """Never started."""

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.sent.append(message)
        return [Receipt("1")]

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        if self.breaks:
            raise RuntimeError("a channel broke")
        self.events.append((event.kind, message))


class Model:
    """Streams what it is made of; an exception among it is raised."""

    def __init__(self, *events: Any) -> None:
        self.events = events
        self.asked: list[tuple[Any, str, dict[str, Any]]] = []

    @hookimpl
    async def run_model_stream(
        self, prompt: Any, session_id: str, state: dict[str, Any]
    ) -> AsyncIterator[Any]:
        self.asked.append((prompt, session_id, dict(state)))
        return self.stream()

    async def stream(self) -> AsyncIterator[Any]:
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event


class Whole:
    """Answers as one text."""

    def __init__(self, text: str | None) -> None:
        self.text = text

    @hookimpl
    def run_model(self, prompt: Any) -> str | None:
        return self.text


class Watcher:
    """Keeps what was saved, sent and told of errors."""

    def __init__(self) -> None:
        self.saved: list[tuple[str, str]] = []
        self.errors: list[tuple[str, str]] = []
        self.sent: list[OutboundMessage] = []

    @hookimpl
    async def save_state(self, session_id: str, model_output: str) -> None:
        await anyio.lowlevel.checkpoint()
        self.saved.append((session_id, model_output))

    @hookimpl
    def on_error(self, stage: str, error: BaseException) -> None:
        self.errors.append((stage, str(error)))

    @hookimpl
    def dispatch_outbound(self, message: OutboundMessage) -> bool:
        self.sent.append(message)
        return True


def text(delta: str) -> AgentEvent:
    return AgentEvent("text", {"delta": delta})


class Bench:
    """A framework with plugins and a channel."""

    def __init__(self, *plugins: object) -> None:
        self.watcher = Watcher()
        self.channel = ProbeChannel()
        self.hooks = HookRuntime()
        for number, plugin in enumerate((self.watcher, *plugins)):
            self.hooks.register(plugin, f"p{number}")
        router = OutboundChannelRouter({"probe": self.channel})
        self.pipeline = TurnPipeline(self.hooks, router, "/workspace")

    async def run(self, message: Any = None) -> Any:
        return await self.pipeline.process_inbound(MESSAGE if message is None else message)


async def test_step_1_the_session_is_the_plugin_s_or_channel_and_chat() -> None:
    class Session:
        @hookimpl
        def resolve_session(self, message: Any) -> str:
            return "" if message["chat_id"] == "1" else "chosen"

    bench = Bench(Model(text("x")), Session())
    assert (await bench.run()).session_id == "probe:1"
    assert (await bench.run({**MESSAGE, "chat_id": "2"})).session_id == "chosen"
    assert (await bench.run({**MESSAGE, "account": "b"})).session_id == "probe:b/1"


async def test_step_2_states_are_merged_so_that_a_higher_priority_wins() -> None:
    class State:
        def __init__(self, value: Any) -> None:
            self.value = value

        @hookimpl
        async def load_state(self, message: Any, session_id: str) -> Any:
            return self.value

    model = Model(text("x"))
    bench = Bench(model, State({"a": 1, "b": 1}), State("no dict"), State({"b": 2}), State(None))
    await bench.run()
    assert model.asked[0][2] == {"_runtime_workspace": "/workspace", "a": 1, "b": 2}


async def test_step_3_the_prompt_is_the_plugin_s_or_the_content() -> None:
    class Prompt:
        @hookimpl
        def build_prompt(self, message: Any, session_id: str, state: dict[str, Any]) -> Any:
            return [{"type": "text", "text": "parts"}] if message["chat_id"] == "1" else ""

    model = Model(text("x"))
    bench = Bench(model, Prompt())
    await bench.run()
    await bench.run({**MESSAGE, "chat_id": "2"})
    assert [asked[0] for asked in model.asked] == [[{"type": "text", "text": "parts"}], "hello"]


@pytest.mark.parametrize(
    ("loaded", "prompt"),
    [("Today is Monday.", "Today is Monday.\n\nhello"), ("  ", "hello"), (7, "hello")],
)
async def test_step_3_the_builtin_prompt_begins_with_what_a_plugin_loaded(
    loaded: Any, prompt: str
) -> None:
    class Context:
        @hookimpl
        def load_state(self, message: Any, session_id: str) -> Any:
            return {"context_str": loaded}

    model = Model(text("x"))
    await Bench(model, Context()).run()
    assert model.asked[0][0] == prompt


async def test_step_4_the_first_plugin_with_a_model_decides() -> None:
    bench = Bench(Model(text("late")), Whole("whole"))
    assert (await bench.run()).model_output == "whole"
    bench = Bench(Whole("late"), Model(text("stream")))
    assert (await bench.run()).model_output == "stream"


async def test_step_4_a_plugin_with_both_is_asked_for_its_stream() -> None:
    class Both(Model):
        @hookimpl
        def run_model(self) -> str:
            return "whole"

    assert (await Bench(Both(text("stream"))).run()).model_output == "stream"


async def test_step_4_a_whole_answer_is_a_stream_of_one_text() -> None:
    bench = Bench(Whole("all of it"))
    await bench.run()
    assert [kind for kind, _message in bench.channel.events] == ["text", "final"]


async def test_step_4_without_a_model_the_prompt_is_the_output_and_observers_are_told() -> None:
    bench = Bench()
    assert (await bench.run()).model_output == "hello"
    assert [stage for stage, _error in bench.watcher.errors] == ["run_model"]


async def test_step_4_without_a_model_a_prompt_of_parts_falls_back_to_the_content() -> None:
    class Parts:
        @hookimpl
        def build_prompt(self) -> Any:
            return [{"type": "text", "text": "parts"}]

    assert (await Bench(Parts()).run()).model_output == "hello"


async def test_step_5_events_reach_the_channel_with_the_original_message() -> None:
    bench = Bench(Model(text("a"), AgentEvent("tool_call", {}), text("b")))
    assert (await bench.run()).model_output == "ab"
    assert [kind for kind, _message in bench.channel.events] == [
        "text",
        "tool_call",
        "text",
        "final",
    ]
    assert all(message is MESSAGE for _kind, message in bench.channel.events)


async def test_step_5_the_output_channel_goes_before_the_channel() -> None:
    bench = Bench(Model(text("a")))
    await bench.run({**MESSAGE, "channel": "elsewhere", "output_channel": "probe"})
    assert bench.channel.events
    await bench.run({**MESSAGE, "channel": "nowhere"})


async def test_step_5_an_exception_of_the_channel_does_not_end_the_stream() -> None:
    bench = Bench(Model(text("a"), text("b")))
    bench.channel.breaks = True
    assert (await bench.run()).model_output == "ab"


async def test_step_5_an_error_event_is_told_to_observers_and_the_stream_goes_on() -> None:
    bench = Bench(Model(text("a"), AgentEvent("error", {"message": "hiccup"}), text("b")))
    assert (await bench.run()).model_output == "ab"
    assert [stage for stage, _error in bench.watcher.errors] == ["run_model"]
    assert "hiccup" in bench.watcher.errors[0][1]
    assert "error" in [kind for kind, _message in bench.channel.events]


async def test_step_5_a_reset_empties_the_output() -> None:
    bench = Bench(Model(text("wrong"), AgentEvent("reset", {"why": "fallback"}), text("right")))
    assert (await bench.run()).model_output == "right"


async def test_step_6_the_state_is_saved_with_the_output() -> None:
    bench = Bench(Model(text("a")))
    await bench.run()
    assert bench.watcher.saved == [("probe:1", "a")]
    assert bench.watcher.errors == []


async def test_step_6_the_state_is_saved_when_the_model_raised() -> None:
    bench = Bench(Model(text("half"), ValueError("broke")))
    with pytest.raises(ValueError, match="broke"):
        await bench.run()
    assert bench.watcher.saved == [("probe:1", "half")]
    assert bench.watcher.errors == [("turn", "broke")]


async def test_step_6_the_state_is_saved_when_the_prompt_could_not_be_built() -> None:
    class Broken:
        @hookimpl
        def build_prompt(self) -> Any:
            raise ValueError("no prompt")

    bench = Bench(Model(text("a")), Broken())
    with pytest.raises(ValueError, match="no prompt"):
        await bench.run()
    assert bench.watcher.saved == [("probe:1", "")]


async def test_step_6_the_state_is_saved_when_the_turn_was_cancelled() -> None:
    class Endless(Model):
        async def stream(self) -> AsyncIterator[Any]:
            yield text("half")
            started.set()
            await anyio.sleep_forever()

    started = anyio.Event()
    bench = Bench(Endless())
    async with anyio.create_task_group() as group:
        group.start_soon(bench.run)
        await started.wait()
        group.cancel_scope.cancel()
    assert bench.watcher.saved == [("probe:1", "half")]
    assert bench.watcher.errors == []


async def test_step_6_an_error_while_saving_does_not_hide_the_turn_s_own() -> None:
    class Broken:
        @hookimpl
        def save_state(self) -> None:
            raise KeyError("while saving")

    with pytest.raises(ValueError, match="the model"):
        await Bench(Model(ValueError("the model")), Broken()).run()
    with pytest.raises(KeyError, match="while saving"):
        await Bench(Model(text("a")), Broken()).run()


async def test_step_7_what_everyone_renders_is_flattened() -> None:
    class Render:
        def __init__(self, result: Any) -> None:
            self.result = result

        @hookimpl
        def render_outbound(self, message: Any, model_output: str) -> Any:
            return self.result

    bench = Bench(
        Model(text("a")),
        Render({"text": "1"}),
        Render(None),
        Render([{"text": "2"}, {"text": "3"}]),
    )
    result = await bench.run()
    assert [outbound.text for outbound in result.outbounds] == ["2", "3", "1"]


async def test_step_7_without_any_the_output_goes_to_the_origin() -> None:
    bench = Bench(Model(text("a")))
    (outbound,) = (await bench.run({**MESSAGE, "thread_id": "t", "message_id": "m"})).outbounds
    assert (outbound.channel, outbound.chat_id, outbound.text) == ("probe", "1", "a")
    assert (outbound.thread_id, outbound.reply_to, outbound.answers) == ("t", "m", "e")


async def test_step_7_a_message_for_another_chat_does_not_keep_the_thread_of_this_one() -> None:
    class Elsewhere:
        @hookimpl
        def render_outbound(self) -> Any:
            return {"chat_id": "2", "text": "a"}

    bench = Bench(Model(text("a")), Elsewhere())
    (outbound,) = (await bench.run({**MESSAGE, "thread_id": "t", "message_id": "m"})).outbounds
    assert (outbound.chat_id, outbound.thread_id, outbound.reply_to) == ("2", None, None)


async def test_step_8_each_message_is_dispatched_once() -> None:
    bench = Bench(Model(text("a")))
    await bench.run()
    assert [outbound.text for outbound in bench.watcher.sent] == ["a"]


async def test_an_error_is_told_with_its_stage_and_raised_again() -> None:
    class Broken:
        @hookimpl
        async def dispatch_outbound(self, message: Any) -> Any:
            raise ConnectionError("no way out")

    bench = Bench(Model(text("a")), Broken())
    with pytest.raises(ConnectionError, match="no way out"):
        await bench.run()
    assert bench.watcher.errors == [("turn", "no way out")]
