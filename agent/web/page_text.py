"""The readable text of a page; it runs in a worker process, since a page may be hostile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from selectolax.lexbor import LexborHTMLParser

_CHARSETS: Final = re.compile(
    r"utf-?8|us-ascii|latin-?1|iso-8859-\d{1,2}|windows-\d{3,4}|cp\d{3,4}|koi8-[ru]|gb18030|gbk"
    r"|gb2312|big5|shift_jis|euc-(?:jp|kr)|utf-16(?:le|be)?|tis-620",
    re.IGNORECASE,
)
_DECLARED: Final = re.compile(rb"charset=[\"']?([\w-]{1,20})", re.IGNORECASE)
_HIDDEN: Final = ["script", "style", "noscript", "template", "svg", "iframe", "object", "nav"]
_INLINE: Final = re.compile(
    r"a|abbr|b|bd[io]|cite|code|data|dfn|em|font|i|ins|kbd|label|mark|q|s|samp|small|span|strong"
    r"|su[bp]|time|tt|u|var|wbr|-comment"
)
_SPACES: Final = re.compile(r"\s+")
_LINES: Final = re.compile(r" ?\n[ \n]*")
MAX_TITLE: Final = 300


@dataclass(frozen=True, slots=True)
class Source:
    """A page's bytes, with its media type and the charset that its server named."""

    body: bytes
    mime: str
    charset: str


def page_text(source: Source) -> tuple[str, str]:
    """Return the title and the text of a page."""
    text = source.body.decode(_charset(source), "replace").replace("\x00", "\ufffd")
    if "html" not in source.mime:
        return "", text.strip()
    parser = LexborHTMLParser(text)
    found = parser.css_first("title")
    title = " ".join(found.text().split())[:MAX_TITLE] if found is not None else ""
    parser.strip_tags(_HIDDEN)
    body = parser.body
    if body is None:
        return title, ""
    parts = []
    for node in body.traverse(include_text=True):
        if node.tag == "-text":
            parts.append(_SPACES.sub(" ", node.text_content or ""))
        elif not _INLINE.fullmatch(node.tag or ""):
            parts.append("\n")
    return title, _LINES.sub("\n", "".join(parts)).strip()


def _charset(source: Source) -> str:
    declared = _DECLARED.search(source.body[:2048]) if "html" in source.mime else None
    for name in (source.charset, declared[1].decode("ascii", "replace") if declared else ""):
        if _CHARSETS.fullmatch(name):
            return name
    return "utf-8"
