"""What the reader of Slack's Markdown shows of a table, and where one ends."""

from __future__ import annotations

import pytest

from tests.fakes.slack.reader import read

HEAD = "| a | b |\n| - | - |\n| 1 | 2 |\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (HEAD + "x||y||z", "a | b\n1 | 2\nx | "),
        (HEAD + "7. x||y||z", "a | b\n1 | 2\n7. x||y||z"),
        (HEAD + "- x||y||z", "a | b\n1 | 2\n• x||y||z"),
        ("> | a | b |\n> | - | - |\nx||y||z", "a | b\nx||y||z"),
        ("> | a | b |\n> | - | - |\n> | 1 | 2 |\nx||y||z", "a | b\n1 | 2\nx||y||z"),
        ("> | a | b |\n> | - | - |\n> x\n> y||z||x", "a | b\nx\ny | "),
        ("> a\nx||y||z", "a\nx||y||z"),
        ("- | a | b |\n  | - | - |\nx||y||z", "• a | b\nx||y||z"),
    ],
)
def test_a_table_ends_as_standard_markdown_says(text: str, shown: str) -> None:
    assert read(text).text == shown
