"""What a plugin returns is checked: the plugin is named, and everything else goes on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel, ConfigDict
from structlog.testing import capture_logs

from agent.tool import NoArguments, Role, Tool, ToolContext
from agent.tools import BUILTIN_TOOLS
from channels.base import Channel
from channels.message import OutboundMessage, Receipt
from gateway.errors import GatewayError
from gateway.hooks.results import ResultRefused
from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import hookimpl
from tape.context import LATEST, TapeContext, to_messages
from tape.entry import Entry
from tape.stores.memory import MemoryStore


async def ran(_arguments: NoArguments, _context: ToolContext) -> str:
    return "ran"


def plain(_arguments: NoArguments, _context: ToolContext) -> str:
    return "ran"


class Unwritable(BaseModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    what: HookRuntime


class Mail(Channel):
    name: ClassVar[str] = "mail"

    async def run(self) -> None:
        """Never started."""

    async def stop(self) -> None:
        """Never started."""

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        return []


class Nameless(Mail):
    name: ClassVar[str] = "Not A Name"


def plugin(hook: str, result: Any, *, broken: bool = False) -> object:
    """Make a plugin with one hook; `broken` raises the result."""

    def implementation(self: object) -> Any:
        if broken:
            raise result
        return result

    return type("Made", (), {hook: hookimpl(implementation)})()


def runtime(**plugins: object) -> HookRuntime:
    made = HookRuntime()
    for name, one in plugins.items():
        made.register(one, name)
    return made


TOOL = Tool("mail.send", "Send it.", NoArguments, ran)

WRONG = [
    ("resolve_session", 7),
    ("load_state", "no dict"),
    ("load_state", [("a", 1)]),
    ("build_prompt", 7),
    ("build_prompt", [7]),
    ("run_model", {"text": "x"}),
    ("run_model_stream", "text"),
    ("run_model_stream", iter("text")),
    ("system_prompt", 7),
    ("system_prompt", ["be polite"]),
    ("provide_tape_store", "sqlite:///x.db"),
    ("provide_tape_store", MemoryStore),
    ("build_tape_context", to_messages),
    ("build_tape_context", TapeContext(7, to_messages)),  # type: ignore[arg-type]
    ("build_tape_context", TapeContext(LATEST, "all")),  # type: ignore[arg-type]
    ("admit_message", "banana"),
    ("admit_message", True),
]


@pytest.mark.parametrize(("hook", "result"), WRONG)
async def test_a_wrong_result_counts_as_none_and_the_plugin_is_named(
    hook: str, result: Any
) -> None:
    hooks = runtime(good=plugin(hook, None), bad=plugin(hook, result))
    with capture_logs() as logs:
        assert await hooks.call_first(hook) is None
        assert await hooks.call_many(hook) == [None, None]
    (finding,) = hooks.findings
    assert (finding.plugin, finding.hook) == ("bad", hook)
    assert finding.remedy.endswith(".")
    assert [(log["event"], log["plugin"], log["hook"]) for log in logs] == [
        ("hook.result_refused", "bad", hook)
    ]


async def test_after_a_wrong_result_the_next_plugin_is_asked() -> None:
    hooks = runtime(next=plugin("admit_message", "steer"), bad=plugin("admit_message", "stear"))
    assert await hooks.call_first("admit_message") == "steer"
    assert "process, drop, follow_up, steer, interrupt" in hooks.findings[0].remedy


async def test_the_builtin_plugin_is_not_checked() -> None:
    assert await runtime(builtin=plugin("system_prompt", 7)).call_first("system_prompt") == 7


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (ran, "the function ran"),
        (TOOL, "a Tool"),
        ("mail.send", "a str"),
        ({"mail.send": TOOL}, "a dict"),
        ([ran], "the function ran among its tools"),
        ([Tool], "the class Tool among its tools"),
        ([Tool("", "Send it.", NoArguments, ran)], "its name"),
        ([Tool("m", None, NoArguments, ran)], "its description"),  # type: ignore[arg-type]
        ([Tool("m", "Send it.", dict, ran)], "not a model"),  # type: ignore[arg-type]
        ([Tool("m", "Send it.", Unwritable, ran)], "no JSON schema"),
        ([Tool("m", "Send it.", NoArguments, plain)], "async"),  # type: ignore[arg-type]
        ([Tool("m", "Send it.", NoArguments, ran, role=3)], "role"),  # type: ignore[arg-type]
        ([Tool("m", "Send it.", NoArguments, ran, chats="all")], "chats"),  # type: ignore[arg-type]
    ],
)
async def test_what_is_no_tool_is_left_out(result: Any, problem: str) -> None:
    hooks = runtime(good=plugin("provide_tools", [TOOL]), bad=plugin("provide_tools", result))
    assert await hooks.tools() == [TOOL]
    assert problem in str(hooks.findings[0])


async def test_the_good_tools_of_a_list_stay() -> None:
    hooks = runtime(mixed=plugin("provide_tools", (ran, TOOL)))
    assert await hooks.tools() == [TOOL]


async def test_a_name_that_collides_on_the_wire_is_left_out_and_a_builtin_tool_stays() -> None:
    dotted = next(tool for tool in BUILTIN_TOOLS if "." in tool.name)
    rival = Tool(dotted.wire_name, "Mine.", NoArguments, ran)
    hooks = runtime(
        builtin=plugin("provide_tools", [dotted]),
        first=plugin("provide_tools", [Tool("mail_send", "Mine.", NoArguments, ran)]),
        second=plugin("provide_tools", [rival, TOOL]),
    )
    assert {tool.name for tool in await hooks.tools()} == {dotted.name, TOOL.name}
    assert [finding.plugin for finding in hooks.findings] == ["second", "first"]


async def test_a_plugin_may_replace_a_builtin_tool_by_its_name() -> None:
    own = Tool(TOOL.name, "Mine.", NoArguments, ran, role=Role.OWNER)
    hooks = runtime(builtin=plugin("provide_tools", [TOOL]), own=plugin("provide_tools", [own]))
    assert await hooks.tools() == [own]
    assert hooks.findings == []


@pytest.mark.parametrize(
    ("result", "problem"),
    [
        (Mail(), "a Mail"),
        ([Mail], "the class Mail among its channels"),
        ([Nameless()], "'Not A Name'"),
        ("mail", "a str"),
    ],
)
async def test_what_is_no_channel_is_left_out(result: Any, problem: str) -> None:
    mail = Mail()
    hooks = runtime(good=plugin("provide_channels", [mail]), bad=plugin("provide_channels", result))
    assert [one for some in await hooks.call_many("provide_channels") for one in some] == [mail]
    assert problem in str(hooks.findings[0])


@pytest.mark.parametrize("hook", ["provide_channels", "provide_tools", "register_cli_commands"])
async def test_a_contribution_that_raises_is_left_out(hook: str) -> None:
    good: dict[str, Any] = {"provide_channels": [Mail()], "provide_tools": [TOOL]}
    bad = plugin(hook, RuntimeError("no such folder"), broken=True)
    hooks = runtime(good=plugin(hook, good.get(hook)), bad=bad)
    assert await hooks.call_many(hook) == [None, good.get(hook)]
    assert hooks.call_many_sync(hook) == [None, good.get(hook)]
    assert [finding.problem for finding in hooks.findings] == [
        "raised RuntimeError: no such folder"
    ]


async def test_a_store_that_cannot_be_opened_stops_the_start_with_a_sentence() -> None:
    hooks = runtime(bad=plugin("provide_tape_store", OSError("no disk"), broken=True))
    with pytest.raises(GatewayError, match=r"plugin bad .*no disk.*uninstall"):
        await hooks.call_first("provide_tape_store")


async def test_another_hook_s_error_is_raised_as_before() -> None:
    hooks = runtime(bad=plugin("system_prompt", RuntimeError("broken"), broken=True))
    with pytest.raises(RuntimeError, match="broken"):
        await hooks.call_many("system_prompt")


@pytest.mark.parametrize(
    "shown", [None, "text", ["text"], [{"content": "no role"}], ({"role": "user"},)]
)
async def test_a_view_of_the_wrong_type_is_refused(shown: Any) -> None:
    hooks = runtime(bad=plugin("build_tape_context", TapeContext(None, lambda _entries: shown)))
    context = await hooks.call_first("build_tape_context")
    with pytest.raises(ResultRefused):
        await context.messages([])
    assert "`select`" in hooks.findings[0].problem


async def test_a_view_may_come_from_an_async_select_that_gets_the_anchor_s_state() -> None:
    async def select(_entries: Sequence[Any], context: TapeContext) -> list[Any]:
        return [{"role": "system", "content": context.state["summary"]}]

    hooks = runtime(good=plugin("build_tape_context", TapeContext(select=select)))
    context = await hooks.call_first("build_tape_context")
    start = Entry(1, "anchor", {"name": "a", "state": {"summary": "tea"}}, {}, "")
    assert await context.messages([start]) == [{"role": "system", "content": "tea"}]
    assert hooks.findings == []


async def test_wrong_events_of_a_stream_are_left_out() -> None:
    async def stream() -> AsyncIterator[Any]:
        events: list[Any] = ["he", 7, {"kind": "text", "data": {"delta": "llo"}}, {"data": {}}]
        for event in events:
            yield event

    hooks = runtime(bad=plugin("run_model_stream", stream()))
    found = [event async for event in await hooks.call_first("run_model_stream")]
    assert found == ["he", {"kind": "text", "data": {"delta": "llo"}}]
    assert [finding.problem for finding in hooks.findings] == ["yielded an int", "yielded a dict"]


@pytest.mark.parametrize(
    "wrong",
    [
        7,
        ran,
        {},
        {"text": 7},
        {"text": "x", "chat_id": 7},
        {"text": "x", "reply_to": 7},
        {"text": "x", "kind": "shout"},
        OutboundMessage("mail", "1", None),  # type: ignore[arg-type]
    ],
)
async def test_what_cannot_be_sent_is_left_out_of_what_is(wrong: Any) -> None:
    good = ["text", {"content": "more"}, OutboundMessage("mail", "1", "other"), None]
    hooks = runtime(bad=plugin("render_outbound", [wrong, *good]))
    assert await hooks.call_many("render_outbound") == [good]
    assert len(hooks.findings) == 1


async def test_a_wrapper_hook_is_left_out_and_named() -> None:
    class Wraps:
        @hookimpl(wrapper=True)
        def system_prompt(self) -> Any:
            return (yield)

    class WrapsOld:
        @hookimpl(hookwrapper=True)
        def system_prompt(self) -> Any:
            yield

    hooks = runtime(good=plugin("system_prompt", "Hi."), bad=Wraps(), old=WrapsOld())
    assert await hooks.call_many("system_prompt") == ["Hi."]
    assert [(finding.plugin, finding.hook) for finding in hooks.findings] == [
        ("bad", "system_prompt"),
        ("old", "system_prompt"),
    ]


async def test_a_problem_is_logged_once() -> None:
    hooks = runtime(bad=plugin("admit_message", "banana"))
    with capture_logs() as logs:
        for _time in range(3):
            await hooks.call_first("admit_message")
    assert len(logs) == 1
