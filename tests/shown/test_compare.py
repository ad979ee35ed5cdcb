"""What the oracle lets a target leave out, and what it finds."""

from __future__ import annotations

import pytest

from tests.shown.compare import Shown, missing
from tests.shown.growing import too_much
from tests.shown.shrink import smaller


@pytest.mark.parametrize(
    ("text", "shown", "targets"),
    [
        ("a [label](https://x.org/b)", "a label", ["https://x.org/b"]),
        ("a [https://x.org](https://x.org)", "a https://x.org", []),
        ('![a](https://x.org "the title")', "a", ["https://x.org"]),
        ("[a][1]\n\n[1]: https://x.org", "a", ["https://x.org"]),
        ("```python\nx\n```", "x", []),
        ("1. a\n1. b", "1. a\n2. b", []),
        ("- [x] a", "☑ a", []),
        ("caf&eacute; &amp; &#65;", "café & A", []),
        (r"\(\frac{a}{b} \alpha\)", "ab \u03b1", []),
        ("word[^n] more\n\n[^n]: note", "word1 more\n1. note", []),
        ("**H**yper**T**ext", "HyperText", []),
        ("请**注意**的", "请注意的", []),
        ("`a`b", "ab", []),
    ],
)
def test_what_may_be_missing(text: str, shown: str, targets: list[str]) -> None:
    assert missing(text, Shown((shown,), tuple(targets))) is None


@pytest.mark.parametrize(
    ("text", "shown", "targets"),
    [
        ("a [label](https://x.org/b)", "a label", []),
        ("a [label](https://x.org/b)", "a label", ["https://x.org/c"]),
        ("a [label](https://x.org/b)", "a", ["https://x.org/b"]),
        ("[a][1] b", "a b", []),
        ("```python\nx\n```", "python", []),
        ("1. a", "a", []),
        ("x a", "a", []),
        ("amp a", "a", []),
        (r"\alpha a", "a", []),
        ("100*100", "100100", []),
        ("a**b**c", "abc", []),
        ("2 **10** 3", "2 1 0 3", []),
        ("one two", "two one", []),
        ("one two", "one two three", []),
        ("a_b", "ab", []),
        ("a b", "ab", []),
        ("a\nb", "ab", []),
        ("a|b", "ab", []),
        ("1 - 2", "12", []),
    ],
)
def test_what_may_not(text: str, shown: str, targets: list[str]) -> None:
    assert missing(text, Shown((shown,), tuple(targets))) is not None


def test_words_that_are_kept_are_seen_with_every_sign() -> None:
    assert missing("__init__.py", Shown(("init.py",))) is None
    assert missing("__init__.py", Shown(("init.py",)), ("__init__.py",)) is not None
    assert missing("__init__.py", Shown(("a\n> __init__.py",), wraps=True), ("__init__.py",))
    quoted = Shown(("> is x\n> > y",), wraps=True)
    assert missing("> is x > y", quoted, ("x > y",)) is None
    assert missing("> is x > y", quoted, ("is > x",)) is not None


def test_a_later_message_may_repeat_and_a_word_may_go_on_in_it() -> None:
    assert missing("h1 h2 a b", Shown(("h1 h2 a", "h1 h2 b"))) is None
    assert missing("h1 h2 a b", Shown(("h1 h2 a", "h2 h1 b"))) is not None
    assert missing("longword", Shown(("long", "word"))) is None
    assert missing("longword", Shown(("long word",))) is not None


def test_the_last_message_may_have_no_words() -> None:
    assert missing("a b", Shown(("a b", "---"))) is None
    assert missing("a b c", Shown(("a b", "---"))) is not None


def test_a_word_of_a_script_without_blanks_may_go_on_in_the_next_line_of_a_terminal() -> None:
    assert missing("重要的", Shown(("重要\n的",), wraps=True)) is None
    assert missing("重要的", Shown(("重要\n的",))) is not None
    assert missing("word", Shown(("wo\nrd",), wraps=True)) is not None


def test_what_a_part_shows_and_the_whole_does_not_is_found() -> None:
    assert too_much("a b\n\nc", "a b c", "a b c d") is None
    assert too_much("a b\n\nc", "a x c", "a b c d") == "x"
    assert too_much("a\n\n`b [c](ht", "a b c ht", "a") is None


def test_a_text_that_fails_is_made_smaller() -> None:
    text = "\n\n".join(f"a {number} b" for number in range(50))
    assert smaller(text, lambda one: "17" in one) == "17"
