"""Links in a model's text: found as platforms may find them, and made harmless.

In a tainted view, a link may carry what the model knows to somebody else. A link that stands
verbatim in the view says nothing new; any other becomes plain text without its query, and without
parts that are long enough to hide words in.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from html import unescape
from typing import Final
from urllib.parse import urlsplit

MAX_PART_CHARACTERS: Final = 40
"""Maximum characters of a label of a host and of a piece of a path that stay."""

MAX_HELD_CHARACTERS: Final = 2000  # maximum of a line held back, but for an unfinished link

_END: Final = r"""[^\s<>"`]"""
_RUN: Final = f"{_END}{{1,700}}"
_LINK: Final = re.compile(
    rf"""(?:
        [a-z][a-z0-9+.-]{{1,20}}://{_RUN}
      | (?:mailto|tel|sms|data|javascript|vbscript|file|magnet|xmpp|tg|slack|discord):{_RUN}
      | (?:(?<![\w.+%@-]) (?:[\w.+%-]+@)? | (?<=[+%]))
        (?: (?:[\w-]+[.\u3002\uff0e\uff61]){{20}} [\w.\u3002\uff0e\uff61-]*
          | (?:[\w-]+[.\u3002\uff0e\uff61]){{1,19}} [a-z]{{2,24}} (?![\w\u0300-\u036f-]) )
        (?::\d+)? (?:[/?\#]{_END}{{0,700}})?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MAYBE: Final = re.compile(r"[:.\u3002\uff0e\uff61]")
_TOKENS: Final = re.compile(rf"{_END}+")
_CODED: Final = re.compile(r"&[#a-z]|\\[!-/:-@\[-`{-~]", re.IGNORECASE)
_ESCAPED: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_TARGET: Final = re.compile(r"\](\(|:)(?=\s*<?())")
_OPEN: Final = re.compile(r"!?\[[^\[\]]*(?:\](?:\([^()]*|:\s*\S*)?)?$|`[^`]*$|<[^<>]*$")
_ASCII: Final = re.compile(r"[!-~]")
_MORE: Final = re.compile(rf"""[.,;:!?*_~'\\)\]]{{0,2000}}(?![.,;:!?*_~'\\)\]]){_END}""")
_NOT_MORE: Final = ("](", "]:", "][")
_FENCE: Final = re.compile(r"[ >]*(```|~~~)")
_CODE: Final = re.compile(r"(`+[^`]*`+)")


def links_in(text: str) -> set[str]:
    """Return the links in a text."""
    return {text[start:end] for start, end in _spans(text)} if _MAYBE.search(text) else set()


def plain_link(link: str) -> str:
    """Return a link as text: without what could carry words to the host."""
    scheme, mark, rest = link.partition("://")
    if not mark:
        head, colon, _rest = link.partition(":")
        if colon and "/" not in head and "." not in head:
            return f"{head}:..."
        scheme, rest = "", link
    try:
        parts = urlsplit(f"//{rest}")
        host, path = parts.netloc.rpartition("@")[2], parts.path
    except ValueError:
        host, path = re.split(r"[/?#]", rest, maxsplit=1)[0], ""
    labels = [_short(label) for label in host.split(".")]
    pieces = [_short(piece) for piece in path.split("/")]
    return f"{scheme}{mark}{'.'.join(labels)}{'/'.join(pieces)}"


def without_new_links(text: str, known: Container[str]) -> str:
    """Return a text in which only the known links are links."""
    return LinkFilter(known).whole(text)


class LinkFilter:
    """Filters a text that arrives in pieces; what may be an unfinished link is held back."""

    def __init__(self, known: Container[str]) -> None:
        self._known = known
        self._held = ""
        self._fenced = False
        self._fresh = True  # whether the next character begins a line

    def whole(self, text: str) -> str:
        return self.feed(text) + self.end()

    def feed(self, delta: str) -> str:
        """Take a piece of the text; return what can be shown by now."""
        self._held += delta
        if not re.search(r"\s|[^!-~]", delta) and len(self._held) > len(delta):
            return ""
        line = self._held.rfind("\n") + 1
        tail = self._held[line:]
        cut = len(tail)
        if len(tail) > MAX_HELD_CHARACTERS:
            pass
        elif (line or self._fresh) and re.match(r"[ >]*[`~\[]", tail):
            cut = 0
        elif found := _OPEN.search(tail):
            cut = found.start()
        cut = _word_begins(tail, cut)
        shown, self._held = self._held[: line + cut], self._held[line + cut :]
        return self._clean(shown)

    def end(self) -> str:
        """Return the rest of the text."""
        rest, self._held = self._held, ""
        return self._clean(rest)

    def _clean(self, text: str) -> str:
        lines = []
        for line in text.splitlines(keepends=True):
            fence = self._fresh and _FENCE.match(line)
            if fence:
                self._fenced = not self._fenced
            code = self._fenced or bool(fence)
            lines.append(_clean_line(line, self._known, code=code))
            self._fresh = line.endswith("\n")
        return "".join(lines)


def _clean_line(line: str, known: Container[str], *, code: bool) -> str:
    if not _MAYBE.search(line) and "](" not in line and not _CODED.search(line):
        return line
    if code:
        return _replaced(line, known, "")
    parts = _CODE.split(line)
    return "".join(
        _replaced(part, known, "") if number % 2 else _plain(part, known)
        for number, part in enumerate(parts)
    )


def _plain(text: str, known: Container[str]) -> str:
    if _CODED.search(text):
        text = _TOKENS.sub(lambda found: _decoded(found[0], known), text)
    text = _TARGET.sub(lambda found: _target(found, known), text)
    return _replaced(text, known, "`")


def _decoded(token: str, known: Container[str]) -> str:
    """Return a token decoded if that shows a link which the codes had hidden."""
    if not _CODED.search(token):
        return token
    decoded = unescape(_ESCAPED.sub(r"\1", token))
    shown = links_in(token)
    return token if all(one in shown or one in known for one in links_in(decoded)) else decoded


def _target(found: re.Match[str], known: Container[str]) -> str:
    """Part a link's text from its target, unless the target is known."""
    if _LINK.match(found.string, found.start(2)):
        start, end = next(_spans(found.string, found.start(2)), (0, 0))
        if found.string[start:end] in known:
            return found[0]
    return f"] {found[1]}"


