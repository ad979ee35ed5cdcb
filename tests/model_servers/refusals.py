"""A5 and A6: what a server refuses is learned, and strict templates get what they accept."""

from __future__ import annotations

from typing import Any

from tests.model_servers.scenario import Scenario
from tests.model_servers.wire import Answer, Demand, Json, call, calling, error, refuse, say

NOON = "Noon\\."
STRICT = {"AGENT__STRICT_ROLES": "true"}
OTHER = {"AGENT__FALLBACK_MODELS": "other"}
TALK = ("~lunch at noon?", "~or later", "When is lunch?", "And dinner?")
ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


def lacks(name: str, refusal: Answer) -> Demand:
    """Refuse a field of the request."""
    return lambda body: refusal if name in body else None


def learned(name: str, field: str, refusal: Answer, **more: Any) -> Scenario:
    """Return a scenario of a refused field: refused once, answered, and not sent again."""
    return Scenario(
        name, "A5", (say("Noon."), say("One.")), (NOON, "One\\."), (lacks(field, refusal),),
        asks=("When is lunch?", "And dinner?"), calls=3, refused=1, **more,
    )  # fmt: skip


def jinja(text: str) -> Answer:
    """Return the error of llama.cpp for a template that raised."""
    body = {"error": {"code": 500, "message": text, "type": "server_error"}}
    return refuse(500, body)


def mistral(body: Json) -> Answer | None:
    """Check as the template of Mistral 7B Instruct v0.3 does."""
    messages = body["messages"]
    messages = messages[1:] if messages[0]["role"] == "system" else messages
    index = 0
    for one in messages:
        if one["role"] == "user" or (one["role"] == "assistant" and not one.get("tool_calls")):
            if (one["role"] == "user") != (index % 2 == 0):
                return jinja(f"After the optional system message, {ALTERNATE.lower()}")
            index += 1
        for wanted in one.get("tool_calls") or ():
            if len(wanted["id"]) != 9:
                return jinja("Tool call IDs should be alphanumeric strings with length 9!")
    return None


def gemma(body: Json) -> Answer | None:
    """Check as the template of Gemma 3 does: the system message joins the first of a user."""
    messages = body["messages"]
    messages = messages[1:] if messages[0]["role"] == "system" else messages
    for at, one in enumerate(messages):
        if (one["role"] == "user") != (at % 2 == 0):
            return jinja(ALTERNATE)
    return None


def gemma_2(body: Json) -> Answer | None:
    """Check as the template of Gemma 2 does."""
    if body["messages"][0]["role"] == "system":
        return jinja("System role not supported")
    return gemma(body)


def llama(body: Json) -> Answer | None:
    """Check as the template of Llama 3.1 does."""
    messages = body["messages"]
    messages = messages[1:] if messages[0]["role"] == "system" else messages
    if body.get("tools") and not (messages and messages[0]["role"] == "user"):
        text = "Cannot put tools in the first user message when there's no first user message!"
        return jinja(text)
    if any(len(one.get("tool_calls") or "1") != 1 for one in messages):
        return jinja("This model only supports single tool-calls at once!")
    return None


def qwen(body: Json) -> Answer | None:
    """Check as the template of Qwen 3.5 does."""
    roles = [one["role"] for one in body["messages"]]
    if "system" in roles[1:]:
        return jinja("System message must be at the beginning.")
    if "user" not in roles:
        return jinja("No user query found in messages.")
    return None


def strict(name: str, rule: Demand, *answers: Answer, **more: Any) -> Scenario:
    """Return a scenario of a strict template: two questions after talk that asked nothing."""
    fields = {"settings": STRICT, **more}
    return Scenario(
        name, "A6", (*answers, say("Noon."), say("One.")), (NOON, "One\\."), (rule,), asks=TALK,
        **fields,
    )  # fmt: skip


OLLAMA = error(400, "registry.ollama.ai/library/gemma:2b does not support tools", type="api_error")
VLLM = refuse(400, {
    "object": "error", "type": "BadRequestError", "param": None, "code": 400,
    "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be'
    " set"})  # fmt: skip
