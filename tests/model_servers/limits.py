"""A7 and A8: overflows, money, and servers that are not as the settings say."""

from __future__ import annotations

from typing import Any

from tests.model_servers.scenario import Scenario
from tests.model_servers.wire import Answer, error, refuse, say

NOON = "Noon\\."
AT_ONCE = "retry-after-ms: 1"
OVERFLOW = ("auto_handoff/context_overflow", "turn.retake")
RETRY = {"AGENT__RETRIES": "1"}

OVERFLOWS: tuple[tuple[str, int, Any], ...] = (
    ("OpenAI", 400, {"error": {
        "message": "This model's maximum context length is 128000 tokens. However, your messages"
        " resulted in 140331 tokens. Please reduce the length of the messages.",
        "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
    ("Gemini", 400, [{"error": {
        "code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (1254464)"
        " exceeds the maximum number of tokens allowed (1048576)."}}]),
    ("xAI", 400, {
        "code": "Client specified an invalid argument", "error": "This model's maximum prompt"
        " length is 131072 but the request contains 537812 tokens."}),
    ("Bedrock", 400, {"message": "Input is too long for requested model."}),
    ("Anthropic", 400, {"type": "error", "error": {
        "type": "invalid_request_error",
        "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
    ("Anthropic, with the output", 400, {"type": "error", "error": {
        "type": "invalid_request_error", "message": "input length and `max_tokens` exceed context"
        " limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again"}}),
    ("vLLM", 400, {
        "object": "error", "type": "BadRequestError", "param": None, "code": 400,
        "message": "This model's maximum context length is 4096 tokens. However, you requested 5133"
        " tokens (4109 in the messages, 1024 in the completion). Please reduce the length of the"
        " messages or completion."}),
    ("vLLM V1", 400, {"error": {
        "type": "BadRequestError", "param": None, "code": 400, "message": "The decoder prompt"
        " (length 8192) is longer than the maximum model length of 4096. Make sure that"
        " `max_model_len` is no smaller than the number of text tokens."}}),
    ("Groq", 400, {"error": {
        "message": "Please reduce the length of the messages or completion.",
        "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}}),
    ("Groq, by the minute", 413, {"error": {
        "message": "Request too large for model `llama-3.1-8b-instant` in organization `org_01`"
        " service tier `on_demand` on tokens per minute (TPM): Limit 6000, Requested 14041, please"
        " reduce your message size and try again.", "type": "tokens",
        "code": "rate_limit_exceeded"}}),
    ("Cohere", 400, {
        "message": "too many tokens: total number of tokens in the prompt cannot exceed 4081 -"
        " received 4292. Try using a shorter prompt, or enabling prompt truncating."}),
    ("Together", 422, {"error": {
        "message": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097."
        " Given: 5133 `inputs` tokens and 512 `max_new_tokens`", "type": "invalid_request_error",
        "param": "max_tokens", "code": None}}),
    ("TGI", 422, {
        "error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 5133",
        "error_type": "validation"}),
    ("Copilot", 400, {"error": {
        "message": "prompt token count of 160230 exceeds the limit of 128000",
        "code": "model_max_prompt_tokens_exceeded"}}),
    ("Qwen", 400, {"error": {
        "message": "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1,"
        " 129024]", "type": "invalid_request_error", "param": None,
        "code": "invalid_parameter_error"}}),
    ("Zhipu", 400, {"error": {"code": "1261", "message": "Prompt 超长"}}),
    ("Mistral", 400, {
        "object": "error", "type": "invalid_request_invalid_args", "param": None, "code": "3051",
        "message": "Prompt contains 40231 tokens and 0 draft tokens, too large for model with"
        " 32768 maximum context length"}),
    ("llama.cpp", 400, {"error": {
        "code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5133, "n_ctx": 4096,
        "message": "request (5133 tokens) exceeds the available context size (4096 tokens), try"
        " increasing it"}}),
    ("LM Studio", 400, {
        "error": "Trying to keep the first 5133 tokens when context the overflows. However, the"
        " model is loaded with context length of only 4096 tokens, which is not enough."}),
    ("OpenRouter", 400, {"error": {
        "message": "This endpoint's maximum context length is 131072 tokens. However, you requested"
        ' about 202010 tokens. Please reduce the length of either one, or use the "middle-out"'
        " transform to compress your prompt automatically.", "code": 400}}),
    ("Moonshot", 400, {"error": {
        "message": "Invalid request: Your request exceeded model token limit: 8192",
        "type": "invalid_request_error"}}),
)  # fmt: skip


def overflows(name: str, status: int, body: Any) -> Scenario:
    """Return a scenario in which a shorter prompt is answered."""
    return Scenario(
        f"Too long for {name}", "A7", (refuse(status, body), say("Noon.")), (NOON,), calls=2,
        taped=OVERFLOW,
    )  # fmt: skip


def refused(
    name: str, sees: str, *answers: Answer, part: str = "A7", calls: int = 1, **more: Any
) -> Scenario:
    """Return a scenario in which a person is given the reason, and no overflow is recorded."""
    fields = {"ends": "failed", "never": ("too long",), "untaped": OVERFLOW, **more}
    return Scenario(name, part, answers, (f"Sorry.*({sees}).*",), calls=calls, **fields)


QUOTA = error(
    429, "You exceeded your current quota, please check your plan and billing details.",
    type="insufficient_quota", code="insufficient_quota",
)  # fmt: skip
DAILY = error(
    429, "Rate limit reached for model `llama-3.3-70b` in organization `org_01` on tokens per day"
    " (TPD): Limit 100000, Used 99336, Requested 1204. Please try again in 7m46.56s.",
    "retry-after: 466", type="tokens", code="rate_limit_exceeded",
)  # fmt: skip
OVER_QUOTA = "You exceeded your current quota, please check your plan and billing details."
EXHAUSTED = refuse(
    429, [{"error": {"code": 429, "message": OVER_QUOTA, "status": "RESOURCE_EXHAUSTED"}}]
)
BUSY = error(429, "Rate limit reached for requests", AT_ONCE, code="rate_limit_exceeded")
BALANCE = refuse(402, {"error": {
    "message": "Insufficient Balance", "type": "unknown_error", "param": None,
    "code": "invalid_request_error"}})  # fmt: skip
TOO_FEW = (
    "This request requires more credits, or fewer max_tokens. You requested up to 4096 tokens, but"
    " can only afford 1254. To increase, visit https://openrouter.ai/settings/credits"
)
CREDITS = refuse(402, {"error": {"code": 402, "message": TOO_FEW}})
PLAN = error(400, "You have reached the token limit of your plan.")
OUTPUT = error(
    400, "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for this"
    " model: raise no output token limit above it",
)  # fmt: skip
HOURLY = error(400, "The daily token limit of this key is used up.")
MONEY = "credit|quota|balance|money|paid|pay|bill|account|plan|limit"
NGINX = (
    "<html>\r\n<head><title>%s</title></head>\r\n<body>\r\n<center><h1>%s</h1></center>\r\n"
    "<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


def page(status: int, title: str) -> Answer:
    """Return a proxy's page."""
    return refuse(status, NGINX % (title, title), AT_ONCE)


MONEY_AND_KEYS = (
    refused("DeepSeek: an empty account (402)", MONEY, BALANCE),
    refused("OpenRouter: too few credits (402)", MONEY, CREDITS),
    refused("OpenAI: insufficient_quota (429)", MONEY, QUOTA, settings=RETRY),
    refused("Groq: the tokens of the day (429)", "day|daily|limit|quota|busy", DAILY),
    refused("Gemini: RESOURCE_EXHAUSTED (429)", f"{MONEY}|busy", EXHAUSTED),
    refused("The token limit of the plan", MONEY, PLAN),
    refused("The daily token limit", f"day|daily|{MONEY}", HOURLY),
    refused("The output token limit", "output|rejected|limit", OUTPUT),
    refused("A wrong key (401)", "key", error(
        401, "Incorrect API key provided: sk-key.", code="invalid_api_key"), never=("sk-key",)),
    refused("A key without the right (403)", "key|right|permission", error(403, "Forbidden")),
    refused("An unknown model (404)", "model", error(
        404, "The model `model` does not exist or you do not have access to it.",
        code="model_not_found")),
    refused("Ollama: an unknown model (404)", "model", error(
        404, 'model "model" not found, try pulling it first', type="api_error")),
)  # fmt: skip

SERVERS = (
    Scenario("The base URL lacks /v1", "A8", (), ("Sorry.*(/v1|address|BASE_URL).*",), path="",
             ends="failed"),
    Scenario("Nothing listens", "A8", (), ("Sorry.*reach.*",), dead=True, ends="failed"),
    Scenario("Busy, then an answer (429)", "A4", (BUSY, say("Noon.")), (NOON,), calls=2,
             settings=RETRY),
    refused("Busy, always (429)", "busy", BUSY, BUSY, part="A4", calls=2, settings=RETRY),
    Scenario("500, then an answer", "A4", (error(500, "The server had an error", AT_ONCE),
             say("Noon.")), (NOON,), calls=2, settings=RETRY),
    refused("500, always", "trouble", *[error(500, "The server had an error", AT_ONCE)] * 2,
            part="A4", calls=2, settings=RETRY),
    refused("502 with a page of nginx", "trouble", page(502, "502 Bad Gateway"), part="A4"),
    refused("503, overloaded", "trouble", error(503, "The model is overloaded."), part="A4"),
    refused("529, overloaded", "trouble|busy", refuse(529, {"type": "error", "error": {
        "type": "overloaded_error", "message": "Overloaded"}}), part="A4"),
    refused("504 with a page of Cloudflare", "trouble", page(504, "504 Gateway Time-out"),
            part="A4"),
    Scenario("413 with a page of nginx", "A7", (
        page(413, "413 Request Entity Too Large"), say("Noon.")), (NOON,), calls=2),
    refused("A page instead of an answer (200)", "broke|understand|page|address|rejected",
            refuse(200, NGINX % ("Sign in", "Sign in")), part="A3", never=("nginx",)),
    refused("A request that is refused (400)", "rejected", error(400, "Invalid value"), part="A4"),
    refused("An error under a status of 200", "broke|trouble", refuse(200, {"error": {
        "message": "Internal server error", "code": 500}}), part="A3"),
)  # fmt: skip

LIMITS = (*(overflows(*one) for one in OVERFLOWS), *MONEY_AND_KEYS, *SERVERS)
