"""Call sync and async hooks in priority order, each with only the arguments it declares.

Plugins that were registered later run first. Errors are raised, but those of `on_error` hooks are
only logged. An unusable result is reported and then treated as None.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pluggy

from agent.tool import Tool
from gateway.errors import GatewayError
from gateway.hooks.results import CHECKS, CONTRIBUTIONS, Check, Fault, Finding
from gateway.hooks.specs import NAMESPACE, TapewaySpec
from gateway.logs import get_log

BUILTIN: Final = "builtin"
MAX_FINDINGS: Final = 100  # maximum findings kept and logged; further ones would be repetitions


@dataclass(frozen=True, slots=True)
class Implementation:
    """One plugin's implementation of a hook."""

    hook: str
    plugin_name: str
    impl: pluggy.HookImpl
    check: Check | None
    fault: Fault

    def checked(self, result: Any) -> Any:
        return result if self.check is None or result is None else self.check(result, self.fault)

    def failed(self, cause: Exception) -> None:
        """Report an error in a hook that contributes something, such as tools or channels."""
        problem = f"raised {type(cause).__name__}: {cause}"
        self.fault(problem, "Fix the error; until then, nothing of it is used.")


class HookRuntime:
    """The plugins and their hooks; `findings` lists the problems found so far."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(NAMESPACE)
        self.manager.add_hookspecs(TapewaySpec)
        self.findings: list[Finding] = []
        self._implementations: dict[str, tuple[Implementation, ...]] = {}

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin, which runs before those that are already registered."""
        if self.manager.has_plugin(name):
            raise ValueError(f"another plugin is named {name} already: rename one")
        self._implementations.clear()
        try:
            self.manager.register(plugin, name)
            self.manager.check_pending()
        except Exception:
            self.manager.unregister(name=name)
            raise
        for caller in self.manager.get_hookcallers(plugin) or ():
            for impl in caller.get_hookimpls():
                if impl.plugin is plugin and _is_wrapper(impl):
                    remedy = "Tapeway calls each implementation itself: write it without `wrapper`."
                    self.report(name, caller.name, "is a wrapper", remedy)

    def names(self) -> list[str]:
        """Return the plugins' names in the order in which they run."""
        return [name for name, _plugin in reversed(self.manager.list_name_plugin())]

    def implementations(self, hook: str) -> tuple[Implementation, ...]:
        """Return a hook's implementations in the order in which they run."""
        found = self._implementations.get(hook)
        if found is None:
            caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
            found = tuple(
                self._implementation(hook, impl)
                for impl in reversed(caller.get_hookimpls())
                if not _is_wrapper(impl)
            )
            self._implementations[hook] = found
        return found

    def of_plugin(self, name: str, hook: str) -> Implementation | None:
        """Return a plugin's own implementation of a hook, or None."""
        found = (impl for impl in self.implementations(hook) if impl.plugin_name == name)
        return next(found, None)

    async def call_first(self, hook: str, **arguments: Any) -> Any:
        """Return the first result that is not None, and skip the remaining implementations."""
        for implementation in self.implementations(hook):
            result = await call(implementation, arguments)
            if result is not None:
                return result
        return None

    async def call_many(self, hook: str, **arguments: Any) -> list[Any]:
        """Return every result, including None, in the order of the calls."""
        return [await call(found, arguments) for found in self.implementations(hook)]

    async def contributions(self, hook: str) -> list[tuple[Implementation, Any]]:
        """Return each implementation together with its result."""
        return [(found, await call(found, {})) for found in self.implementations(hook)]

    def call_first_sync(self, hook: str, **arguments: Any) -> Any:
        """Do what `call_first` does, for a sync caller: awaitables are skipped and logged."""
        for implementation in self.implementations(hook):
            _answered, result = _call_sync(implementation, arguments)
            if result is not None:
                return result
        return None

    def call_many_sync(self, hook: str, **arguments: Any) -> list[Any]:
        """Do what `call_many` does, for a sync caller: awaitables are skipped and logged."""
        results = []
        for implementation in self.implementations(hook):
            answered, result = _call_sync(implementation, arguments)
            results += [result] if answered else []
        return results

    async def tools(self) -> list[Tool]:
        """Return every plugin's tools; if several have the same name, the first one is used.

        Two names may also look the same to providers. A builtin tool then wins over a plugin's
        tool, and an earlier plugin's tool wins over a later one's.
        """
        found: dict[str, tuple[Implementation, Tool]] = {}
        for source, tools in await self.contributions("provide_tools"):
            for tool in tools or ():
                found.setdefault(tool.name, (source, tool))
        chosen: dict[str, Tool] = {}
        for source, tool in sorted(found.values(), key=lambda pair: pair[0].plugin_name != BUILTIN):
            rival = chosen.setdefault(tool.wire_name, tool)
            if rival is not tool:
                names = f"{tool.name!r}, which looks like {rival.name!r} to providers"
                remedy = "Rename the tool: dots and other signs become underscores."
                source.fault(f"returned the tool {names}", remedy)
        return list(chosen.values())

    async def notify_error(self, stage: str, error: BaseException, message: Any) -> None:
        """Pass an error to every observer; if an observer itself raises an error, log it."""
        arguments = {"stage": stage, "error": error, "message": message}
        for implementation in self.implementations("on_error"):
            try:
                await call(implementation, arguments)
            except Exception as cause:
                plugin = implementation.plugin_name
                get_log().error("hook.on_error_failed", plugin=plugin, exc_info=cause)

    def report(self, plugin: str, hook: str, problem: str, remedy: str) -> None:
        """Record and log a problem with a plugin, but only once."""
        finding = Finding(plugin, hook, problem, remedy)
        if finding not in self.findings and len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)
            get_log().error(
                "hook.result_refused", plugin=plugin, hook=hook, problem=problem, remedy=remedy
            )

    def _implementation(self, hook: str, impl: pluggy.HookImpl) -> Implementation:
        name = impl.plugin_name
        # Our own results are typed, and a stream has too many events to check them twice.
        check = None if name == BUILTIN else CHECKS.get(hook)
        return Implementation(hook, name, impl, check, partial(self.report, name, hook))