UNKNOWN = refuse(422, {"detail": [{
    "type": "extra_forbidden", "loc": ["body", "stream_options"],
    "msg": "Extra inputs are not permitted", "input": {"include_usage": True}}]})  # fmt: skip
MAX_TOKENS = error(
    400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
    " 'max_completion_tokens' instead.", param="max_tokens", code="unsupported_parameter",
)  # fmt: skip
COMPLETION = error(
    400, "Unrecognized request argument supplied: max_completion_tokens",
    param="max_completion_tokens",
)  # fmt: skip
NO_STREAM = error(400, "streaming is not supported by this deployment", param="stream")
CAPPED = {"AGENT__MAX_OUTPUT": "200"}

LEARNED = (
    learned("Ollama: the model takes no tools", "tools", OLLAMA),
    learned("vLLM without a tool parser", "tools", VLLM),
    learned("stream_options are refused", "stream_options", UNKNOWN),
    learned("stream_options are unrecognized", "stream_options", error(
        400, "Unrecognized request argument supplied: stream_options", param="stream_options")),
    learned("parallel_tool_calls are refused", "parallel_tool_calls", error(
        400, "'parallel_tool_calls' is not supported with this model.",
        param="parallel_tool_calls", code="unsupported_parameter"),
            settings={"AGENT__BODY": '{"parallel_tool_calls": false}'}),
    learned("max_completion_tokens instead of max_tokens", "max_tokens", MAX_TOKENS,
            settings=CAPPED),
    learned("max_tokens instead of max_completion_tokens", "max_completion_tokens", COMPLETION,
            settings=CAPPED),
    Scenario("Tools are refused, and the repeat as well", "A5", (), ("Sorry.*rejected.*",),
             (lambda _body: OLLAMA,), refused=5, ends="failed"),
    Scenario("Streams are refused", "A5", (say("Noon."),), ("Sorry.*rejected.*|Noon\\.",),
             (lacks("stream", NO_STREAM),), refused=2, ends="any"),
    Scenario("The fallback answers where the first is down", "A5",
             (error(503, "overloaded"), say("Noon.")), (NOON,), calls=2, settings=OTHER),
    Scenario("The fallback takes what is too long for the first", "A5",
             (say("Noon."),), (NOON,),
             (lambda body: error(400, "too long", code="context_length_exceeded")
              if body["model"] == "model" else None,), refused=2, calls=3,
             settings={**OTHER, "MODELS": '{"other": {"context_window": 200000}}'}),
    Scenario("The fallback lives on another server", "A5",
             (error(503, "overloaded"), say("Noon.")), (NOON,), calls=2, settings={
                 **OTHER, "MODELS": '{"other": {"base_url": "{url}/other/v1", "api_key": "k"}}'}),
    Scenario("The fallback answers where the first has no money", "A5",
             (refuse(402, {"error": {"message": "Insufficient Balance"}}), say("Noon.")), (NOON,),
             calls=2, settings=OTHER),
)  # fmt: skip

TEMPLATES = (
    strict("Mistral's template", mistral),
    strict("Mistral's template, with a tool call", mistral, calling(), refused=2),
    strict("Gemma 3's template", gemma),
    strict("Gemma 2's template, without a system role", gemma_2, refused=1),
    strict("Llama 3.1's template", llama),
    strict("Llama 3.1's template, with two calls at once", llama,
           calling(call(call_id="call_1"), call("tape_search", '{"query":"x"}', "call_2")),
           refused=1),
    strict("Qwen's template", qwen, calling()),
    Scenario("Mistral's template after a turn that failed", "A6",
             (error(500, "down"), say("Noon.")), ("Sorry.*", NOON), (mistral,),
             asks=("What is new?", "When is lunch?"), settings=STRICT),
    Scenario("Gemma's template after a turn that failed", "A6",
             (error(500, "down"), say("Noon.")), ("Sorry.*", NOON), (gemma,),
             asks=("What is new?", "When is lunch?"), settings=STRICT),
)  # fmt: skip

REFUSALS = (*LEARNED, *TEMPLATES)
