"""Links are found wherever some platform may find one."""

from __future__ import annotations

import time

import pytest

from agent.links import links_in


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("See https://a.example/x?y=1.", {"https://a.example/x?y=1"}),
        ("**https://a.example/x** (b.example)", {"https://a.example/x", "b.example"}),
        ("https://w.example/Foo_(bar), and [a](https://b.example/)", None),
        ("at 192.0.2.7/x and 10.0.0.1:80", {"192.0.2.7/x", "10.0.0.1:80"}),
        ("1.2.3, 1.2.3.4.5, 3.14 and v1.2.3.4", set()),
        ("пример.рф/x и xn--e1afmkfd.xn--p1ai", {"пример.рф/x", "xn--e1afmkfd.xn--p1ai"}),
        ("a\u3002example/x", {"a\u3002example/x"}),
        ("你好。世界。再见", set()),
        ("https:a.example/x https:\\\\a.example", {"https:a.example/x", "https:\\\\a.example"}),
        ("mailto:a@b.example a@b.example", {"mailto:a@b.example", "a@b.example"}),
        ("https://intranet/x", {"https://intranet/x"}),
        ("12:30, a/b, no link: at all", set()),
        ("-a.example/x ..b.example/x @c.example/x", {"a.example/x", "b.example/x", "c.example/x"}),
    ],
)
def test_links_are_found_with_what_belongs_to_them(text: str, links: set[str] | None) -> None:
    expected = {"https://w.example/Foo_(bar)", "https://b.example/"} if links is None else links
    assert links_in(text) == expected


HOSTILE = [
    "a.b/",
    "a.bc/)",
    "a",
    "[](",
    "<",
    "a.b@",
    "a-",
    "://",
    "1.",
    "+a.",
    "\u3002a",
    "é.",
    "%a+",
]


def seconds_of(text: str) -> float:
    """Return the CPU time that a text costs, in the best of three runs."""
    runs = []
    for _ in range(3):
        began = time.process_time()
        links_in(text)
        runs.append(time.process_time() - began)
    return min(runs)


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_costs_in_proportion_to_its_length(part: str) -> None:
    short, long = (part * (size // len(part)) for size in (4_000, 32_000))
    # Eight times the text: work that grew by its square would be 64 times as much.
    assert seconds_of(long) < 32 * seconds_of(short) + 0.02
