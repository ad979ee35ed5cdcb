"""The semantics of hooks, sentence by sentence."""

from __future__ import annotations

from typing import Any

import pluggy
import pytest
from structlog.testing import capture_logs

from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import hookimpl


class Sync:
    """Answers with its mark."""

    def __init__(self, mark: Any, calls: list[Any]) -> None:
        self.mark = mark
        self.calls = calls

    @hookimpl
    def resolve_session(self, message: Any) -> Any:
        self.calls.append(self.mark)
        return self.mark


class Async(Sync):
    """Answers with its mark, later."""

    @hookimpl
    async def resolve_session(self, message: Any) -> Any:
        self.calls.append(self.mark)
        return self.mark


def runtime(*plugins: object) -> HookRuntime:
    made = HookRuntime()
    for number, plugin in enumerate(plugins):
        made.register(plugin, f"p{number}")
    return made


async def test_later_plugins_run_first_and_the_first_result_ends_it() -> None:
    calls: list[Any] = []
    hooks = runtime(Sync("one", calls), Sync("two", calls), Async(None, calls))
    assert await hooks.call_first("resolve_session", message="m") == "two"
    assert calls == [None, "two"]


async def test_a_false_result_is_a_result_and_none_is_not() -> None:
    calls: list[Any] = []
    hooks = runtime(Sync("one", calls), Async("", calls))
    assert await hooks.call_first("resolve_session", message="m") == ""
    assert await runtime(Sync(None, [])).call_first("resolve_session", message="m") is None


async def test_call_many_returns_every_result_none_included_from_sync_and_async() -> None:
    hooks = runtime(Sync("one", []), Async(None, []), Async("three", []))
    assert await hooks.call_many("resolve_session", message="m") == ["three", None, "one"]


async def test_an_implementation_gets_only_the_arguments_that_it_names() -> None:
    class Picky:
        @hookimpl
        def save_state(self, model_output: str, session_id: str) -> tuple[str, str]:
            return (session_id, model_output)

    hooks = runtime(Picky())
    found = await hooks.call_many(
        "save_state", session_id="s", state={}, message=None, model_output="o"
    )
    assert found == [("s", "o")]


def test_an_argument_that_the_hook_has_not_is_refused_at_registration() -> None:
    class Wrong:
        @hookimpl
        def resolve_session(self, massage: Any) -> None:
            """Misspelt."""

    with pytest.raises(pluggy.PluginValidationError, match="massage"):
        runtime(Wrong())


async def test_an_error_of_an_ordinary_hook_is_raised() -> None:
    class Broken:
        @hookimpl
        async def resolve_session(self, message: Any) -> None:
            raise KeyError("broken")

    hooks = runtime(Sync("never", []), Broken())
    with pytest.raises(KeyError, match="broken"):
        await hooks.call_first("resolve_session", message="m")
    with pytest.raises(KeyError, match="broken"):
        await hooks.call_many("resolve_session", message="m")


async def test_on_error_observers_cannot_break_each_other() -> None:
    seen: list[tuple[str, str, Any]] = []

    class Observer:
        @hookimpl
        async def on_error(self, stage: str, error: BaseException, message: Any) -> None:
            seen.append((stage, str(error), message))

    class Broken:
        @hookimpl
        def on_error(self, stage: str) -> None:
            raise ValueError("an observer broke")

    hooks = runtime(Observer(), Broken(), Observer())
    with capture_logs() as logs:
        await hooks.notify_error("turn", RuntimeError("it"), "m")
    assert seen == [("turn", "it", "m")] * 2
    assert [log["event"] for log in logs] == ["hook.on_error_failed"]


def test_the_sync_variants_skip_an_awaitable_with_a_warning() -> None:
    hooks = runtime(Sync("one", []), Async("two", []), Sync(None, []))
    with capture_logs() as logs:
        assert hooks.call_first_sync("resolve_session", message="m") == "one"
        assert hooks.call_many_sync("resolve_session", message="m") == [None, "one"]
    assert [(log["event"], log["plugin"]) for log in logs] == [
        ("hook.awaitable_skipped", "p1"),
        ("hook.awaitable_skipped", "p1"),
    ]
