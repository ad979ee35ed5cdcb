"""What no provider documents and some server sends all the same."""

from __future__ import annotations

from tests.model_servers.scenario import Scenario
from tests.model_servers.shapes import NOON, ONE, TWO, fragments, made, shaped
from tests.model_servers.wire import (
    DONE,
    JSON,
    Answer,
    Json,
    call,
    calling,
    chunk,
    error,
    event,
    refuse,
    say,
    stream,
)

HALF = b'{"choices":[{"index":0,"delta":{"content":"Noon.\\ud83d"},"finish_reason":"stop"}]}'
HUGE = b'{"choices":[{"index":0,"delta":{"content":"Noon.","x_id":%d}}]}' % (10**30)
LONG = error(400, "maximum context length is 10 tokens", code="context_length_exceeded")


def both(text: str, whole: str, finish: str | None = None) -> Json:
    """Return a chunk as Perplexity sends it: the message so far stands beside the delta."""
    message = {"role": "assistant", "content": whole}
    delta = {"role": "assistant", "content": text} if text else {}
    return {"choices": [{"index": 0, "delta": delta, "message": message, "finish_reason": finish}]}


ODDITIES = (
    shaped("The message so far beside each delta", stream(
        both("No", "No"), both("on.", "Noon."), both("", "Noon.", "stop"))),
    shaped("tool_calls as the reason, but no calls", say("Noon.", finish="tool_calls")),
    shaped("Indexes as strings", fragments({**ONE, "index": "0"}, {**TWO, "index": "1"}),
           say("Noon."), demands=(made("tape_info", "tape_search"),)),
    shaped("Indexes that are negative or far off",
           fragments({**ONE, "index": -1}, {**TWO, "index": 10**9}),
           say("Noon."), demands=(made("tape_info", "tape_search"),)),
    shaped("Ids that are numbers", fragments({**ONE, "index": 0, "id": 7}), say("Noon."),
           demands=(made("tape_info"),)),
    shaped("Sixty calls at once", calling(
        *(call(call_id=f"call_{number}") for number in range(60))), say("Noon.")),
    shaped("A NUL in the text, the arguments and the ids",
           calling(call("tape_search", '{"query":"\\u0000"}', "call\0"), text="Wait\0."),
           say("Noon."), sees=("Wait.?\\.\\s+Noon\\.",)),
    Scenario("Half of a surrogate pair", "A3", (stream(HALF),), ("Noon\\..?",), calls=1),
    Scenario("A number of a hundred bits", "A3", (stream(HUGE, chunk({}, "stop")),),
             ("Noon\\.|Sorry.*broke off.*",), calls=1, ends="any"),
    Scenario("An error with a NUL and half of a pair", "A3", (Answer(
        (b'{"error":{"message":"no \\u0000 \\ud83d way"}}',), 400, (JSON,)),),
        ("Sorry.*rejected.*",), calls=1, ends="failed"),
    Scenario("A page of 5 MB as an error", "A3", (refuse(500, "x" * 5_000_000),),
             ("Sorry.*trouble.*",), calls=1, ends="failed"),
    Scenario("Nothing but spaces", "A4", (say(" ", "\n\n"),), ("Sorry.*nothing.*",), calls=1,
             ends="failed"),
    Scenario("No content (204)", "A4", (Answer(status=204, headers=()),),
             ("Sorry.*(broke off|nothing).*",), calls=1, ends="failed"),
    Scenario("Too long, always", "A7", (LONG, LONG), ("Sorry.*too long.*",), calls=2,
             ends="failed", taped=("auto_handoff/context_overflow",)),
    Scenario("Too long after a tool call", "A7", (calling(), LONG, say("Noon.")), (NOON,), calls=3,
             taped=("auto_handoff/context_overflow",)),
    Scenario("A wrong key after a tool call, and a right one later", "A4",
             (calling(), error(401, "Incorrect API key"), say("Noon.")), ("Sorry.*key.*", NOON),
             asks=("What is new?", "When is lunch?"), calls=3),
    Scenario("Reasoning after the answer", "A2",
             (stream(chunk({"content": "Noon."}), chunk({"reasoning_content": "a late thought"}),
                     chunk({}, "stop")),), (NOON,), calls=1, never=("a late thought",)),
    Scenario("Two thoughts in tags, one after the other", "A2",
             (say("<think>one</think>\n<think>two</think>\nNoon."),), (NOON,), calls=1,
             never=("<think", "one<", "two<")),
    Scenario("A tag with an attribute", "A2",
             (say('<think time="3">a thought</think>Noon.'),), (NOON,), calls=1,
             never=("a thought",)),
    shaped("An event after [DONE]", say("Noon.").but(
        pieces=(*say("Noon.").pieces, event(chunk({"content": "More."})), DONE))),
    shaped("Two answers in one stream, each with [DONE]", say("Noon.").but(
        pieces=(*say("Noon.").pieces, *say("Noon.").pieces))),
    shaped("An answer of 400 000 letters in one chunk", say("Noon. " * 70_000),
           sees=("(Noon\\.\\s*)+",)),
)  # fmt: skip
