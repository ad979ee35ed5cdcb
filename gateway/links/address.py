"""Reads a link as the most lenient reader would: a browser's address bar."""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple
from urllib.parse import unquote

WEB: Final = ("http", "https")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_PORT: Final = re.compile(r"[^/?#\\@]*[.\u3002\uff0e\uff61][^/?#\\@]*:\d")
_DOTS: Final = str.maketrans({"\u3002": ".", "\uff0e": ".", "\uff61": "."})
_LABEL: Final = re.compile(r"(?!-)[\w-]+")
_IPV4: Final = re.compile(r"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})")
_NUMBER: Final = re.compile(r"(?:0x[0-9a-f]*|\d+)", re.IGNORECASE)
_TWO_HOSTS: Final = re.compile(r"[^/?#\\]*\\[^/?#]*@")
"""A browser ends the host at a backslash; to other readers, what is before the sign is a user."""

_ESCAPES: Final = re.compile(r"%[0-9a-fA-F]{2}")
_ODD: Final = re.compile(
    r"\d|[\u00ad\u0300-\u036f\u061c\u180b-\u180f\u1ab0-\u1aff\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u20d0-\u20ff\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff"
    # Digits in circles and of old scripts, which are no decimals and have no other form.
    r"\u1369-\u1371\u19da\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792"
    r"\U00010a40-\U00010a43\U00010e60-\U00010e68\U00011052-\U0001105a]"
)
_ROUNDS: Final = 3


class LinkParts(NamedTuple):
    """The parts of a link, each as it was written but for the host.

    kind   web (http, https, or none was written), mail, other (another scheme), or relative
    start  what stands before the host: the scheme and its slashes, or ""
    host   in lower case; "" if there is none that a link may lead to
    """

    kind: str
    start: str = ""
    user: str = ""
    host: str = ""
    port: str = ""
    path: str = ""
    query: str = ""
    fragment: str = ""
    scheme: str = ""

    @property
    def labels(self) -> list[str]:
        return self.host.split(".")

    @property
    def is_ip(self) -> bool:
        return _IPV4.fullmatch(self.host) is not None


def read(link: str, *, is_target: bool = False) -> LinkParts:
    """Return the parts of a link; a target of Markdown without a scheme is relative."""
    text = link
    if not (link.isascii() and link.isprintable()):
        text = "".join(one for one in link if unicodedata.category(one) not in ("Cc", "Cf"))
    text = text.strip()
    scheme, start, rest = "", "", text
    found = _SCHEME.match(text)
    if found and not _PORT.match(text):
        scheme, rest = found[1].lower(), text[found.end() :]
        if scheme not in WEB:
            return LinkParts("other", scheme=scheme)
        bare = rest.lstrip("/\\")
        start, rest = f"{scheme}://", bare
    elif text[:2].replace("\\", "/") == "//":
        start, rest = "https://", text.lstrip("/\\")
    elif is_target:
        return LinkParts("relative")
    if _TWO_HOSTS.match(rest):
        return LinkParts("web", start, scheme=scheme)
    place, path, query, fragment = _parted(rest)
    user, at, server = place.rpartition("@")
    host, port = _host(server)
    if at and not start and not (path or query or fragment or port) and ":" not in user:
        return LinkParts("mail", "", user, host)
    return LinkParts("web", start, user + at, host, port, path, query, fragment, scheme)


def _parted(rest: str) -> tuple[str, str, str, str]:
    rest, mark, fragment = rest.partition("#")
    fragment = mark + fragment
    rest, mark, query = rest.partition("?")
    query = mark + query
    rest = rest.replace("\\", "/")
    place, mark, path = rest.partition("/")
    return place, mark + path, query, fragment


def _host(server: str) -> tuple[str, str]:
    """Return a host that names one place for every reader, or "", and the port."""
    host, colon, port = server.partition(":")
    if _ESCAPES.search(host) and host.isascii() and unquote(host).isascii():
        return "", port  # which nobody writes who has nothing to hide
    host = unicodedata.normalize("NFKC", unquote(host).translate(_DOTS)).lower().rstrip(".")
    if colon and not re.fullmatch(r"[0-9]{0,5}", port):
        return "", port
    labels = host.split(".")
    if len(labels) < 2 or len(host) > 253 or not all(_LABEL.fullmatch(one) for one in labels):
        return "", port
    if _NUMBER.fullmatch(labels[-1]) and not _is_ip(host):
        return "", port
    return host, port


def _is_ip(host: str) -> bool:
    return _IPV4.fullmatch(host) is not None and all(int(one) < 256 for one in host.split("."))


def decoded(text: str) -> str | None:
    """Return a part without percent-encoding; None if that has no end, or is no text."""
    for _ in range(_ROUNDS):
        if not _ESCAPES.search(text):
            return text
        try:
            text = unquote(text, errors="strict")
        except UnicodeDecodeError:
            return None
    return None if _ESCAPES.search(text) else text


def folded(text: str) -> str:
    """Return a text as it is compared: one form of each letter and digit, nothing invisible."""
    if not text.isascii():
        text = _ODD.sub(_plain, unicodedata.normalize("NFKC", text))
    return text.casefold()


def _plain(found: re.Match[str]) -> str:
    digit = unicodedata.digit(found[0], None)
    return "" if digit is None else str(digit)


def unicode_label(label: str) -> str | None:
    """Return a label of a host as people read it; None if nobody can."""
    if not label.startswith("xn--"):
        return label
    try:
        return label[4:].encode("ascii").decode("punycode")
    except (UnicodeError, ValueError):
        return None


def shown_host(host: str) -> str:
    """Return a host so that no letter of it passes for another: other alphabets in ASCII."""
    shown = [label if all(map(_is_plain, label)) else _in_ascii(label) for label in host.split(".")]
    return ".".join(shown)


def _is_plain(char: str) -> bool:
    return char.isascii() or unicodedata.east_asian_width(char) in "WF"


def _in_ascii(label: str) -> str:
    return f"xn--{label.encode('punycode').decode('ascii')}"
