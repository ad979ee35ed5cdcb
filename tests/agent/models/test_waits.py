"""The waits that model servers name, in each place and form."""

from __future__ import annotations

import pytest

from agent.models.waits import named_wait

NOW = 1_780_000_000.0
DATE = {"date": "Thu, 28 May 2026 20:26:40 GMT"}  # NOW by the server's clock
AHEAD = {"date": "Thu, 28 May 2026 20:27:40 GMT"}


def now() -> float:
    return NOW


HEADERS: list[tuple[dict[str, str], float | None]] = [
    ({"retry-after": "7"}, 7),
    ({"retry-after": "2.5"}, 2.5),
    ({"retry-after": "0"}, 0),
    ({"retry-after-ms": "350"}, 0.35),
    ({"retry-after-ms": "350", "retry-after": "1"}, 0.35),
    ({"retry-after": "Thu, 28 May 2026 20:26:52 GMT"}, 12),
    ({**AHEAD, "retry-after": "Thu, 28 May 2026 20:27:52 GMT"}, 12),
    ({"retry-after": "Thu, 28 May 2026 20:20:00 GMT"}, 1),
    ({"retry-after": "2026-05-28T20:26:52Z"}, 12),
    ({"retry-after": "1780000009"}, 9),
    ({"retry-after": "soon"}, None),
    ({"retry-after": "-3"}, None),
    ({"retry-after": "nan"}, None),
    ({"retry-after": "inf"}, None),
    ({"retry-after": ""}, None),
    ({"x-ratelimit-reset-requests": "8.64s"}, 8.64),
    ({"x-ratelimit-reset-tokens": "1m2s"}, 62),
    ({"x-ratelimit-reset-tokens": "20ms"}, 1),
    ({"x-ratelimit-reset": "1780000030000"}, 30),
    ({"ratelimit-reset": "30"}, 30),
    ({"x-ratelimit-reset-requests": "5s", "x-ratelimit-reset-tokens": "40s"}, 5),
    (
        {
            "x-ratelimit-reset-requests": "5s",
            "x-ratelimit-reset-tokens": "40s",
            "x-ratelimit-remaining-tokens": "0",
        },
        40,
    ),
    ({"retry-after": "soon", "x-ratelimit-reset-tokens": "3s"}, 3),
    ({"x-ratelimit-reset-tokens": "whenever"}, None),
    ({"x-ratelimit-limit-tokens": "8000"}, None),
]


@pytest.mark.parametrize(("headers", "seconds"), HEADERS, ids=str)
def test_a_wait_in_the_headers(headers: dict[str, str], seconds: float | None) -> None:
    found = named_wait({**DATE, **headers}, None, "", now)
    assert found == pytest.approx(seconds)


def test_without_a_server_s_date_the_own_clock_counts() -> None:
    headers = {"retry-after": "Thu, 28 May 2026 20:26:52 GMT"}
    assert named_wait(headers, None, "", now) == 12


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 7.66s. Visit the page.", 7.66),
        ("Please try again in 6m0s.", 360),
        ("Please try again in 1h2m3s.", 3723),
        ("Please try again in 20ms.", 1),
        ("Please retry after 26 seconds.", 26),
        ("You can retry in 34.07s", 34.07),
        ("Too fast, wait 5 seconds", 5),
        ("Try again in 1 minute and 5 seconds", 65),
        ("The limit resets in 12 s", 12),
        ("请在 30 秒后重试", 30),
        ("请求过多, 请等待30秒", 30),
        ("Rate limit of 60 requests per 60 s reached", None),
        ("Limit 30000, used 29000 tokens: please try again later", None),
        ("retry 3 times", None),
        ("Please try again in 5 steps", None),
        ("come back when the moon is full", None),
        ("", None),
    ],
)
def test_a_wait_in_words(words: str, seconds: float | None) -> None:
    assert named_wait({}, None, words, now) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        ({"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}}, 34),
        ([{"error": {"details": [{"retryDelay": "3.5s"}]}}], 3.5),
        ({"metadata": {"retry_after_seconds": 9}}, 9),
        ({"retry_after": "4"}, 4),
        ({"retry-after-ms": 2500}, 2.5),
        ({"retryAfter": 0.01}, 1),
        ({"retry_after": True}, None),
        ({"retry_after": None}, None),
        ({"retry_after": {"never": 1}}, None),
        ({"retry_count": 5}, None),
        ("not read", None),
    ],
    ids=str,
)
def test_a_wait_in_a_field_of_the_body(body: object, seconds: float | None) -> None:
    assert named_wait({}, body, "", now) == pytest.approx(seconds)


def test_a_body_that_is_nested_without_end_is_not_read_to_its_end() -> None:
    body: dict[str, object] = {"retry_after": 5}
    for _ in range(50):
        body = {"in": body}
    assert named_wait({}, body, "", now) is None


@pytest.mark.parametrize("part", ["1min", "1sec", "1milli", "1hours and ", "retry 1", "1"])
def test_a_server_that_writes_without_end_is_read_to_an_end(part: str) -> None:
    text = part * 20_000
    named_wait({"retry-after": text, "x-ratelimit-reset": text}, {"retryDelay": text}, text)