async def call(implementation: Implementation, arguments: dict[str, Any]) -> Any:
    """Call an implementation, and return its result or the usable part of it."""
    try:
        result = _called(implementation, arguments)
        if inspect.isawaitable(result):
            result = await result
    except Exception as cause:
        if implementation.hook == "provide_tape_store":
            # If another store replaced this one, the agent would answer from empty tapes.
            raise GatewayError(
                f"the plugin {implementation.plugin_name} cannot open its tape store"
                f" ({type(cause).__name__}: {cause}): fix the cause, or uninstall the plugin"
            ) from cause
        if implementation.hook not in CONTRIBUTIONS:
            raise
        implementation.failed(cause)
        return None
    return implementation.checked(result)


def _called(implementation: Implementation, arguments: dict[str, Any]) -> Any:
    impl = implementation.impl
    return impl.function(*(arguments[name] for name in impl.argnames))


def _call_sync(implementation: Implementation, arguments: dict[str, Any]) -> tuple[bool, Any]:
    try:
        result = _called(implementation, arguments)
    except Exception as cause:
        if implementation.hook not in CONTRIBUTIONS:
            raise
        implementation.failed(cause)
        return True, None
    if not inspect.isawaitable(result):
        return True, implementation.checked(result)
    if inspect.iscoroutine(result):
        result.close()
    get_log().warning(
        "hook.awaitable_skipped", hook=implementation.hook, plugin=implementation.plugin_name
    )
    return False, None


def _is_wrapper(impl: pluggy.HookImpl) -> bool:
    return bool(impl.wrapper or impl.hookwrapper)
