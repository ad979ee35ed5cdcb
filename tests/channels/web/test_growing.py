"""A formula that is being written is not shown in one form after the other."""

from __future__ import annotations

import pytest

from channels.web.growing import MAX_HELD, settled

GROWING = [
    r"The sum \(x^2 + \frac{a}{b}\) is \$5 and $\alpha_1$ or $x$, for $5.",
    "a\n\n$$\nx *b* c\n$$\n\nend $HOME/$USER and 5$ more",
    r"so \[ a_1 *b* c_2 \] and `$\x` then $\frac{a}{b}$ end",
    "- one \\(a\\)\n- two $$b$$\n\n```\n$\\x \\(\n```\n\nend",
]


@pytest.mark.parametrize("text", GROWING)
def test_what_was_shown_of_a_growing_text_goes_on(text: str) -> None:
    before = ""
    for end in range(1, len(text) + 1):
        shown = settled(text[:end])
        if "`" not in text[:end].rpartition("\n")[2]:
            assert shown.startswith(before)
        before = shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (r"so \(x^2", "so "),
        (r"so \[ *a", "so "),
        ("so $$x", "so "),
        (r"so $\alpha", "so "),
        ("so $", "so "),
        ("so \\", "so "),
        ("costs $5 and", "costs $5 and"),
        ("in $HOME is", "in $HOME is"),
        (r"so \(x\) is", r"so \(x\) is"),
        ("so $$x$$", "so $$x$$"),
        ("`a` $$x", "`a` "),
        ("`$$x` is", "`$$x` is"),
        ("```\n$$x \\(", "```\n$$x \\("),
        ("so \\(x\n\nnext", "so \\(x\n\nnext"),
        ("kill $$ " + "x" * MAX_HELD, "kill $$ " + "x" * MAX_HELD),
    ],
)
def test_a_formula_without_an_end_waits_for_it(text: str, shown: str) -> None:
    assert settled(text) == shown
