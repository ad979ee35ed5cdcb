"""Recognize what a server refuses by its wording: a long prompt, an empty account, a limit.

Servers share neither codes nor statuses for these; their wordings stand in the tests.
"""

from __future__ import annotations

import re
from typing import Final

from agent.errors import (
    AccountEmpty,
    AnswerBroken,
    AnswerFiltered,
    ContextOverflow,
    ModelBusy,
    ModelError,
    OutputLimit,
    PlanLimit,
)


def _words(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_EMPTY: Final = _words(
    r"insufficient[_ ](user[_ ])?(quota|balance|credits?|funds)",
    r"exceeded_current_quota|credit balance is too low|more credits|out of credits",
    r"any credits|all available credits|monthly included credits|credit[_ ]limit",
    r"billing[_ ](hard[_ ]limit|not[_ ]active)|spending limit|arrear|in good standing",
    r"payment required|past invoices|余额不足|欠费",
)
_PLAN: Final = _words(
    r"(daily|weekly|monthly)[_ -]((token|request|usage)s?[_ -])?(limit|quota)",
    r"limit of your plan|plan[_ ]limit|per[ _-]?day|usage[_ ]limit",
)
_RATE: Final = _words(
    r"rate[_ -]?limit|per[_ -]min|requests per|too many requests|throttl|resource_exhausted"
)
_OUTPUT: Final = _words(
    r"output[_ ]tokens?[_ ]limit|max_?output_?tokens|number of output tokens",
    r"max(imum)?[_ ](new_|completion_)?tokens\W{0,2} ?"
    r"(is too|must be|value|you requested|exceed|: \d)",
    r"range of max_tokens",
)
_OVERFLOW: Final = _words(
    r"context[ _-]?(length|window|size|limit|overflow)|maximum[ _-](context|prompt)",
    r"(prompt|inputs?|messages?|request|conversation|context)\W+"
    r"((is|was|are|has|length|tokens?|context|size|far|for|in|the|request)\W+){0,5}"
    r"too[ _](long|large|big)",
    r"request_too_large|tokens?[ _-]limit|too many (input |prompt |total )?tokens",
    r"tokens in (the )?request more than|(tokens|token (count|length))\b[^.]{0,60}\bexceed",
    r"(prompt|input|messages?|payload)( \w+){0,3} (exceed|longer than)|prompt_tokens_exceeded",
    r"reduce (the length of|your (prompt|message|input))|range of input length|input length",
    r"inputs\W+(tokens \+|must have less)|(max|maximum)[ _]model[ _]len|expected maxlength",
    r"total (sum|number) of tokens|超长|过长|上下文|长度超|tokens?数量超",
)
_FILTERED: Final = _words(
    r"content[_ ](filter|policy|management policy)|data_?inspection_?failed|content exists risk"
)
_MEDIA: Final = _words(r"\b(image|audio|video|file|document|pdf)s?\b")
_CODES: Final = _words(r"context_length_exceeded|exceed_context_size_error|\b1261\b")
_WINDOW: Final = _words(r"(?:context length|context limit|must be <=)\D{0,20}?(\d+)")
_ASKED: Final = _words(
    r"(?:max_tokens|max_completion_tokens)\W+is too large: (\d+)",
    r"(\d+) (?:in the completion|for the completion|in the output|output tokens|.max_new_tokens)",
)


def by_wording(status: int | None, code: str, message: str) -> ModelError | None:
    """Return the error that a server's words name, or None if they name none of these.

    status  the HTTP status, or None for an error inside a stream without one
    code    the error's code and type, as one text
    """
    if status == 402 or _EMPTY.search(f"{code} {message}"):
        return AccountEmpty(message)
    if _PLAN.search(message):
        return PlanLimit(message)
    if status == 429 or (status != 413 and _RATE.search(f"{code} {message}")):
        return ModelBusy(message)
    if status in (401, 403, 404):
        return None
    if "tool_use_failed" in f"{code} {message}":  # the model wrote a call that Groq can't read
        return AnswerBroken(message)
    if _FILTERED.search(f"{code} {message}"):
        return AnswerFiltered(message)
    if _wants_too_much(message):
        return OutputLimit(message)
    if _CODES.search(code) or _OVERFLOW.search(message):
        return (
            None if _MEDIA.search(message) and "token" not in message else ContextOverflow(message)
        )
    return ContextOverflow(message) if status == 413 else None


def _wants_too_much(message: str) -> bool:
    """Return whether the answer's maximum is refused, whatever the length of the prompt."""
    window, asked = _WINDOW.search(message), _ASKED.search(message)
    if window is None:
        return _OUTPUT.search(message) is not None
    return asked is not None and int(next(filter(None, asked.groups()))) >= int(window[1])
