"""Read how long a model server asks to wait: in headers, in the fields of its body, in its words.

Servers write it as seconds, as a duration such as 6m0s, as a moment, or in a sentence. The most
exact one counts. What nobody can read is no wait, so the caller's own waits stay in place.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any, Final

LEAST_SECONDS: Final = 1.0
"""The shortest wait of one that is worked out: a moment, or a duration in words, is inexact."""

EPOCH_SECONDS: Final = 1e9
"""From here on, a number is a moment; from a thousand times that on, one in milliseconds."""

MAX_DEPTH: Final = 6
MAX_WORDS: Final = 1000
"""Characters of a sentence, or of a header, in which a wait is looked for."""

RESET: Final = re.compile(r"^(?:x-)?ratelimit-reset(-.+)?$")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART: Final = re.compile(
    r"(?<![\d.])(\d{1,9}(?:\.\d{1,9})?)\s{0,9}"
    r"(ms|milli[a-z]*|毫秒|s(?:ec[a-z]*)?|秒|m(?:in[a-z]*)?|分钟|h(?:ours?|rs?)?|小时|"
    r"d(?:ays?)?|天)(?![a-z])",
    re.IGNORECASE,
)
_CHINESE: Final = {"毫秒": "ms", "秒": "s", "分钟": "m", "小时": "h", "天": "d"}
_WORDS: Final = re.compile(
    r"(?:retry|try again|wait(?:ing)?|available|reset\w*|重试|等待)[^\d\n]{0,40}"
    rf"((?:{_PART.pattern}[\s,]*(?:and\s+)?)+)|((?:{_PART.pattern}\s*)+)(?:后|之后)",
    re.IGNORECASE,
)
_FIELD: Final = re.compile(r"^retry_?(after|delay|in)(_?(seconds|secs|s|ms|millis\w*))?$")


def named_wait(
    headers: Mapping[str, str], body: object, words: str, now: Callable[[], float] = time.time
) -> float | None:
    """Return the seconds that an answer asks to wait, or None if it does not say.

    `headers` have names in lower case; `now` is used only where the server does not say its time.
    """
    given = _moment(headers.get("date", ""))
    here = now() if given is None else given
    found = (
        _milliseconds(headers.get("retry-after-ms", "")),
        _seconds_or_moment(headers.get("retry-after", ""), here),
        _of_fields(body),
        _of_words(words),
        _of_resets(headers, here),
    )
    return next((one for one in found if one is not None), None)


def _milliseconds(text: str) -> float | None:
    number = _number(text)
    return None if number is None else number / 1000


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _seconds_or_moment(text: str, here: float) -> float | None:
    """Read a number of seconds, a duration, or a moment."""
    text = text.strip()
    number = _number(text)
    if number is not None:
        if number < EPOCH_SECONDS:
            return number
        moment: float | None = number / (1000 if number >= EPOCH_SECONDS * 1000 else 1)
    else:
        if (seconds := _duration(text)) is not None:
            return max(LEAST_SECONDS, seconds)
        moment = _moment(text)
    return None if moment is None else max(LEAST_SECONDS, moment - here)


def _moment(text: str) -> float | None:
    """Return the Unix time of an HTTP date or an ISO 8601 one."""
    for read in (parsedate_to_datetime, datetime.fromisoformat):
        try:
            found = read(text.strip())
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _duration(text: str) -> float | None:
    """Return the seconds of a whole text such as 20ms, 7.66s or 6m0s."""
    text = text[:MAX_WORDS]
    rest = _PART.sub("", text).replace("and", "").strip(" ,")
    parts = [] if rest else list(_PART.finditer(text))
    return sum(_part(one[1], one[2]) for one in parts) if parts else None


def _part(number: str, unit: str) -> float:
    unit = _CHINESE.get(unit, unit.lower())
    return float(number) * _UNITS["ms" if unit.startswith(("ms", "milli")) else unit[0]]


def _of_words(words: str) -> float | None:
    found = _WORDS.search(words[:MAX_WORDS])
    if found is None:
        return None
    seconds = sum(_part(one[1], one[2]) for one in _PART.finditer(found[0]))
    return max(LEAST_SECONDS, seconds)


def _of_fields(body: object) -> float | None:
    """Read fields such as `retry_after`, or Google's `retryDelay`, anywhere in a body."""
    for name, value in _fields(body, MAX_DEPTH):
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()
        if not (found := _FIELD.match(snake)) or isinstance(value, bool):
            continue
        number = _number(str(value)) if isinstance(value, int | float | str) else None
        if number is not None:
            is_small = (found[3] or "").startswith("m")
            return max(LEAST_SECONDS, number / 1000 if is_small else number)
        if isinstance(value, str) and (seconds := _duration(value)) is not None:
            return max(LEAST_SECONDS, seconds)
    return None


def _fields(body: object, depth: int) -> Iterator[tuple[str, Any]]:
    if depth and isinstance(body, Mapping):
        for name, value in body.items():
            yield str(name), value
            yield from _fields(value, depth - 1)
    elif depth and isinstance(body, list):
        for value in body:
            yield from _fields(value, depth - 1)


def _of_resets(headers: Mapping[str, str], here: float) -> float | None:
    """Read when a limit that is used up is lifted, else the first one that is."""
    resets, used_up = [], []
    for name, text in headers.items():
        if not RESET.match(name):
            continue
        if (seconds := _seconds_or_moment(text, here)) is not None:
            seconds = max(LEAST_SECONDS, seconds)
            resets.append(seconds)
            left = headers.get(name.replace("-reset", "-remaining"), "")
            used_up += [seconds] if _number(left) == 0 else []
    return max(used_up, default=min(resets, default=None))
