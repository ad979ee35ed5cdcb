"""Draws a formula of TeX as MathML, by math-core and through a list of what may stand in it.

What math-core says is taken apart and written again: a tag, an attribute or a style that is not
listed here makes the formula one that is not drawn. No style reaches the page, whose policy allows
none: what a table needs of it becomes classes, and colours and shifts are left out.

The parser goes down with each group and each command whose argument has not ended, and ends the
process where its stack does. A formula that may nest deeper than `MAX_DEPTH` is not given to it,
nor one that defines commands, since one of these could repeat what nests.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import escape
from typing import Final

from math_core import LatexError, LatexToMathML

MAX_SOURCE: Final = 2_000
"""Maximum characters of a formula that is drawn."""

MAX_DEPTH: Final = 120
"""Maximum levels that a formula may nest; each takes up to 3 KB of the stack."""

MAX_EXPANSIONS: Final = 50
"""Maximum commands of math-core's own that stand for others, as `\\cdots` does."""

_CONVERTER: Final = LatexToMathML(
    fancy_error=False,
    allow_unreliable_rendering=True,
    max_expansions=MAX_EXPANSIONS,
    macros={
        "mbox": r"\text{#1}",
        "pmb": r"\boldsymbol{#1}",
        "substack": r"\begin{matrix}#1\end{matrix}",
    },
)

_UNFIT: Final = re.compile(
    r"(?<!\\)(?:\\\\)*%|\\(?:[gex]?def|(?:future)?let|[A-Za-z]*(?:command|environment|[Oo]perator(?!name)))"
    r"(?![A-Za-z])|\\[A-Za-z]*Declare"
)
"""What defines a command, and a comment, in which words would be lost."""

_NESTING: Final = re.compile(
    r"\\(?:(?P<opens>begin|left)|(?P<closes>end|right))(?![A-Za-z])|(?P<parts>\\\\|&)"
    r"|[\^_]\s*(?:[A-Za-z0-9](?![A-Za-z0-9{])|(?P<raised>\{))"
    r"|(?P<group>\{)|(?P<ended>\})|(?P<command>\\[A-Za-z]+|[\^_])|\\."
)
_ROW_HEIGHT: Final = re.compile(r"(\\\\)[ \t]*\[[ \t]*-?[\d.]+[ \t]*[a-z]{2}[ \t]*\]")
_ENVIRONMENT: Final = re.compile(
    r"\\(begin|end)\{(?:(align|alignat|equation|flalign|gather|multline)|(small)matrix|split)\}"
)

_TOKEN: Final = re.compile(r'<(/?)([a-z]+)((?: [a-z]+="[^"<>&]*")*)(/?)>|([^<>]+)')
_ATTRIBUTE: Final = re.compile(r' ([a-z]+)="([^"]*)"')
_REFERENCE: Final = re.compile(r"&(?:(amp|lt|gt|quot|#39)|(ApplyFunction|InvisibleTimes));")
_STRAY: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|#39|ApplyFunction|InvisibleTimes);)")
_INVISIBLE: Final = {"ApplyFunction": "\u2061", "InvisibleTimes": "\u2062"}

