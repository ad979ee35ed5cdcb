"""A1: what a server puts beside its calls and messages goes back to it, and to no other."""

from __future__ import annotations

import orjson

from tests.model_servers.scenario import Scenario
from tests.model_servers.server import Step
from tests.model_servers.wire import Answer, Demand, Json, call, calling, error, refuse, say

SIGNATURE = "CvcQAdHtim/Pq8bYh0xZ9wEd4aPZ"
FILLER = "skip_thought_signature_validator"
THOUGHT = "The person wants the tape. I look at its size first."
DETAILS = [
    {
        "type": "reasoning.encrypted",
        "data": "gAAAAABpKx2v",
        "id": "rs_0c1f",
        "format": "openai-responses-v1",
        "index": 0,
    }
]
BLOCKS = [{"type": "thinking", "thinking": THOUGHT, "signature": "EqoBCkgIARABGAIiQL2U"}]
FOUND = "The tape is short\\."
OTHER = {"AGENT__FALLBACK_MODELS": "other"}


def signed(signature: str = SIGNATURE, **more: str) -> Json:
    """Return a tool call of Gemini 3, with its signature."""
    return call(extra_content={"google": {"thought_signature": signature}}, **more)


def calls_of(body: Json) -> list[Json]:
    """Return the tool calls of a request's newest turn."""
    users = [at for at, one in enumerate(body["messages"]) if one["role"] == "user"]
    newest = body["messages"][users[-1] :]
    return [one for message in newest for one in message.get("tool_calls") or ()]


def signature_of(wanted: Json) -> str | None:
    google = (wanted.get("extra_content") or {}).get("google") or {}
    return google.get("thought_signature")


def gemini(*own: str) -> Demand:
    """Demand a signature in the first call of each step of the newest turn: an own one, or none."""

    def demand(body: Json) -> Answer | None:
        users = [at for at, one in enumerate(body["messages"]) if one["role"] == "user"]
        for message in body["messages"][users[-1] :]:
            if not message.get("tool_calls"):
                continue
            found = signature_of(message["tool_calls"][0])
            if found is None:
                return _gemini_error(
                    "Function call is missing a thought_signature in functionCall parts. This is"
                    " required for tools to work correctly, and missing thought_signature may lead"
                    " to degraded model performance. Additional data, function call"
                    " `default_api:tape_info` , position 2."
                )
            if found not in (*own, FILLER):
                return _gemini_error("Thought signature is not valid.")
        return None

    return demand