def _replaced(text: str, known: Container[str], quote: str) -> str:
    shown: list[str] = []
    last = 0
    for start, end in _spans(text):
        link = text[start:end]
        if link in known and not _runs_on(text, start, end):
            continue
        shown += [text[last:start], quote, plain_link(link), quote]
        last = end
    return "".join([*shown, text[last:]])


def _spans(text: str, at: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where links begin and end, as Markdown and the platforms see it."""
    while found := _LINK.search(text, at):
        start, end = found.span()
        depth = {")": 0, "]": 0}
        for place in range(start, end):
            if text[place] in "([":
                depth[")" if text[place] == "(" else "]"] += 1
            elif text[place] in depth:
                depth[text[place]] -= 1
                if depth[text[place]] < 0:
                    end = place
                    break
        end = start + len(text[start:end].rstrip(".,;:!?*_~'\\"))
        if end > start:
            yield start, end
        at = max(end, start + 1)


def _word_begins(text: str, end: int) -> int:
    """Return where the word begins that a text ends with, at its first character of ASCII.

    A pattern that is tried at each character of a long word would take the square of its length.
    """
    if not end or text[end - 1].isspace():
        return end
    begin = end - len(text[:end].rsplit(None, 1)[-1])
    found = _ASCII.search(text, begin, end)
    return found.start() if found else end


def _runs_on(text: str, start: int, end: int) -> bool:
    """Return whether a platform could take more of the text for the link."""
    if text[max(0, start - 2) : start].endswith(("](", "](<", "(<")):
        return False
    return _MORE.match(text, end) is not None and not text.startswith(_NOT_MORE, end)


def _short(part: str) -> str:
    return part if len(part) <= MAX_PART_CHARACTERS else "..."
