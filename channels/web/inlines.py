"""What the page's Markdown has besides CommonMark: bare URLs as links, formulas, footnotes."""

from __future__ import annotations

import re
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.rules_block import reference

_SCHEME: Final = re.compile(r"(?<![A-Za-z])https?\Z", re.IGNORECASE)
# Punctuation of Chinese and Japanese ends a URL as a space does.
_REST: Final = re.compile(r"://[^\s<>\"`|\u3000-\u303f\uff00-\uffef]{1,2000}")
_FORMULA: Final = re.compile(
    r"\\\((?P<round>.{1,500}?)\\\)|\\\[(?P<square>.{1,500}?)\\\]|\$\$(?P<double>[^$]{1,500})\$\$"
    r"|\$(?P<single>[^\s$](?:[^$\n]{0,200}[^\s$])?)\$(?![\w$])",
    re.DOTALL,
)
_LABEL: Final = re.compile(r"\[(?:[^\[\]\\]|\\.){1,999}\](?=:)")
_PRICE: Final = re.compile(r"(?:[^\W_]|[.,;:!?'\" -]){2,}")
"""What stands between two dollar signs without being a formula, as in "$5 or 10$"."""


def add_inlines(markdown: MarkdownIt) -> None:
    """Add the rules to a parser."""
    markdown.inline.add_terminator_char(":")
    markdown.inline.add_terminator_char("$")
    markdown.inline.ruler.before("escape", "formula", _formula)
    markdown.inline.ruler.push("bare_link", _bare_link)
    markdown.block.ruler.at("reference", _reference, {"alt": []})


def _bare_link(state: Any, silent: bool) -> bool:
    if silent or state.linkLevel or state.src[state.pos] != ":":
        return False
    scheme = _SCHEME.search(state.pending[-6:])  # not all of it at each colon
    rest = _REST.match(state.src, state.pos, state.posMax)
    if scheme is None or rest is None:
        return False
    text = _without_punctuation(rest[0])
    target = state.md.normalizeLink(scheme[0] + text)
    if text == "://" or not state.md.validateLink(target):
        return False
    state.pending = state.pending[: -len(scheme[0])]
    state.push("link_open", "a", 1).attrSet("href", target)
    state.push("text", "", 0).content = scheme[0] + text
    state.push("link_close", "a", -1)
    state.pos += len(text)
    return True


def _without_punctuation(text: str) -> str:
    """Leave out what follows a URL in a sentence, such as a bracket that it did not open."""
    while len(text) > len("://"):
        closes = text[-1] in ")]" and text.count(text[-1]) > text.count("(["[text[-1] == "]"])
        if not closes and text[-1] not in ".,;:!?'*_~":
            break
        text = text[:-1]
    return text


def _formula(state: Any, silent: bool) -> bool:
    if state.src[state.pos] not in "\\$" or state.src[state.pos - 1 : state.pos] == "\\":
        return False  # what an escaped backslash stands before, as in a path
    found = _FORMULA.match(state.src, state.pos, state.posMax)
    if found is None or (found["single"] and _PRICE.fullmatch(found["single"])):
        return False
    if not silent:
        token = state.push("code_inline", "code", 0)
        token.content = next(text for text in found.groups() if text).strip()
        token.attrSet("class", "math" if found["round"] or found["single"] else "math math-block")
    state.pos = found.end()
    return True


def _reference(state: Any, start: int, end: int, silent: bool) -> bool:
    """Leave where it is what would be hidden: a footnote's text, and the target of no link.

    Markdown takes the first word of a footnote for a link's target.
    """
    begin = state.bMarks[start] + state.tShift[start]
    label = _LABEL.match(state.src, begin)
    if label is None or label[0].startswith("[^"):
        return False
    folded = state.env.setdefault("folded", state.src.casefold())
    name = label[0].casefold()
    is_used = folded.count(name) > folded.count(f"{name}:")
    return is_used and bool(reference(state, start, end, silent))