def _gemini_error(text: str) -> Answer:
    body = {"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}
    return Answer(refuse(400, {}).pieces, 400, refuse(400, {}).headers).but(
        pieces=(b"[" + refuse(400, body).pieces[0] + b"]",)
    )


def deepseek(body: Json) -> Answer | None:
    """Demand `reasoning_content` in every assistant message, once there are tool calls."""
    spoken = [one for one in body["messages"] if one["role"] == "assistant"]
    if not any(one.get("tool_calls") for one in spoken):
        return None
    for at, one in enumerate(body["messages"]):
        if one["role"] == "assistant" and "reasoning_content" not in one:
            return error(
                400,
                f"Missing `reasoning_content` field in the assistant message at message index {at}."
                " For more information, please refer to"
                " https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
            )
    return None


def deepseek_thought(body: Json) -> Answer | None:
    """Demand the thoughts of the newest turn as they were."""
    found = [one for one in body["messages"] if one.get("tool_calls")]
    if found and found[-1].get("reasoning_content") != THOUGHT:
        return error(400, "The reasoning_content in the thinking mode must be passed back.")
    return None


def field_back(name: str, value: object) -> Demand:
    """Demand that a field of an assistant message with calls comes back as it was."""

    def demand(body: Json) -> Answer | None:
        found = [one for one in body["messages"] if one.get("tool_calls")]
        if found and found[-1].get(name) != value:
            return error(400, f"{name}: must be passed back unmodified")
        return None

    return demand


def only_own(body: Json) -> Answer | None:
    """Refuse `other` a request with fields of Gemini's."""
    if body["model"] == "other" and any(one.get("extra_content") for one in calls_of(body)):
        return error(400, "Extra inputs are not permitted: extra_content")
    return gemini(SIGNATURE)(body) if body["model"] == "model" else None


def goes_back(name: str, *answers: Step, demands: tuple[Demand, ...], **more: object) -> Scenario:
    """Return a scenario whose last answer is `SHORT`, each answer a call of its own."""
    fields = {"calls": len(answers), "sees": (FOUND,), "demands": demands, **more}
    return Scenario(name, "A1", answers, **fields)  # type: ignore[arg-type]


def order_of_two(body: Json) -> Answer | None:
    """Refuse the signatures of two steps in another order."""
    found = [signature_of(one) for one in calls_of(body)]
    right = found == ["first==", "second=="][: len(found)]
    return None if right else error(400, "signatures out of order")


def signed_once(body: Json) -> Answer | None:
    """Refuse a signature in any call but the first."""
    stray = [one for one in calls_of(body)[1:] if signature_of(one)]
    return error(400, "a signature where none was") if stray else None


SHORT = say("The tape is short.")

ROUND_TRIPS = (
    goes_back("Gemini 3: a thought signature in a tool call", calling(signed()), SHORT,
              demands=(gemini(SIGNATURE),), never=(SIGNATURE,), sends=(
                  b'"extra_content":{"google":{"thought_signature":"%b"}}' % SIGNATURE.encode(),)),
    goes_back("Gemini 3: parallel calls, signed in the first only",
              calling(signed(call_id="call_1"), call(call_id="call_2")), SHORT,
              demands=(gemini(SIGNATURE), signed_once)),
    goes_back("Gemini 3: two steps, each with a signature of its own",
              calling(signed("first==")), calling(signed("second==", call_id="c2")), say("Short."),
              sees=("Short\\.",), demands=(gemini("first==", "second=="), order_of_two)),
    goes_back("Gemini 3 takes over from a model without signatures",
              lambda body: calling() if body["model"] == "model" else error(503, "busy"),
              error(503, "The model is overloaded."), SHORT,
              demands=(lambda body: gemini()(body) if body["model"] == "other" else None,),
              settings=OTHER, refused=1, calls=0),
    goes_back("Gemini 3: its own signature is refused once", calling(signed()), SHORT,
              demands=(gemini("of another day"),), refused=1, calls=3),
    goes_back("Model A, tool, model B, tool, A again", calling(signed()),
              error(503, "The model is overloaded."), calling(call(call_id="call_b")), SHORT,
              demands=(only_own,), settings=OTHER, refused=1, calls=0),
    goes_back("DeepSeek: reasoning_content beside a tool call",
              calling(reasoning_content=THOUGHT), SHORT, demands=(deepseek, deepseek_thought),
              sends=(b'"reasoning_content":' + orjson.dumps(THOUGHT),), never=(THOUGHT,)),
    goes_back("DeepSeek: the next question after a tool call",
              calling(reasoning_content=THOUGHT), SHORT, say("It still is."),
              sees=(FOUND, "It still is\\."), demands=(deepseek,), never=(THOUGHT,),
              asks=("What is new?", "And now?"), calls=4, refused=1),
    goes_back("OpenRouter: reasoning_details beside a tool call",
              calling(reasoning=THOUGHT, reasoning_details=DETAILS), SHORT,
              demands=(field_back("reasoning_details", DETAILS),),
              sends=(b'"reasoning_details":' + orjson.dumps(DETAILS),), never=(THOUGHT,)),
    goes_back("LiteLLM: Claude's thinking_blocks beside a tool call",
              calling(reasoning_content=THOUGHT, thinking_blocks=BLOCKS), SHORT,
              demands=(field_back("thinking_blocks", BLOCKS),),
              sends=(b'"thinking_blocks":' + orjson.dumps(BLOCKS),), never=(THOUGHT,)),
    goes_back("A server with a field of its own beside the message",
              calling(x_trace="7f3a"), SHORT, demands=(field_back("x_trace", "7f3a"),)),
)  # fmt: skip
