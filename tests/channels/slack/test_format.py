"""Markdown for Slack."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.markdown import close_open_marks
from channels.markdown.split import split
from channels.slack.format import EMPTY, LIMIT, MAX_BLOCKS, neutral, plain, render, settled, size
from tests.channels.markdown.samples import markdowns
from tests.channels.slack.readers import mentions
from tests.fakes.slack.text import pings
from tests.fakes.slack.world import Message
from tests.kit.examples import examples

MAX_CHARACTERS = 12_000  # that Slack accepts in one message

PINGS = (
    "<!here>",
    "<!channel>",
    "<!everyone>",
    "<!subteam^S1>",
    "<!subteam^S1|@all>",
    "<@U1>",
    "<@W1|x>",
    "@here",
    "@channel",
    "@everyone",
    "(@here)",
    "<!HERE>",
    "@Everyone",
)
TEXTS = st.lists(st.sampled_from((*PINGS, "a", " ", "\n", "@", "<", "!", "here", "U", "@he", "re")))


def alerts(text: str) -> list[str]:
    """Return whom a text alerts, by markup or by plain words."""
    message = Message("1.1", "C1", True, {"text": text}, markdown=True, settings={"parse": "full"})
    return pings(message)


@pytest.mark.parametrize("ping", PINGS)
def test_e5_nothing_pings_anybody_and_everything_stays_readable(ping: str) -> None:
    text = render(f"all: {ping}!")
    assert alerts(text) == []
    assert text.replace("\u200b", "") == f"all: {ping}!"


@pytest.mark.parametrize(
    "text",
    ["@property", "@channels_first", "<!DOCTYPE html>", "<!-- x -->", "a@example.org", "<@>"],
)
def test_code_that_looks_like_a_ping_is_unchanged(text: str) -> None:
    assert render(text) == text


@given(TEXTS)
def test_e5_no_combination_pings_anybody(parts: list[str]) -> None:
    assert alerts(render("".join(parts))) == []


@given(TEXTS, st.integers(0, 60))
def test_the_settled_part_of_a_text_is_a_prefix_of_its_final_form(
    parts: list[str], at: int
) -> None:
    whole = "".join(parts)
    begun = settled(whole[:at])
    if render(whole) != EMPTY:
        assert render(whole).startswith(begun)
    assert alerts(begun) == []


@given(markdowns)
def test_e2_every_piece_fits_in_characters_and_in_utf16_units(text: str) -> None:
    for piece in split(text, LIMIT, size):
        sent = render(piece)
        assert 0 < len(sent) <= MAX_CHARACTERS
        assert len(sent.encode("utf-16-le")) // 2 <= MAX_CHARACTERS


CODE = (
    *PINGS[:3],
    "`",
    "```",
    "\n",
    "\n\n",
    "a",
    " ",
    "[",
    "](https://e.org/@here)",
    "*",
    "2*3",
    "__x__",
)


@given(st.lists(st.sampled_from(CODE)))
def test_e5_no_combination_with_code_and_links_pings_anybody(parts: list[str]) -> None:
    assert alerts(render("".join(parts))) == []


@pytest.mark.parametrize(
    "text",
    [
        "[profile](<@U1>)",
        "[a](<!here>)",
        '[a](https://e.org "<!here>")',
        "_@here_",
        "通知@here",
        "@everyone你好",
        "<\\!here>",
        "<https://e.org|@here>",
        "https://@here",
        "(https://e.org)@here",
        "https://e.org,@channel",
        "````<!here>",
        "````\n```\n<!here>\n````",
        "~~~\n<!here>\n~~~",
        "    <!here>",
        "`` <!here> ``",
        "C:\\a\\` `<!here>`",
        "a ` b `<!here>`",
    ],
)
def test_e5_what_some_reader_takes_for_a_mention_is_broken(text: str) -> None:
    assert mentions(render(text)) == []
    assert mentions(plain(text)) == []
    assert mentions(render(plain(text))) == []


HOSTILE = (
    *CODE,
    "````",
    "~~~",
    "> ",
    "- ",
    "    ",
    "|",
    "|---|\n",
    "\\",
    "\\(",
    "\\)",
    "<",
    ">",
    "&",
)


@examples(300)
@given(st.lists(st.sampled_from(HOSTILE), max_size=14), st.integers(0, 60))
def test_e5_no_reader_finds_a_mention_at_any_moment(parts: list[str], at: int) -> None:
    whole = "".join(parts)
    begun = whole[:at]
    for shown in (render(whole), settled(begun), render(close_open_marks(begun)), plain(whole)):
        assert mentions(shown) == []
    if render(whole) != EMPTY:
        assert render(whole).startswith(settled(begun))


@given(st.lists(st.sampled_from((*CODE, "__x__", "|", "\\", "\\("))), st.integers(0, 60))
def test_the_settled_part_of_code_is_a_prefix_of_its_final_form(parts: list[str], at: int) -> None:
    whole = "".join(parts)
    begun = settled(whole[:at])
    if render(whole) != EMPTY:
        assert render(whole).startswith(begun)


@pytest.mark.parametrize(
    "text",
    [
        "`npm i @here/harp-mapview`",
        "```python\n@group\ndef cli(): ...\n```",
        "ops@here.example",
        "https://medium.example/@channel/post-1",
        "[profile](https://tube.example/@everyone)",
        "`<!here>` and `@here`",
        "> ```\n> @everyone\n> ```",
        "- `@channel`\n- https://e.org/?to=@here",
    ],
)
def test_code_and_addresses_stay_as_they_are(text: str) -> None:
    assert render(text) == text
    for at in range(len(text)):
        assert text.startswith(settled(text[:at])), "nothing is shown that has to be taken back"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("100*100/400*56", r"100\*100/400\*56"),
        ("__init__.py", r"\_\_init\_\_.py"),
        ("`2*3*4` 2*3*4", r"`2*3*4` 2\*3\*4"),
        (r"\[ a_b \]", r"\\\[ a\_b \\\]"),
        ("| a | b |\n|---|---|\n| `x|y` | 2 |", "| a | b |\n|---|---|\n| `x\\|y` | 2 |"),
        ("| a | b |\n|---|---|\n| 1 | 2 | 3 |", "| a | b |\n|---|---|\n| 1 | 2 \\| 3 |"),
    ],
)
def test_what_is_no_mark_is_escaped(text: str, shown: str) -> None:
    assert render(text) == shown
    for at in range(len(text)):
        assert shown.startswith(settled(text[:at]))


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"
SECTIONS = "\n\n".join(f"### Step {number}\n\n- do {number}\n- check it" for number in range(35))


@pytest.mark.parametrize(
    "text", [SECTIONS, f"{TABLE}\n\nand\n\n{TABLE}", "a\n\n" * 60, "---\n" * 50]
)
def test_no_piece_has_more_blocks_or_tables_than_slack_takes(text: str) -> None:
    pieces = split(text, LIMIT, size)
    assert len(pieces) == 2
    for piece in pieces:
        assert len([part for part in piece.split("\n\n") if part.strip()]) <= MAX_BLOCKS
        assert piece.count("|---|") <= 1
    words = [word for piece in pieces for word in piece.split()]
    assert words == text.split()


def test_an_invisible_answer_is_replaced_by_a_note() -> None:
    assert render(" \u200b\n") == EMPTY
    assert render("a\x00b\ud800") == "ab"
    assert neutral("a\r\nb") == "a\nb"


def test_a_server_without_markdown_gets_plain_text() -> None:
    assert plain("**a** <b> & [c](https://example.org) @here") == (
        "a &lt;b&gt; &amp; c (https://example.org) @\u200bhere"
    )


def test_a_possible_beginning_of_a_mention_is_kept_back() -> None:
    for begun in ("", " ", " \n\t", "<", "<!", "<@", "<!hereabou", "@", "@everyon", "<@U1234567"):
        assert settled(f"said{begun}") == "said"
    assert settled("said @everyone1 ") == "said @everyone1"
    assert settled("said <") == "said "


def test_many_spaces_are_settled_quickly() -> None:
    begun = time.process_time()
    assert settled(f"a{' ' * 200_000}b").endswith(" b")
    assert time.process_time() - begun < 2


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("a[^1]\n\n[^1]: note", "a[^1]\n\n\\[^1]: note"),
        ("- [^a b]: note", "- \\[^a b]: note"),
        ("> [^1]: x", "> \\[^1]: x"),
        ("[1]: https://x.org", "[1]: https://x.org"),
        ("costs $5 and $6 `$HOME`", "costs $5 and $6 `$HOME`"),
    ],
)
def test_a_footnote_is_not_taken_for_the_target_of_a_link(markdown: str, shown: str) -> None:
    assert neutral(markdown) == shown


def test_a_footnote_that_is_being_written_is_what_it_will_be() -> None:
    text = "a[^1]\n\n[^1]: note"
    for end in range(len(text)):
        assert neutral(text).startswith(settled(text[:end]))


def test_an_address_is_not_cut_where_its_signs_would_be_escaped_elsewhere() -> None:
    text = "a ` b ![c](https://example.org/~user/__init__.py.png) and 2*3"
    assert settled(text) == text[: text.index("*")]
    assert settled("a ` b __init__.py") == "a ` b "
