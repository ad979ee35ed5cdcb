"""Put the fragments of tool calls together, however a server numbers and names them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson

from agent.errors import AnswerBroken
from agent.model import ToolCall
from agent.models.chunks import shown
from agent.models.extras import CALL, Extras


@dataclass(slots=True)
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: Extras = field(default_factory=lambda: Extras(CALL))

    def complete(self) -> bool:
        try:
            return isinstance(orjson.loads("".join(self.arguments)), dict)
        except orjson.JSONDecodeError:
            return False

    def is_another(self, call_id: str, name: str, *, indexed: bool, more: bool) -> bool:
        """Return whether a fragment with this id and name begins a call of its own."""
        if call_id and self.id and call_id != self.id and (name or not indexed):
            return True
        if indexed and call_id and call_id == self.id and not more:
            return False
        return bool(name and self.name) and (name != self.name or self.complete())


@dataclass(slots=True)
class CallCollector:
    """Collects the calls of one answer.

    A fragment goes on with the call of its index, else of its id, else with the last one; a new id
    or name begins a call, because some servers give all parallel calls the index 0.
    """

    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[str, _Call] = field(default_factory=dict)

    def add(self, fragments: object) -> None:
        """Add the fragments of one delta; raises AnswerBroken for what can't be understood."""
        for fragment in _listed(fragments):
            self._add(fragment)

    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls, each with an id of its own."""
        found: dict[str, ToolCall] = {}
        for call in self._calls:
            if call.name:
                one = call.id or f"call_{uuid4().hex[:12]}"
                number = 2
                while one in found:
                    one, number = f"{call.id}_{number}", number + 1
                arguments = "".join(call.arguments) or "{}"
                found[one] = ToolCall(one, call.name, arguments, call.extra.whole(join=False))
        return tuple(found.values())

    def _add(self, fragment: Mapping[str, Any]) -> None:
        function = fragment.get("function")
        if not isinstance(function, Mapping):
            function = fragment
        name, call_id = _text(function.get("name")), _text(fragment.get("id"))
        call = self._find(
            _text(fragment.get("index")), call_id, name, more=bool(function.get("arguments"))
        )
        call.id, call.name = call.id or call_id, name or call.name
        call.extra.add(fragment)
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            call.arguments.append(arguments)
        elif arguments:
            call.arguments = [_dumped(arguments)]

    def _find(self, index: str, call_id: str, name: str, *, more: bool) -> _Call:
        if index:
            call = self._by_index.get(index)
        else:
            same = (one for one in reversed(self._calls) if call_id and one.id == call_id)
            call = next(same, self._calls[-1] if self._calls else None)
        if call is None or call.is_another(call_id, name, indexed=bool(index), more=more):
            call = _Call()
            self._calls.append(call)
        if index:
            self._by_index[index] = call
        return call


def _listed(fragments: object) -> Iterable[Mapping[str, Any]]:
    if isinstance(fragments, Mapping):
        one = "function" in fragments or "name" in fragments
        fragments = [fragments] if one else list(fragments.values())
    found: list[Any] = fragments if isinstance(fragments, list) else [fragments]
    given = [fragment for fragment in found if fragment is not None]
    if not all(isinstance(fragment, Mapping) for fragment in given):
        raise AnswerBroken(f"the answer's tool calls are {shown(fragments)}")
    return given


def _text(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) else ""


def _dumped(arguments: object) -> str:
    try:
        return orjson.dumps(arguments).decode()
    except TypeError:
        raise AnswerBroken("the arguments of a tool call are nested too deeply") from None
