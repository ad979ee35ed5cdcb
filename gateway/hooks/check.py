"""Call the plugins' hooks without running a gateway, to find problems."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

from agent.tools import BUILTIN_TOOLS
from gateway.hooks.results import ResultRefused
from gateway.hooks.runtime import BUILTIN, HookRuntime, call
from gateway.hooks.specs import hookimpl

ARGUMENTS: Final[dict[str, Any]] = {
    "message": {"channel": "check", "chat_id": "check", "text": "check"},
    "prompt": "check",
    "session_id": "check:check",
    "state": {},
}


class BuiltinTools:
    """Stands in for the builtin plugin, so that its tool names count as taken."""

    @hookimpl
    def provide_tools(self) -> list[Any]:
        return list(BUILTIN_TOOLS)


async def check_plugins(hooks: HookRuntime, app: Any, *, with_store: bool) -> None:
    """Call the hooks without side effects; `hooks.findings` then lists the problems.

    Commands are added to `app`. `with_store` opens the tape stores: no gateway may be running.
    """
    for name, plugin in hooks.manager.list_name_plugin():
        if not hooks.manager.get_hookcallers(plugin):
            hooks.report(name, "the plugin", "implements no hook", "Mark its methods @hookimpl.")
    hooks.register(BuiltinTools(), BUILTIN)
    await hooks.tools()
    await hooks.call_many("provide_channels")
    hooks.call_many_sync("register_cli_commands", app=app)
    await _results(hooks, "resolve_session")
    await _results(hooks, "system_prompt")
    for context in await _results(hooks, "build_tape_context"):
        with suppress(ResultRefused):
            await context.messages([])
    for store in await _results(hooks, "provide_tape_store") if with_store else ():
        await store.close()


async def _results(hooks: HookRuntime, hook: str) -> list[Any]:
    found = []
    for implementation in hooks.implementations(hook):
        try:
            found.append(await call(implementation, ARGUMENTS))
        except Exception as cause:
            implementation.failed(cause)
    return [result for result in found if result is not None]
