"""Signs that look like marks of another kind, or that stand beside marks and addresses."""

from __future__ import annotations

import pytest

from channels.markdown import parse
from channels.markdown.literal import formulas, literals
from channels.markdown.render import to_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("**the sum is n*(n+1)/2**", "the sum is n*(n+1)/2"),
        ("3*(4+5)*2 and ***a*** b", "3*(4+5)*2 and a b"),
        ("*a b*(c)", "a b(c)"),
        ("**a b**(c)", "a b(c)"),
        ("*a\n\nn*(n+1)", "*a\n\nn*(n+1)"),
        ("`f(*x)` **the sum n*(n+1)/2**", "f(*x) the sum n*(n+1)/2"),
        ("a ` b\n\n**the sum n*(n+1)/2** ` *c", "a ` b\n\nthe sum n*(n+1)/2 ` *c"),
        (r"\`*a b*(c)\`", "`a b(c)`"),
        ("`a*b` *c d*(e)", "a*b c d(e)"),
    ],
)
def test_a_star_before_a_bracket_ends_only_what_a_star_began(text: str, shown: str) -> None:
    assert to_text(text) == shown


MONEY = [
    "costs $5 [`$HOME`](https://x.org) `a`",
    "$1,000 `x` $2",
    "US$3 `x` $y",
    "5$ **a** `x` 6$",
    "~$20 2**10 and \\| `x` 5$",
    "$ a `x` $",
    "$5 for `$PATH` and `$HOME`",
    "$5 10%3 `x` 5$",
    "$5 10%3 5$ `x`",
    "$10-$20 \u6570\u636e\u5e93](https://example.org/~user/__init__.py) 5$ `x`",
    "$5 a[i]*b[j] 5$ `x`",
    "$5 \u2713 1,000$ `x`",
    "$5 10%$ `x`",
]


@pytest.mark.parametrize("text", MONEY)
def test_money_and_variables_are_no_formula_and_leave_code_alone(text: str) -> None:
    names = [one.name for one in parse(text)]
    assert "InlineMath" not in names
    assert names.count("Code") == text.count("`") // 2


FORMULAS = [
    "$x$",
    "$x^2$",
    "$2x + 3$",
    "$2 + 3$",
    r"$3 \times 4$",
    r"$1 \leq n \leq 5$",
    "$2 x = 5$",
    "$2 (x + 1) < 5$",
    "$$a$$",
    "$$\na\nb\n$$",
    "$E = mc^2$",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_in_dollars_stays_one(formula: str) -> None:
    names = [one.name for one in parse(f"a {formula} b")]
    assert len({"InlineMath", "DisplayMath"} & set(names)) == 1
    assert literals(f"a {formula} b") == []


def test_an_escaped_dollar_is_a_dollar() -> None:
    assert to_text(r"\$5 and \$x\$") == "$5 and $x$"


def test_a_path_begins_no_formula() -> None:
    text = r"D:\data\[old]\a **b** \[a\]"
    assert list(formulas(text)) == [(len(text) - 5, len(text))]
    assert to_text(text) == r"D:\data\[old]\a b \[a\]"


@pytest.mark.parametrize(
    "text",
    [
        "see _https://en.wikipedia.org/wiki/C_(language)",
        "请看https://example.org/~user/__init__.py",
        "_at https://example.org/a_(b)_c",
    ],
)
def test_an_address_keeps_its_signs(text: str) -> None:
    assert to_text(text) == text


def test_a_table_ends_with_the_quote_that_it_stands_in() -> None:
    text = "> a | b | c\n> --|---|--\nd | e\n--|--\n1 | 2 | 3"
    assert "3" in to_text(text)
    assert [text[at:] for at in literals(text)] == ["| 3"]


@pytest.mark.parametrize("line", ["----", "# head", "* * *", "- item", "1. item"])
def test_a_table_ends_with_a_block_of_another_kind(line: str) -> None:
    text = f"a | b | c\n--|---|--\n{line}\nd | e\n--|--\n1 | 2 | 3"
    assert "| 3" in [text[at:] for at in literals(text)]


@pytest.mark.parametrize("path", ["__init__.py", "a_(__b__)", "2*3*4", "$5", "x||y"])
def test_a_link_may_have_signs_in_its_target(path: str) -> None:
    url = f"https://example.org/{path}"
    (opened,) = (one for one in parse(f"see [a]({url}) b") if one.phase == "open" and one.data)
    assert opened.name == "Link"
    assert opened.data["dest_url"] == url
    (angled,) = (one for one in parse(f"see <{url}> b") if one.phase == "open" and one.data)
    assert angled.name == "Link"
    assert angled.data["dest_url"] == url
