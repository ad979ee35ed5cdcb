"""The decorator `@tool` turns a typed async function with a docstring into a tool."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, get_type_hints, overload

from pydantic import BaseModel, create_model
from pydantic.errors import PydanticUserError

from agent.tool import Arguments, Chats, Role, Tool, ToolContext, wire_name

Function = Callable[..., Awaitable[object]]


@overload
def tool(function: Function, /) -> Tool: ...


@overload
def tool(
    *,
    name: str = "",
    role: Role = Role.MEMBER,
    side_effects: bool | None = None,
    chats: Chats = Chats.ALL,
    repeatable: bool | None = None,
    timeout: float | None = None,
    first: bool = False,
    confirm: Callable[[Any, ToolContext], bool] | None = None,
    taints: str = "tool",
) -> Callable[[Function], Tool]: ...


def tool(
    function: Function | None = None,
    /,
    *,
    side_effects: bool | None = None,
    repeatable: bool | None = None,
    **options: Any,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of an async function, as `@tool` or `@tool(...)`.

    The parameters become the arguments' schema, and the docstring's first paragraph the
    description. A parameter annotated `ToolContext` gets the context instead. Raises TypeError for
    a function that cannot be a tool.

    name          the dotted name; empty means the function's name
    side_effects  whether the tool changes anything; a tool that says nothing changes nothing
    repeatable    whether a resumed turn may run the tool again; by default only if the tool says
                  that it has no side effects

    The other options are those of `Tool`.
    """

    def decorate(function: Function) -> Tool:
        again = repeatable if repeatable is not None else side_effects is False
        said = {"side_effects": bool(side_effects), "repeatable": again}
        return _made(function, {**said, **options})

    return decorate if function is None else decorate(function)


def _made(function: Function, options: dict[str, Any]) -> Tool:
    if not inspect.iscoroutinefunction(function):
        raise _unfit(function, "isn't async: declare it with `async def`")
    description = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
    if not description:
        raise _unfit(function, "has no docstring: say in one what the tool does, for the model")
    name = options.pop("name", "") or function.__name__
    if wire_name(name) != name.replace(".", "_"):
        raise _unfit(
            function, f"can't be named {name!r}: use at most 64 letters, digits, '.', '_' and '-'"
        )
    arguments, context = _arguments(function)
    made = Tool(name, description, arguments, _runner(function, arguments, context), **options)
    try:
        made.schema()
    except PydanticUserError as cause:
        raise _unfit(function, f"has a parameter without a JSON schema: {cause.message}") from cause
    return made


def _runner(
    function: Function, arguments: type[BaseModel], context_name: str
) -> Callable[[Any, ToolContext], Awaitable[object]]:
    names = tuple(arguments.model_fields)

    async def run(checked: BaseModel, context: ToolContext) -> object:
        given = {name: getattr(checked, name) for name in names}
        return await function(**given, **({context_name: context} if context_name else {}))

    return run


def _arguments(function: Function) -> tuple[type[BaseModel], str]:
    """Return a class for a function's arguments, and the name of its context parameter."""
    hints = _hints(function)
    fields: dict[str, Any] = {}
    contexts: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        _check(function, parameter, hints)
        if hints[parameter.name] is ToolContext:
            contexts.append(parameter.name)
        else:
            hint, default = hints[parameter.name], parameter.default
            fields[parameter.name] = hint if default is parameter.empty else (hint, default)
    if len(contexts) > 1:
        raise _unfit(function, f"takes the ToolContext twice ({', '.join(contexts)}): keep one")
    try:
        made = create_model(f"{function.__name__}_arguments", __base__=Arguments, **fields)
    except PydanticUserError as cause:
        raise _unfit(function, f"has a parameter that pydantic refuses: {cause.message}") from cause
    return made, "".join(contexts)


def _hints(function: Function) -> Mapping[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as cause:
        raise _unfit(
            function,
            f"has an annotation that can't be resolved ({cause}): import or define its"
            " type at the top of the module, outside `if TYPE_CHECKING`",
        ) from cause


def _check(function: Function, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> None:
    name = parameter.name
    shown = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise _unfit(function, f"takes {shown}: give each argument a name of its own")
    if name not in hints:
        raise _unfit(function, f"has the parameter {name} without a type: annotate it")
    # pydantic would hide such a parameter, or a method of its own behind the parameter.
    if name.startswith(("_", "model_")) or hasattr(Arguments, name):
        raise _unfit(function, f"has the parameter {name}, a name that pydantic uses: rename it")


def _unfit(function: Function, why: str) -> TypeError:
    name = getattr(function, "__qualname__", repr(function))
    return TypeError(f"the tool function {name} {why}")
