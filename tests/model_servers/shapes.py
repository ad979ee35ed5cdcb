"""A3: whatever comes back is understood where its meaning is plain."""

from __future__ import annotations

import re
from itertools import pairwise

import orjson

from tests.model_servers.scenario import Scenario
from tests.model_servers.wire import (
    DONE,
    JSON,
    Answer,
    Demand,
    Json,
    by_the_byte,
    call,
    calling,
    chunk,
    error,
    event,
    say,
    stream,
    whole,
    zipped,
)

NOON = "Noon\\."
ONE = call("tape_info", "{}", "call_1")
TWO = call("tape_search", '{"query":"lunch"}', "call_2")
LONG = "Lunch is at noon. " * 20_000
BODY = b"".join(say("Noon.").pieces)


def shaped(
    name: str, *answers: Answer, demands: tuple[Demand, ...] = (), **more: object
) -> Scenario:
    """Return a scenario whose last answer is plain."""
    fields = {"calls": len(answers), "sees": (NOON,), "demands": demands, **more}
    return Scenario(name, "A3", answers, **fields)  # type: ignore[arg-type]


def fragments(*parts: Json, finish: str = "tool_calls") -> Answer:
    """Return a step with the fragments of calls, one in each chunk."""
    return stream(*(chunk({"tool_calls": [one]}) for one in parts), chunk({}, finish))


def without(one: Json, *names: str) -> Json:
    return {name: value for name, value in one.items() if name not in names}


def last_step(body: Json) -> list[Json]:
    found = [one["tool_calls"] for one in body["messages"] if one.get("tool_calls")]
    return found[-1] if found else []


def made(*names: str) -> Demand:
    """Demand that the newest step had these calls, each with its own id and result."""

    def demand(body: Json) -> Answer | None:
        calls = last_step(body)
        if not calls:
            return None
        ids = [one["id"] for one in calls]
        results = [one["tool_call_id"] for one in body["messages"] if one["role"] == "tool"]
        if [one["function"]["name"] for one in calls] != list(names):
            return error(400, f"the calls were {calls}")
        if len({*ids}) != len(ids) or results[-len(ids) :] != ids:
            return error(400, f"ids {ids} and results {results}")
        return None

    return demand


def with_usage(usage: object) -> Answer:
    """Return an answer with that usage."""
    said = [chunk({"content": "Noon."}), chunk({}, "stop"), {**chunk({}), "choices": []}]
    return stream(*said[:-1], {**said[-1], "usage": usage})


def mistral_ids(body: Json) -> Answer | None:
    """Refuse ids as Mistral does."""
    for one in last_step(body):
        if not re.fullmatch("[a-zA-Z0-9]{9}", one["id"]):
            text = f"Tool call id was {one['id']} but must be a-z, A-Z, 0-9, with a length of 9."
            return _mistral_error(text, "3280")
    return None


def mistral_order(body: Json) -> Answer | None:
    """Refuse a user message after a tool message, as Mistral does."""
    roles = [one["role"] for one in body["messages"]]
    if ("tool", "user") in pairwise(roles):
        return _mistral_error("Unexpected role 'user' after role 'tool'", "3230")
    return None


def _mistral_error(text: str, code: str) -> Answer:
    body = {
        "object": "error", "message": text, "type": "invalid_request_message_order",
        "param": None, "code": code,
    }  # fmt: skip
    return Answer((orjson.dumps(body),), 400, (JSON,))


CALLS = (
    shaped("Arguments as an object", calling(call("tape_search", {"query": "lunch"})), say("Noon."),
           demands=(made("tape_search"),)),
    shaped("tool_calls as a dict",
           stream(chunk({"tool_calls": {"0": ONE, "1": TWO}}), chunk({}, "tool_calls")),
           say("Noon."),
           demands=(made("tape_info", "tape_search"),)),
    shaped("Parallel calls that all have index 0",
           fragments({"index": 0, **ONE}, {"index": 0, **TWO}), say("Noon."),
           demands=(made("tape_info", "tape_search"),)),
    shaped("Parallel calls without an index", fragments(ONE, TWO), say("Noon."),
           demands=(made("tape_info", "tape_search"),)),
    shaped("Fragments of arguments without an index",
           fragments(call("tape_search", '{"que', "call_1"),
                     {"function": {"arguments": 'ry":"x"}'}}),
           say("Noon."), demands=(made("tape_search"),)),
    shaped("The name in every fragment",
           fragments({"index": 0, **call("tape_search", '{"que')},
                     {"index": 0, "function": {"name": "tape_search", "arguments": 'ry":"x"}'}}),
           say("Noon."), demands=(made("tape_search"),)),
    shaped("Equal ids within a step",
           fragments({"index": 0, **ONE}, {"index": 1, **TWO, "id": "call_1"}), say("Noon."),
           demands=(made("tape_info", "tape_search"),)),
    shaped("Calls without ids",
           fragments({"index": 0, **without(ONE, "id")}, {"index": 1, **TWO, "id": ""}),
           say("Noon."),
           demands=(made("tape_info", "tape_search"),)),
    shaped("Calls that end with a plain stop", calling(ONE, finish="stop"), say("Noon."),
           demands=(made("tape_info"),)),
    shaped("Calls in one piece of JSON, without type", whole(
        {"content": None, "tool_calls": [without(ONE, "type")]}, "tool_calls"), say("Noon."),
           demands=(made("tape_info"),)),
    shaped("Arguments that are null", calling(call("tape_info", None)), say("Noon."),
           demands=(made("tape_info"),)),
    shaped("Arguments that are no JSON", calling(call("tape_search", "{query: lunch")),
           say("Noon.")),
    shaped("A tool that is not there", calling(call("get_weather", "{}")), say("Noon.")),
    shaped("Mistral: ids of nine letters and digits", calling(ONE), say("Noon."),
           demands=(mistral_ids,), refused=1, calls=3),
    Scenario("Mistral: a question after a tool message", "A3",
             (calling(ONE), error(500, "Service unavailable."), say("Noon.")),
             ("Sorry.*", NOON), (mistral_order,), asks=("What is new?", "When is lunch?"),
             refused=1, calls=4),
)  # fmt: skip

