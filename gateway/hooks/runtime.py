"""Calling hooks: in priority order, sync and async alike, each with the arguments that it names.

Later plugins run first. Errors of ordinary hooks are raised; those of `on_error` observers are
logged, so that none of them hides another or the error itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Final

import pluggy

from gateway.hooks.specs import NAMESPACE, TapewaySpec
from gateway.logs import get_log


class HookRuntime:
    """The plugins and their hooks."""

    def __init__(self) -> None:
        self.manager = pluggy.PluginManager(NAMESPACE)
        self.manager.add_hookspecs(TapewaySpec)

    def register(self, plugin: object, name: str) -> None:
        """Add a plugin; it runs before those that are there."""
        self.manager.register(plugin, name)
        try:
            self.manager.check_pending()
        except Exception:
            self.manager.unregister(name=name)
            raise

    def names(self) -> list[str]:
        """Return the names of the plugins, first to run first."""
        return [name for name, _plugin in reversed(self.manager.list_name_plugin())]

    def implementations(self, hook: str) -> Iterator[pluggy.HookImpl]:
        """Give the implementations of a hook in the order in which they run."""
        caller: pluggy.HookCaller = getattr(self.manager.hook, hook)
        return reversed(caller.get_hookimpls())

    def of_plugin(self, name: str, hook: str) -> pluggy.HookImpl | None:
        """Return a plugin's own implementation of a hook."""
        found = (impl for impl in self.implementations(hook) if impl.plugin_name == name)
        return next(found, None)

    async def call_first(self, hook: str, **arguments: Any) -> Any:
        """Return the first result that is not None; later implementations are not called."""
        for implementation in self.implementations(hook):
            result = await call(implementation, arguments)
            if result is not None:
                return result
        return None

    async def call_many(self, hook: str, **arguments: Any) -> list[Any]:
        """Return every result, None included, in the order of the calls."""
        return [await call(found, arguments) for found in self.implementations(hook)]

    def call_first_sync(self, hook: str, **arguments: Any) -> Any:
        """Do as `call_first` where nobody can wait: what must be awaited is skipped."""
        for implementation in self.implementations(hook):
            result = _call_sync(hook, implementation, arguments)
            if result is not None and result is not _SKIPPED:
                return result
        return None

    def call_many_sync(self, hook: str, **arguments: Any) -> list[Any]:
        """Do as `call_many` where nobody can wait: what must be awaited is left out."""
        results = []
        for implementation in self.implementations(hook):
            result = _call_sync(hook, implementation, arguments)
            if result is not _SKIPPED:
                results.append(result)
        return results

    async def notify_error(self, stage: str, error: BaseException, message: Any) -> None:
        """Tell every observer of an error; an observer's own error is logged."""
        arguments = {"stage": stage, "error": error, "message": message}
        for implementation in self.implementations("on_error"):
            try:
                await call(implementation, arguments)
            except Exception as cause:
                get_log().error(
                    "hook.on_error_failed", plugin=implementation.plugin_name, exc_info=cause
                )


_SKIPPED: Final = object()
"""What a skipped awaitable gives instead of a result."""


async def call(implementation: pluggy.HookImpl, arguments: dict[str, Any]) -> Any:
    """Call one implementation and wait for what it gives."""
    result = implementation.function(*(arguments[name] for name in implementation.argnames))
    return await result if inspect.isawaitable(result) else result


def _call_sync(hook: str, implementation: pluggy.HookImpl, arguments: dict[str, Any]) -> Any:
    result = implementation.function(*(arguments[name] for name in implementation.argnames))
    if not inspect.isawaitable(result):
        return result
    if inspect.iscoroutine(result):
        result.close()
    get_log().warning("hook.awaitable_skipped", hook=hook, plugin=implementation.plugin_name)
    return _SKIPPED
