"""Readers of what Slack is sent, that differ in what they take for code: none may see a mention.

Slack does not publish how it reads Markdown. What one of them would take for a mention may be one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from markdown_it import MarkdownIt

_MENTION: Final = re.compile(
    r"<\\?(?:!(?:here|channel|everyone|group|subteam)|@[UWBS])"
    r"|(?<![A-Za-z0-9])@(?:here|channel|everyone|group)(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_ADDRESS: Final = re.compile(r"(?<![A-Za-z0-9])https?://[\w-]+\.[\w.-]+[/?#][^\s<>()\[\]*|`\"',!]*")
_PAIRS: Final = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_COMMON: Final = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def mentions(text: str) -> list[str]:
    """Return what some reader takes for a mention."""
    return [found for read in READERS for found in _MENTION.findall(_ADDRESS.sub(" ", read(text)))]


def by_pairs(text: str) -> str:
    """Return the text outside of code for who pairs backticks, without escapes and blocks."""
    return _PAIRS.sub(" ", text)


def by_common_mark(text: str) -> str:
    """Return the text outside of code for who reads CommonMark, with its HTML and targets."""
    return "\n".join(_outside_code(text))


def by_lines(text: str) -> str:
    """Return the text outside of fences, and of code within a line, for who looks at lines."""
    kept: list[str] = []
    fence = False
    for line in text.split("\n"):
        if line.strip(" \t>-").startswith("```"):
            fence = not fence
            kept.append(line)
        elif not fence:
            kept.append(re.sub(r"(`+)[^`]+\1", " ", line))
    return "\n".join(kept)


def _outside_code(text: str) -> Iterator[str]:
    for token in _COMMON.parse(text):
        if token.type == "fence":
            yield token.info
        elif token.type == "html_block":
            yield token.content
        line = []
        for inline in token.children or ():
            if inline.type != "code_inline":
                line += [inline.content, str(inline.attrGet("href") or "")]
                line.append(str(inline.attrGet("title") or ""))
        yield "".join(line)


READERS: Final[tuple[Callable[[str], str], ...]] = (by_pairs, by_common_mark, by_lines)