_TAGS: Final = frozenset(
    (
        *("math", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mpadded", "mprescripts"),
        *("menclose", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup"),
        *("mtable", "mtd", "mtext", "mtr", "munder", "munderover", "none"),
        *("b", "code", "em", "i", "s", "span", "u"),
    )
)
_FLAG: Final = re.compile("true|false")
_LENGTH: Final = re.compile(r"(?:[0-3](?:\.\d{1,8})?|\.\d{1,8})(?:em|rem|ex)?")
_ATTRIBUTES: Final = {
    **dict.fromkeys(("accent", "accentunder", "displaystyle", "largeop", "movablelimits"), _FLAG),
    **dict.fromkeys(("stretchy", "symmetric"), _FLAG),
    **dict.fromkeys(("lspace", "rspace", "width", "minsize", "maxsize", "linethickness"), _LENGTH),
    "display": re.compile("block"),
    "form": re.compile("prefix|infix|postfix"),
    "mathvariant": re.compile("normal"),
    "scriptlevel": re.compile("[0-2]"),
}
_SPACES_ONLY: Final = frozenset({"width"})
"""What moves other things than a space when it stands elsewhere."""

_FORMS: Final = (
    (re.compile("text-align: ?left"), "left"),
    (re.compile("text-align: ?right"), "right"),
    (re.compile("padding-left: ?0"), "flush-left"),
    (re.compile("padding-right: ?0"), "flush-right"),
    (re.compile("padding-left: ?1em"), "apart"),
    (re.compile("border-left: 0.05em (?:solid|dashed) currentcolor"), "line-left"),
    (re.compile("border-right: 0.05em (?:solid|dashed) currentcolor"), "line-right"),
    (re.compile("border-top: 0.05em (?:solid|dashed) currentcolor"), "line-top"),
    (re.compile("border-bottom: 0.05em (?:solid|dashed) currentcolor"), "line-bottom"),
    (re.compile("color: ?#[0-9A-Fa-f]{6}"), ""),
    (re.compile("justify-items: ?(?:start|end)|width: ?[0-9.]+(?:%|rem)"), ""),
    (re.compile("(?:padding|margin)-(?:left|right|top|bottom): ?-?[0-9.]+(?:em|rem)?"), ""),
    (re.compile("math-shift: ?compact|font-size: ?[0-9.]+(?:%|em|rem)"), ""),
)
"""What becomes of each style: a class, or nothing."""

_CLASSES: Final = {
    "menclose-updiagonalstrike": "",
    "menclose-downdiagonalstrike": "",
    "math-core-serif-font": "",
    "math-core-sans-serif-font": "sans",
}
_NOTATIONS: Final = {
    "box": "boxed",
    "updiagonalstrike": "struck-up",
    "downdiagonalstrike": "struck-down",
    "updiagonalstrike downdiagonalstrike": "struck-out",
}


class _UnknownMathML(Exception):
    """Something that is not on our lists."""


@lru_cache(maxsize=512)
def mathml(source: str, written: str, *, is_block: bool) -> str | None:
    r"""Return a formula as a `math` element, or None where it cannot be drawn.

    `written` is the source with its marks, as in `\(x\)`; the element has it as its `alttext`.
    """
    if len(source) > MAX_SOURCE or _UNFIT.search(source) or _depth(source) > MAX_DEPTH:
        return None
    source = _ENVIRONMENT.sub(_unnumbered, _ROW_HEIGHT.sub(r"\1", source))
    try:
        found = _CONVERTER.convert_with_local_state(source, displaystyle=is_block)
        drawn = "".join(_listed(found))
    except (LatexError, UnicodeError, _UnknownMathML):
        return None
    start, end = drawn.find(">"), drawn.rfind("<")
    if not drawn[start + 1 : end]:
        return None
    return f'{drawn[:start]} alttext="{escape(written)}"{drawn[start:]}'


def _unnumbered(environment: re.Match[str]) -> str:
    """Return an environment without numbers, which the source has not."""
    name = f"{environment[2]}*" if environment[2] else "matrix" if environment[3] else "aligned"
    return f"\\{environment[1]}{{{name}}}"


def _depth(source: str) -> int:
    r"""Return how deep a formula may nest at most.

    A command may have its argument behind it without a group, as in `\hat\hat x`, so that each one
    counts until its group has ended; a cell of a table ends what stands in it.
    """
    depth = deepest = 0
    outside: list[tuple[int, bool]] = []  # the depth before each group, and whether it has cells
    for found in _NESTING.finditer(source):
        kind = found.lastgroup
        if kind in ("opens", "raised", "group"):
            outside.append((depth, found["opens"] == "begin"))
            depth += 1
        elif kind in ("closes", "ended"):
            depth = outside.pop()[0] if outside else depth
        elif kind == "parts" and outside and outside[-1][1]:
            depth = outside[-1][0] + 1
        elif kind is not None:
            depth += 1
        deepest = max(deepest, depth)
    return deepest


def _listed(found: str) -> Iterator[str]:
    """Yield the tags and texts of MathML; raise `_UnknownMathML` at what is on no list."""
    at = 0
    opened: list[str] = []
    for token in _TOKEN.finditer(found):
        if token.start() != at:
            break
        at = token.end()
        closing, tag, attributes, empty, text = token.groups()
        if text is not None:
            if _STRAY.search(text):
                raise _UnknownMathML(text)
            yield _REFERENCE.sub(_character, text)
        elif closing:
            if not opened or opened.pop() != tag or attributes or empty:
                raise _UnknownMathML(token[0])
            yield "</mrow>" if tag == "menclose" else f"</{tag}>"
        else:
            if tag not in _TAGS or (tag == "math") is bool(opened):
                raise _UnknownMathML(token[0])
            yield _opening(tag, attributes)
            if empty:
                yield f"</{tag}>"
            else:
                opened.append(tag)
    if at != len(found) or opened:
        raise _UnknownMathML(found[at:])


def _character(reference: re.Match[str]) -> str:
    return _INVISIBLE[reference[2]] if reference[2] else reference[0]


def _opening(tag: str, attributes: str) -> str:
    written: dict[str, str] = {}
    classes: list[str] = []
    for name, value in _ATTRIBUTE.findall(attributes):
        if name == "style":
            classes += _forms(value)
        elif name == "class" and value in _CLASSES:
            classes += filter(None, (_CLASSES[value],))
        elif name == "notation" and tag == "menclose" and value in _NOTATIONS:
            classes.append(_NOTATIONS[value])
        elif name not in _ATTRIBUTES or not _ATTRIBUTES[name].fullmatch(value):
            raise _UnknownMathML(f"{name}={value}")
        elif name in _SPACES_ONLY and tag != "mspace":
            raise _UnknownMathML(f"{name} of {tag}")
        else:
            written[name] = value
    if classes:
        written["class"] = " ".join(dict.fromkeys(classes))
    shown = "mrow" if tag == "menclose" else tag
    more = "".join(f' {name}="{value}"' for name, value in written.items())
    return f"<{shown}{more}>"


def _forms(style: str) -> Iterator[str]:
    for declared in filter(None, map(str.strip, style.split(";"))):
        for form, name in _FORMS:
            if form.fullmatch(declared):
                if name:
                    yield name
                break
        else:
            raise _UnknownMathML(declared)