BYTES = (
    shaped("JSON as text/plain", whole({"content": "Noon."}).but(
        headers=("content-type: text/plain; charset=utf-8",))),
    shaped("JSON without a content type", whole({"content": "Noon."}).but(headers=())),
    shaped("No support for streams: JSON instead", whole({"content": "Noon."})),
    shaped("A stream called application/json", say("Noon.").but(headers=(JSON,))),
    shaped("A byte order mark before a stream", say("Noon.").but(pieces=(b"\xef\xbb\xbf" + BODY,))),
    shaped("A byte order mark before JSON", whole({"content": "Noon."}).but(
        pieces=(b"\xef\xbb\xbf" + whole({"content": "Noon."}).pieces[0],))),
    shaped("Lines that end with CR", say("Noon.").but(pieces=(BODY.replace(b"\n", b"\r"),))),
    shaped("Lines that end with CR LF, cut between the two",
           by_the_byte(say("Noon.").but(pieces=(BODY.replace(b"\n", b"\r\n"),)))),
    shaped("Several data lines in an event", say().but(pieces=(
        event(chunk({"content": "Noon."})).replace(b',"object"', b',\ndata: "object"'),
        event(chunk({}, "stop")), DONE))),
    shaped("No space after data:, with event: and id: lines", say().but(pieces=(
        b"event: message\nid: 1\n" + event(chunk({"content": "Noon."})).replace(b": ", b":", 1),
        event(chunk({}, "stop")), DONE))),
    shaped("OpenRouter's comments that keep alive", say("Noon.").but(pieces=tuple(
        b": OPENROUTER PROCESSING\n\n" + piece for piece in say("Noon.").pieces))),
    Scenario("UTF-8 cut within letters", "A3",
             (by_the_byte(say("Später ", "🍜 Noon.")),),
             ("Später 🍜 Noon\\.",), calls=1),
    shaped("gzip", zipped(say("Noon."))),
    shaped("One event of 700 KB", stream(
        chunk({"reasoning_content": LONG * 2}), chunk({"content": "Noon."}), chunk({}, "stop")),
           never=(LONG[:99],)),
    shaped("No [DONE]", stream(chunk({"content": "Noon."}), chunk({}, "stop"), done=False)),
    shaped("No finish reason, only [DONE]", stream(chunk({"content": "Noon."}))),
    shaped("The last line has no end", say("Noon.").but(pieces=(BODY.removesuffix(b"\n\n"),))),
)  # fmt: skip

FIELDS = (
    shaped("Choices as strings: the text, or asked again", stream({"choices": ["Noon."]}),
           say("Noon."), settings={"AGENT__RETRIES": "1"}),
    Scenario("Choices as numbers, always", "A3", (stream({"choices": [7]}),),
             ("Sorry.*broke off.*",), calls=1, ends="failed"),
    shaped("Two choices", stream(
        {**chunk({}), "choices": [
            {"index": 0, "delta": {"content": "Noon."}},
            {"index": 1, "delta": {"content": "Tomorrow."}}]},
        {**chunk({}), "choices": [
            {"index": 1, "delta": {}, "finish_reason": "length"},
            {"index": 0, "delta": {}, "finish_reason": "stop"}]}), never=("Tomorrow",)),
    shaped("Content as a list of parts", stream(
        chunk({"content": [{"type": "text", "text": "No"}, {"type": "text", "text": "on."}]}),
        chunk({}, "stop"))),
    shaped("Usage with strings, floats and null", with_usage(
        {"prompt_tokens": "12", "completion_tokens": 3.0, "prompt_tokens_details": None})),
    shaped("Usage with numbers for its details", with_usage(
        {"prompt_tokens": 12, "completion_tokens": -1, "prompt_tokens_details": 7})),
    shaped("Usage as a list", with_usage([12, 3])),
    shaped("Azure: a first chunk without choices", stream(
        {"choices": [], "id": "", "model": "", "object": "", "prompt_filter_results": [
            {"prompt_index": 0, "content_filter_results": {}}]},
        chunk({"role": "assistant", "content": "Noon."}), chunk({}, "stop"))),
    shaped("Choices, deltas and messages that are null", stream(
        {"choices": None}, {"choices": [{"delta": None, "message": None}]},
        chunk({"content": "Noon."}), {"choices": [None]}, chunk({}, "stop"))),
    shaped("Half a chunk in the middle, then an answer", say("No").but(pieces=(
        event(chunk({"content": "Ne"})), b'data: {"choices":[{"delta"\n\n', DONE)), say("Noon."),
           settings={"AGENT__RETRIES": "1"}),
    shaped("OpenRouter: an error in the stream, then an answer", stream(
        chunk({"content": "Ne"}),
        {"id": "gen-1", "object": "chat.completion.chunk", "provider": "X",
         "error": {"code": "server_error", "message": "Provider disconnected unexpectedly"},
         "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}]},
        done=False), say("Noon."), settings={"AGENT__RETRIES": "1"}),
    shaped("Names of models that are numbers", stream(
        {**chunk({"content": "Noon."}), "model": 7, "id": None},
        {**chunk({}, "stop"), "model": 7})),
)  # fmt: skip

SHAPES = (*CALLS, *BYTES, *FIELDS)
