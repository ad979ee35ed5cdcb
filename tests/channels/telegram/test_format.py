"""What Telegram is sent: within its limits, in its units, and nothing that it refuses."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.markdown.split import split
from channels.telegram.format import (
    GAP,
    LIMIT,
    MAX_ENTITIES,
    Rendered,
    plain,
    render,
    render_partial,
    size,
)
from tests.channels.markdown.samples import has_in_order, markdowns
from tests.kit.examples import examples

texts = markdowns | st.text(max_size=200)


def pieces(markdown: str) -> list[Rendered]:
    drawn = [render(piece) for piece in split(markdown, LIMIT, size)]
    return [message for message in drawn if message[0]]


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def part(text: str, entity: dict[str, Any]) -> str:
    """Return what an entity covers; raises when it cuts a surrogate pair."""
    raw = text.encode("utf-16-le")
    start, end = entity["offset"], entity["offset"] + entity["length"]
    assert 0 <= start < end <= units(text)
    return raw[2 * start : 2 * end].decode("utf-16-le")


def check(text: str, entities: list[dict[str, Any]]) -> None:
    """Raise for what the Bot API refuses, drops or changes."""
    assert text == text.strip()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]", text)
    for at, outer in enumerate(entities):
        assert part(text, outer)
        for inner in entities[at + 1 :]:
            check_pair(outer, inner)


def check_pair(outer: dict[str, Any], inner: dict[str, Any]) -> None:
    first, last = outer["offset"], outer["offset"] + outer["length"]
    begin, end = inner["offset"], inner["offset"] + inner["length"]
    if begin >= last or end <= first:
        return
    assert first <= begin <= end <= last
    kinds = {outer["type"], inner["type"]}
    assert len(kinds) == 2
    assert not kinds & {"code", "pre"} or outer["type"] == "blockquote"


def drawn(markdown: str) -> list[tuple[str, str]]:
    text, entities = render(markdown)
    check(text, entities)
    return [(entity["type"], part(text, entity)) for entity in entities]


@examples(80)
@given(texts)
def test_no_text_makes_what_telegram_refuses(markdown: str) -> None:
    check(*render(markdown))
    for text, entities in pieces(markdown):
        check(text, entities)
        assert text
        assert units(text) <= LIMIT
        assert len(entities) <= MAX_ENTITIES


@examples(40)
@given(texts, st.integers(0, 300))
def test_a_text_that_is_being_written_is_fit_at_any_moment(markdown: str, end: int) -> None:
    text, entities = render_partial(markdown[:end])
    check(text, entities)
    assert units(text) <= LIMIT


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("# **Head** of `it`", [("bold", "Head of "), ("code", "it")]),
        ("**a *b* ~~c~~**", [("bold", "a b c"), ("italic", "b"), ("strikethrough", "c")]),
        ("😀 **😀a**", [("bold", "😀a")]),
        ("**a `b` c**", [("bold", "a "), ("code", "b"), ("bold", " c")]),
        ("[a **b** `c`](https://x.org)", [("text_link", "a b c"), ("bold", "b")]),
        (
            "> a\n>\n> > `b`\n>\n> ```\n> c\n> ```",
            [("blockquote", "a\n\nb\n\nc"), ("code", "b"), ("pre", "c")],
        ),
        ("||a||", [("spoiler", "a")]),
        ("![cat](https://x.org/c.png)", [("text_link", "cat")]),
        (
            "| a | [b](https://x.org) |\n|-|-|\n| `c` | **d** |",
            [("pre", "a | b (https://x.org)\n--+------------------\nc | d")],
        ),
    ],
)
def test_what_is_drawn_has_its_entity(markdown: str, expected: list[tuple[str, str]]) -> None:
    assert drawn(markdown) == expected


def test_code_has_its_language_and_a_link_its_url() -> None:
    _, entities = render("```c++ title=x\nint a;\n```\n\n[a](https://x.org/?a=1&b=_2_)")
    assert entities == [
        {"type": "pre", "offset": 0, "length": 6, "language": "c++"},
        {"type": "text_link", "offset": 8, "length": 1, "url": "https://x.org/?a=1&b=_2_"},
    ]


@pytest.mark.parametrize(
    "url",
    [
        *("docs/page.html", "#part", "http://localhost:8787/", "mailto:a@b.org"),
        *("javascript:x", "http://[x", "https://x.org/" + "a" * 2000),
    ],
)
def test_a_link_that_telegram_would_drop_is_written_out(url: str) -> None:
    assert render(f"[label]({url})") == (f"label ({url})", [])


def test_outer_space_and_what_cannot_be_sent_go() -> None:
    assert render("\n\n  **a\x00\ud83d\x07**  \n\n") == (
        "a",
        [{"type": "bold", "offset": 0, "length": 1}],
    )
    assert render("&#32;\u00a0**a**")[1] == [{"type": "bold", "offset": 0, "length": 1}]
    assert render("\r\n```\r\na\r\n\r\nb\r\n```\r\n")[0] == "a\n\nb"
    assert pieces(" \n\x00 ") == pieces("") == plain("\n") == []


def test_a_message_has_at_most_100_entities() -> None:
    messages = pieces("**a** `b` " * 300)
    assert len(messages) == 6
    assert [len(entities) for _, entities in messages] == [100] * 6
    assert size("**a** " * 100) == LIMIT < size("**a** " * 101)


def test_a_message_is_full_in_utf16_units() -> None:
    messages = pieces("😀" * 5000)
    assert [units(text) for text, _ in messages] == [4096, 4096, 1808]
    assert len(pieces("a" * LIMIT)) == 1
    assert len(pieces("a" * LIMIT + "b")) == 2


def test_a_long_answer_keeps_its_code_whole() -> None:
    code = "".join(f"line {n}\n" for n in range(1500))
    messages = pieces(f"Words.\n\n```py\n{code}```\n\nEnd.")
    found = [part(t, e) for t, entities in messages for e in entities if e["type"] == "pre"]
    assert "\n".join(found) + "\n" == code
    assert all(e["language"] == "py" for _, entities in messages for e in entities)


def test_a_partial_text_is_the_beginning_of_the_first_message() -> None:
    text = "".join(
        f"Paragraph {n} with **bold** words, and [tea](https://x.org/{n}).\n\n" for n in range(300)
    )
    first = pieces(text)[0]
    assert render_partial(text[: len(text) // 2]) == first
    for end in range(1, 3000, 61):
        begun, _ = render_partial(text[:end])
        assert first[0].startswith(begun.rstrip("!["))


def test_a_plain_message_has_no_entities_and_its_urls_written_out() -> None:
    assert plain("**a** [b](https://x.org)\n\n> c") == [("a b (https://x.org)\n\n> c", [])]
    assert all(units(text) <= LIMIT for text, _ in plain("[b](https://x.org/y) " * 500))


ADDRESSES = (
    "https://medium.com/@someuser/a",
    "https://x.org/?user=@someone&x=1",
    "youtube.com/@NASAgov/videos",
    "t.me/@durov",
    "(https://e.org/@people)",
    "ops@example.org",
)


@pytest.mark.parametrize("text", ADDRESSES)
def test_an_address_stays_as_it_is_in_a_group(text: str) -> None:
    assert render(f"See {text} now.")[0] == f"See {text} now."


@pytest.mark.parametrize(
    "text", ["@someone", "npm i @types/node", "(@someone)", "a.org @someone", "e.g. @someone/x"]
)
def test_a_name_alerts_nobody_in_a_group_and_is_left_alone_in_a_private_chat(text: str) -> None:
    assert GAP in render(text)[0]
    assert GAP in plain(text)[0][0]
    for shown in (render(text, private=True), render_partial(text, private=True)):
        assert shown[0] == text
    assert plain(text, private=True) == [(text, [])]


def hidden(text: str, entities: list[dict[str, Any]]) -> str:
    """Return what a reader sees who taps no spoiler."""
    raw = bytearray(text.encode("utf-16-le"))
    for one in entities:
        if one["type"] == "spoiler":
            start, length = 2 * one["offset"], one["length"]
            raw[start : start + 2 * length] = "#".encode("utf-16-le") * length
    return raw.decode("utf-16-le")


WORDS = ("||", "||", "||d4||", "x||y", " ", "a1", "b2", "README.md", "\n", "\n\n", "\uff0c")
PARTS = (*WORDS, *"`*|_$[", "**", "- ", "> ", "\\", "\\(", "\\)", "](https://e.org/)")


@examples(300)
@given(st.lists(st.sampled_from(PARTS), max_size=10))
def test_nothing_stands_outside_its_spoiler_while_an_answer_grows(parts: list[str]) -> None:
    whole = "".join(parts)
    text, entities = render(whole)
    check(text, entities)
    words = re.compile(r"[a-z]\d|README")
    if "```" not in whole:  # whose language is not shown
        assert has_in_order(words.findall(text), words.findall(whole))
    seen = words.findall(hidden(text, entities))
    for end in range(len(whole)):
        begun = render_partial(whole[:end])
        check(*begun)
        assert has_in_order(seen, words.findall(hidden(*begun)))


@pytest.mark.parametrize(
    "text",
    ["||secret.md||", "||`secret`||", "[||secret](https://e.org) it||", "||a **secret|| b** c"],
)
def test_a_spoiler_hides_names_of_files_code_and_links(text: str) -> None:
    shown, entities = render(text)
    check(shown, entities)
    assert "secret" in shown
    assert "secret" not in hidden(shown, entities)


NO_ADDRESSES = (
    "https://@someone",
    "x://e.org/@someone",
    "https://localhost/@someone",
    "https://e.org/)@someone",
    "https://e.org,@someone",
    "https://e.org/«@someone",
    "https://e.org/\u200b@someone",
    "https://e.org:99999/@someone",
    "https://teiegram.org/@someone",  # Telegram refuses to link it
    "$HTTPS://e.org/@someone",  # a cashtag covers its beginning
    "#看https://e.org/@someone",
    f"https://{'a' * 64}.org/@someone",
    "main.py:@someone",
    "config.yaml/@someone",
    "看youtube.com/@someone",
    "`@`someone",
    "`@some`one",
    "[https://e.org/](https://x.org)@someone",
)


def test_e5_an_address_that_is_cut_by_code_hides_no_name() -> None:
    assert GAP in render("https://e.org/`a/`@someone")[0]


@pytest.mark.parametrize("text", NO_ADDRESSES)
def test_e5_what_telegram_may_not_take_for_an_address_alerts_nobody(text: str) -> None:
    assert f"@{GAP}some" in render(text)[0]
    assert f"@{GAP}some" in plain(text)[0][0]


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "main.py",
        "run.sh",
        "lib.rs",
        "docs/index.md",
        "setup.pl",
        "a-b_c.d.md",
        "x.zip",
    ],
)
@pytest.mark.parametrize("around", ["Edit {} now.", "({})", "**{}**", "{}, {}", "> {}", "- {}"])
def test_a_name_of_a_file_is_no_link_to_a_stranger(name: str, around: str) -> None:
    text, entities = render(around.format(name, name))
    code = [text[one["offset"] :][: one["length"]] for one in entities if one["type"] == "code"]
    assert code == [name] * around.count("{}")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "https://e.org/main.py",
            "`main.py`",
            "[main.py](https://e.org/)",
            "main.python",
            "a.pyx",
        ),
        *("@x.md", "x.md@e.org", "www.e.rs/a", "e.org", "3.5", "Hello.World", "main.txt", ".md"),
    ],
)
def test_what_is_no_name_of_a_file_is_no_code(text: str) -> None:
    _text, entities = render(f"a {text} b")
    assert len([one for one in entities if one["type"] == "code"]) == text.count("`") // 2


def test_a_host_that_telegram_refuses_is_no_link() -> None:
    assert render("[a](https://x.org./b)") == ("a (https://x.org./b)", [])
