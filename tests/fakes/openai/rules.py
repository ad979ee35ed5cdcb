"""The bodies a chat completions API refuses, with the real statuses, wordings and codes.

Each `_..._faults` generator yields what is wrong in the order the API looks; only the first
fault is ever taken, so the code after a `yield` may rely on that fault being absent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from tests.fakes.openai.script import Failure, JsonObject

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_NAME_LENGTH = 64


def key_refusal(authorization: str | None, api_key: str | None) -> Failure | None:
    """Return the 401 for a missing or wrong `Authorization` header, None if it is right.

    With no `api_key` every client is welcome.
    """
    if api_key is None or authorization == f"Bearer {api_key}":
        return None
    if not authorization:
        return Failure(401, "You didn't provide an API key.", "invalid_api_key")
    return Failure(401, "Incorrect API key provided.", "invalid_api_key")


def body_refusal(body: JsonObject | None, models: Collection[str] | None) -> Failure | None:
    """Return the first thing wrong with a body, None if it is acceptable.

    `body` is None when the bytes were no JSON object. Any model is known if `models` is None.
    Top-level keys the API does not know are let through.
    """
    if body is None:
        return Failure(400, "We could not parse the JSON body of your request.")
    return next(_faults(body, models), None)


def _faults(body: JsonObject, models: Collection[str] | None) -> Iterator[Failure]:
    yield from _model_faults(body.get("model"), models)
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        yield Failure(400, message, param="stream_options")
    yield from _message_faults(body.get("messages"))
    if body.get("tools") is not None:
        yield from _tool_faults(body["tools"])


def _model_faults(model: object, models: Collection[str] | None) -> Iterator[Failure]:
    if not isinstance(model, str) or not model:
        yield Failure(400, "you must provide a model parameter")
    elif models is not None and model not in models:
        message = f"The model `{model}` does not exist or you do not have access to it."
        yield Failure(404, message, "model_not_found")


def _message_faults(messages: object) -> Iterator[Failure]:
    yield from _list_faults(messages, "messages")
    assert isinstance(messages, list)
    for index, message in enumerate(messages):
        yield from _one_message_faults(message, f"messages[{index}]")
    yield from _pairing_faults(messages)


def _one_message_faults(message: object, where: str) -> Iterator[Failure]:
    if not isinstance(message, dict):
        yield _wrong_type(where, "an object", message)
    assert isinstance(message, dict)
    if "role" not in message:
        yield _missing(f"{where}.role")
    if message["role"] not in _ROLES:
        supported = f"{', '.join(map(repr, _ROLES[:-1]))}, and {_ROLES[-1]!r}"
        wording = f"Invalid value: '{message['role']}'. Supported values are: {supported}."
        yield Failure(400, wording, "invalid_value", param=f"{where}.role")
    calls = message.get("tool_calls") if message["role"] == "assistant" else None
    yield from _content_faults(message.get("content"), calls is not None, where)
    if calls is not None:
        yield from _call_faults(calls, f"{where}.tool_calls")


def _content_faults(content: object, calls: bool, where: str) -> Iterator[Failure]:
    if content is None and not calls:
        message = "Invalid value for 'content': expected a string, got null."
        yield Failure(400, message, param=f"{where}.content")
    if isinstance(content, list):
        yield from _list_faults(content, f"{where}.content")
        if not all(isinstance(part, dict) and "type" in part for part in content):
            yield _missing(f"{where}.content[0].type")
    elif not isinstance(content, str | None):
        yield _wrong_type(f"{where}.content", "one of a string or array of objects", content)


def _call_faults(calls: object, where: str) -> Iterator[Failure]:
    yield from _list_faults(calls, where)
    assert isinstance(calls, list)
    for index, call in enumerate(calls):
        yield from _function_faults(call, f"{where}[{index}]")
        if not isinstance(call.get("id"), str):
            yield _missing(f"{where}[{index}].id")
        arguments = call["function"].get("arguments")
        if not isinstance(arguments, str):
            yield _wrong_type(f"{where}[{index}].function.arguments", "a string", arguments)


def _pairing_faults(messages: list[JsonObject]) -> Iterator[Failure]:
    """Yield tool messages without their call, and calls without their tool message."""
    asked: list[str] | None = None
    unanswered: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages.[{index}]"
        if message["role"] == "tool":
            yield from _answer_faults(message.get("tool_call_id"), asked, where)
            unanswered = [id_ for id_ in unanswered if id_ != message["tool_call_id"]]
            continue
        yield from _unanswered_faults(unanswered, f"{where}.role")
        calls = message.get("tool_calls") if message["role"] == "assistant" else None
        asked = [call["id"] for call in calls] if calls else None
        unanswered = list(asked or ())
    yield from _unanswered_faults(unanswered, "messages")


def _answer_faults(call_id: object, asked: list[str] | None, where: str) -> Iterator[Failure]:
    if not isinstance(call_id, str) or not call_id:
        message = (
            "Missing parameter 'tool_call_id': messages with role 'tool' must have a "
            "'tool_call_id'."
        )
        yield Failure(400, message, param=f"{where}.tool_call_id")
    if asked is None:
        # The spelling of "preceeding" is the API's.
        message = (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding "
            "message with 'tool_calls'."
        )
        yield Failure(400, message, param=f"{where}.role")
    elif call_id not in asked:
        message = (
            f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of "
            "previous message."
        )
        yield Failure(400, message, param=f"{where}.tool_call_id")


def _unanswered_faults(unanswered: list[str], param: str) -> Iterator[Failure]:
    if unanswered:
        message = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding "
            "to each 'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(unanswered)}"
        )
        yield Failure(400, message, param=param)


def _tool_faults(tools: object) -> Iterator[Failure]:
    yield from _list_faults(tools, "tools")
    assert isinstance(tools, list)
    seen: set[str] = set()
    for index, tool in enumerate(tools):
        yield from _function_faults(tool, f"tools[{index}]")
        name = tool["function"]["name"]
        if name in seen:
            yield Failure(400, "Tool names must be unique.", param=f"tools[{index}].function.name")
        seen.add(name)
        if "parameters" in tool["function"]:
            where = f"tools[{index}].function.parameters"
            yield from _schema_faults(tool["function"]["parameters"], name, where)


def _function_faults(holder: object, where: str) -> Iterator[Failure]:
    """Yield what is wrong with the function of a tool, or of a call to one."""
    if not isinstance(holder, dict):
        yield _wrong_type(where, "an object", holder)
    assert isinstance(holder, dict)
    if holder.get("type") != "function":
        yield _missing(f"{where}.type")
    function = holder.get("function")
    if not isinstance(function, dict):
        yield _missing(f"{where}.function")
    assert isinstance(function, dict)
    yield from _name_faults(function.get("name"), f"{where}.function.name")


def _name_faults(name: object, where: str) -> Iterator[Failure]:
    if not isinstance(name, str):
        yield _missing(where)
    assert isinstance(name, str)
    if not _NAME.fullmatch(name):
        message = (
            f"Invalid '{where}': string does not match pattern. Expected a string that matches "
            "the pattern '^[a-zA-Z0-9_-]+$'."
        )
        yield Failure(400, message, "invalid_value", param=where)
    if len(name) > _NAME_LENGTH:
        message = (
            f"Invalid '{where}': string too long. Expected a string with maximum length "
            f"{_NAME_LENGTH}, but got a string with length {len(name)} instead."
        )
        yield Failure(400, message, "string_above_max_length", param=where)


def _schema_faults(schema: object, name: str, where: str) -> Iterator[Failure]:
    kind = schema.get("type") if isinstance(schema, dict) else None
    problem = None
    if not isinstance(schema, dict) or kind != "object":
        problem = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{kind}\"'."
    elif not isinstance(schema.get("properties"), dict):
        # A function of no arguments must still say `"properties": {}`.
        problem = "In context=(), object schema missing properties."
    if problem is not None:
        message = f"Invalid schema for function '{name}': {problem}"
        yield Failure(400, message, "invalid_function_parameters", param=where)


def _list_faults(value: object, where: str) -> Iterator[Failure]:
    if value is None:
        yield _missing(where)
    if not isinstance(value, list):
        yield _wrong_type(where, "an array of objects", value)
    if not value:
        message = (
            f"Invalid '{where}': empty array. Expected an array with minimum length 1, but got "
            "an empty array instead."
        )
        yield Failure(400, message, "empty_array", param=where)


def _missing(where: str) -> Failure:
    message = f"Missing required parameter: '{where}'."
    return Failure(400, message, "missing_required_parameter", param=where)


def _wrong_type(where: str, expected: str, value: object) -> Failure:
    message = f"Invalid type for '{where}': expected {expected}, but got {value!r:.40} instead."
    return Failure(400, message, "invalid_type", param=where)
