"""Texts with a parse_mode, as far as a bot that gives entities will ever need to see it."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import BadEntity, is_link, units

_TAGS: Final = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
    "a": "text_link",
}
_TAG: Final = re.compile(r"<(/?)([a-zA-Z0-9-]*)([^>]*)>|<")
_HREF: Final = re.compile(r"""href\s*=\s*["']?([^"'>\s]*)""")
_MARKS: Final = {
    "*": "bold",
    "_": "italic",
    "__": "underline",
    "~": "strikethrough",
    "||": "spoiler",
    "`": "code",
    "```": "pre",
}
_MARK: Final = re.compile(
    r"\\([\x21-\x7e])|(```|\|\||__|[*_~`])|\[|\]\(([^)]*)\)|([\]()>#+=|{}.!-])"
)
_OLD_MARK: Final = re.compile(r"\\([_*`\[])|(```|[*_`])|\[|\]\(([^)]*)\)")


@dataclass(slots=True)
class _Out:
    """Collect plain text and the entities that are open and done."""

    text: str = ""
    open: list[tuple[str, int]] = field(default_factory=list)
    done: list[JsonObject] = field(default_factory=list)

    def begin(self, kind: str) -> None:
        self.open.append((kind, units(self.text)))

    def end(self, url: str | None = None) -> None:
        kind, start = self.open.pop()
        length = units(self.text) - start
        entity: JsonObject = {"type": kind, "offset": start, "length": length}
        if kind == "text_link":
            # Unlike an entity that is given, a link that leads nowhere is only dropped here.
            if not is_link(url or ""):
                return
            entity["url"] = url
        if length:
            self.done.append(entity)


def parsed(text: str, parse_mode: str) -> tuple[str, list[object]]:
    """Return the plain text and its entities; raises BadEntity for what cannot be parsed."""
    readers = {"html": _html, "markdownv2": _markdown, "markdown": _old_markdown}
    reader = readers.get(parse_mode.lower())
    if reader is None:
        raise BadEntity("unsupported parse_mode")
    out = reader(text)
    return out.text, list(out.done)


def _html(text: str) -> _Out:
    out, position, links = _Out(), 0, list[str]()
    for found in _TAG.finditer(text):
        out.text += html.unescape(text[position : found.start()])
        position = found.end()
        kind = _TAGS.get((found[2] or "").lower())
        at = f"at byte offset {len(text[: found.start()].encode())}"
        if kind is None:
            raise _unparsable(f'Unsupported start tag "{(found[2] or "").lower()}" {at}')
        if not found[1]:
            links += _HREF.findall(found[3])[:1] or [""] if kind == "text_link" else []
            out.begin(kind)
        elif not out.open or out.open[-1][0] != kind:
            raise _unparsable(f"Unmatched end tag {at}")
        else:
            out.end(links.pop() if kind == "text_link" else None)
    out.text += html.unescape(text[position:])
    if out.open:
        raise _unparsable("Can't find end tag corresponding to start tag")
    return out


def _markdown(text: str) -> _Out:
    return _marked(text, _MARK)


def _old_markdown(text: str) -> _Out:
    return _marked(text, _OLD_MARK)


def _marked(text: str, marks: re.Pattern[str]) -> _Out:
    out, position = _Out(), 0
    for found in marks.finditer(text):
        out.text += text[position : found.start()]
        position = found.end()
        _mark(out, found)
    out.text += text[position:]
    if out.open:
        raise _unparsable(f"Can't find end of {out.open[-1][0]} entity")
    return out


def _mark(out: _Out, found: re.Match[str]) -> None:
    escaped, mark, url = found[1], found[2], found[3]
    kind = _MARKS.get(mark or "")
    inside = out.open[-1][0] if out.open else ""
    if escaped is not None:
        out.text += escaped
    elif inside in ("code", "pre") and kind != inside:
        out.text += found[0]
    elif kind is not None and inside == kind:
        out.end()
    elif kind is not None:
        out.begin(kind)
    elif found[0] == "[":
        out.begin("text_link")
    elif url is not None and inside == "text_link":
        out.end(url)
    else:
        reserved = found[0][0]
        raise _unparsable(
            f"Character '{reserved}' is reserved and must be escaped with the preceding '\\'"
        )


def _unparsable(why: str) -> BadEntity:
    return BadEntity(f"can't parse entities: {why}")
