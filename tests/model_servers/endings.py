"""A4: answers that end otherwise than with a plain stop, or break off."""

from __future__ import annotations

from tests.model_servers.round_trips import THOUGHT
from tests.model_servers.scenario import Scenario
from tests.model_servers.wire import Answer, Json, call, calling, chunk, error, say, stream, whole

NOON = "Noon\\."
AT_ONCE = "retry-after-ms: 1"
RETRY = {"AGENT__RETRIES": "1"}
NOTHING = "Sorry.*(nothing|empty|no answer|no text|without|thought|reasoning|thinking).*"


def ends(name: str, *answers: Answer, sees: str, **more: object) -> Scenario:
    """Return a scenario of how an answer ends."""
    fields = {"calls": len(answers), **more}
    return Scenario(name, "A4", answers, (sees,), **fields)  # type: ignore[arg-type]


def asks_for_none(body: Json) -> Answer | None:
    """Refuse a last step without tools, or one that may call them."""
    if not any(one["role"] == "tool" for one in body["messages"]):
        return None
    if not body.get("tools"):
        return error(400, "Requests which have `tool` messages must define tools")
    if body.get("tool_choice") != "none":
        return error(400, "tool_choice must be none in the last step")
    return None


REFUSAL = "I can't help with that request."
HALF = say("Half of ", "it", finish=None).pieces[:3]
EMPTY = stream(chunk({"role": "assistant", "content": ""}), chunk({}, "stop"))

ENDINGS = (
    ends("Cut by the length, with text", say("Lunch is at", finish="length"),
         sees="Lunch is at.+(cut|length|limit|long).*"),
    ends("Cut by a filter, with text", say("Lunch is at", finish="content_filter"),
         sees="Lunch is at.+(filter|cut|withheld).*"),
    ends("Cut by the length, without text", say(finish="length"),
         sees="Sorry.*(length|limit|output tokens).*", ends="any"),
    ends("Cut by a filter, without text", say(finish="content_filter"),
         sees=".*(filter|withheld).*", ends="any"),
    ends("Azure: the prompt is filtered", error(
        400, "The response was filtered due to the prompt triggering Azure OpenAI's content"
        " management policy. Please modify your prompt and retry.", code="content_filter"),
         sees=".*(filter|withheld).*", ends="any"),
    ends("A refusal in its own field", stream(
        chunk({"role": "assistant", "content": None, "refusal": ""}),
        chunk({"refusal": REFUSAL}), chunk({}, "stop")),
         sees=".*(can't help|refuse|declin).*", ends="any"),
    ends("Reasoning only", stream(chunk({"reasoning_content": THOUGHT}), chunk({}, "stop")),
         sees=NOTHING, never=(THOUGHT,), ends="any"),
    ends("Reasoning only, cut by the length", stream(
        chunk({"reasoning_content": THOUGHT}), chunk({}, "length")),
         sees="Sorry.*(length|limit|thought|reasoning|thinking).*", never=(THOUGHT,), ends="any"),
    ends("Nothing, then an answer", EMPTY, say("Noon."), sees=NOON, settings=RETRY),
    ends("Nothing, always", EMPTY, EMPTY, sees=NOTHING, settings=RETRY, ends="any"),
    ends("No bytes at all, then an answer", Answer(), say("Noon."), sees=NOON, settings=RETRY),
    ends("An empty last step after tools", calling(text="Noon."), EMPTY, sees=NOON),
    ends("The last step may call no tools", calling(), say("Noon."), sees=NOON,
         demands=(asks_for_none,), settings={"AGENT__STEPS": "2"}),
    ends("Tools in the last step as well", calling(), calling(call(call_id="c2")),
         sees="Sorry.*steps.*", settings={"AGENT__STEPS": "2"}, ends="failed"),
    ends("Cut before the first byte, then an answer", Answer(ending="cut"), say("Noon."),
         sees=NOON, settings=RETRY),
    ends("Cut in the middle, then an answer", Answer(HALF, ending="cut"), say("Noon."), sees=NOON,
         never=("Half of it Noon",), settings=RETRY),
    ends("Cut in the middle, always", Answer(HALF, ending="cut"), Answer(HALF, ending="cut"),
         sees="Sorry.*broke off.*", settings=RETRY, ends="any"),
    ends("Trouble and cuts by turns, on and on", *[error(500, "down", AT_ONCE),
         Answer(HALF, ending="cut")] * 2, sees="Sorry.*(broke off|trouble).*", ends="any", calls=3,
         settings={"AGENT__RETRIES": "2"}),
    ends("Cut after the tool calls, then an answer",
         Answer(calling().pieces[:2], ending="cut"), calling(), say("Noon."), sees=NOON,
         settings=RETRY),
    ends("Ended without a finish", Answer(HALF), say("Noon."), sees=NOON, settings=RETRY),
    ends("Silence before the answer", Answer(ending="hang"), sees="Sorry.*(reach|stopped|long).*",
         settings={"AGENT__READ_TIMEOUT": "0.2"}, ends="failed"),
    ends("Silence in the middle", Answer(HALF, ending="hang"), sees="Sorry.*(broke off|stopped).*",
         settings={"AGENT__READ_TIMEOUT": "0.2"}, ends="any"),
    ends("Silence after the last chunk", say("Noon.").but(
        pieces=say("Noon.").pieces, ending="hang"), sees=NOON,
         settings={"AGENT__READ_TIMEOUT": "0.5"}),
    ends("Cut after [DONE]", say("Noon.").but(ending="cut"), sees=NOON),
    ends("A finish reason of its own", whole({"content": "Noon."}, "eos_token"), sees=NOON),
    ends("Text beside the calls stays", calling(text="Let me look."), say("Noon."),
         sees="Let me look\\.\\s+Noon\\."),
)  # fmt: skip
