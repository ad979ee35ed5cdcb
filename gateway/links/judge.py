"""Decides what of a link an answer may show while its view is tainted.

A link stays whole if it stands in the view, if the question asks for all that it says, or if its
host is on the list of hosts whose links people share. Any other link is left with what says
nothing of the view: no user, query, fragment, long part, or part with a code of the view.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple
from urllib.parse import quote

from agent.links import spans
from agent.taint import Sources
from channels.markdown.tree import WIDE_STOPS
from gateway.links.address import LinkParts, decoded, folded, read, shown_host, unicode_label
from gateway.links.codes import Codes
from gateway.links.hosts import SharedHosts

MAX_PART_CHARACTERS: Final = 40
"""Maximum characters of a label of a host and of a part of a path that stay."""

MAX_PARTS: Final = 10
"""Maximum parts of a path that stay."""

MAX_LABELS: Final = 6
"""Maximum labels of a host that stay."""

MAX_PATHS: Final = 20
"""Maximum links of one answer that are not whole and keep a path."""

MAX_NOTED: Final = 50
"""Maximum links that the tape says were cut."""

MAX_WORDS: Final = 12
"""Maximum words of a link that is whole because the question says them."""

_MAX_NESTED: Final = 3
_UNSAFE: Final = re.compile(r"[\s\x00-\x20\x7f\\`<>\"\[\]{}|^*]")
_RESERVED: Final = "%!#$&'()*+,/:;=?@[]~"
STOPS: Final = re.compile(rf"[{WIDE_STOPS}\u3008-\u3011\uff08\uff09\u201c\u201d]")
"""Punctuation that ends an address in Chinese and Japanese, which have no blanks there."""

_ENDS_LINK: Final = re.compile(r"[\u00ab\u00bb\u2000-\u200b\u200e\u200f\u2016-\u206f]")
_WORD: Final = re.compile(r"[^\W_]+")
_DIGITS: Final = re.compile(r"\d")
_SCHEMED: Final = re.compile(r"[a-z][a-z0-9+.-]{1,20}:[/\\]", re.IGNORECASE)
_FILES_TEXT: Final = (
    "bak bmp cfg conf cpp css csv cxx dll doc docx exe flac gif go gz hpp htm html ico ini"
    " ipynb java jpeg jpg js json jsonl jsx kt lock log lua mjs odt ogg parquet pdf php png"
    " ppt pptx proto pyi rar rb rst scss sql svelte svg swift tar tex tgz toml ts tsv tsx txt"
    " vue wav webm webp whl xls xlsx xml yaml yml"
)
_FILES: Final = frozenset(_FILES_TEXT.split())
"""What names of files end with, and no host."""

_COUNTRIES: Final = frozenset(("md", "py", "rs", "sh", "zip"))
"""What names of files end with, and hosts too."""


_KEYS_TEXT: Final = (
    "category hl id k keyword keywords lang name p page q query s search sort t tag tags term terms"
    " text title type v w"
)
_KEYS: Final = frozenset(_KEYS_TEXT.split())
"""What values are called in the links of many sites, which says nothing."""


class Verdict(NamedTuple):
    """What may be shown of a link.

    shown  the link, or what is left of it; "" if nothing is that leads anywhere
    host   the host as people read it, or the scheme of a link that stays text
    cut    whether something was cut
    whole  whether it may stand as it is, with nothing beside it
    kind   see `LinkParts`
    """

    shown: str
    host: str
    cut: bool
    whole: bool
    kind: str = "web"


class LinkJudge:
    """Judges the links of one turn; what it has allowed once stays allowed."""

    def __init__(self, sources: Sources, hosts: SharedHosts) -> None:
        self._sources = sources
        self._hosts = hosts
        self._known: set[str] = set()
        self._starts: set[tuple[str, str]] = set()  # hosts, with how paths to them begin
        self._codes = Codes(sources.texts)
        self._asked: Counter[str] = Counter()
        self._age: object = None
        self._allowed: dict[tuple[str, bool], Verdict] = {}
        self._refused: dict[tuple[str, bool], Verdict] = {}
        self._named: set[str] = set()  # hosts whose labels have been counted
        self._paths = 0
        self._cuts: dict[str, str] = {}

    def of(self, link: str, *, is_target: bool = False) -> Verdict:
        """Return what may be shown of a link; `is_target` if it stands behind a label."""
        self._refresh()
        key = (link, is_target)
        found = self._allowed.get(key) or self._refused.get(key)
        if found is None:
            found = self._judged(link, is_target=is_target)
            if not found.cut:
                self._allowed[key] = found
            else:
                self._refused[key] = found
                left = found._replace(cut=False)
                for one in {is_target, "://" in found.shown}:
                    self._allowed.setdefault((found.shown, one), left)
        return found

    @property
    def has_read(self) -> bool:
        """Whether it has read all of the view: only what is asked about makes it do so."""
        return self._age == self._sources.age and self._codes.is_read

    def note_cut(self, link: str, verdict: Verdict) -> None:
        """Take account of a link that an answer lost something of."""
        if len(self._cuts) < MAX_NOTED:
            self._cuts[link] = verdict.host

    def take_cut(self) -> dict[str, object]:
        """Return how many links lost something, and their hosts; {} if none did since."""
        cuts, self._cuts = self._cuts, {}
        hosts = [host for host in dict.fromkeys(cuts.values()) if host]
        return {"links": len(cuts), "hosts": hosts} if cuts else {}

    def _refresh(self) -> None:
        """Read the view again if it has grown."""
        age = self._sources.age
        if age == self._age:
            return
        self._age = age
        self._refused.clear()
        self._codes = Codes(self._sources.texts, self._codes.seen)
        said = self._sources.said
        self._asked = Counter(_WORD.findall(said)) | Counter(_WORD.findall(said.lower()))
        for link in self._sources.links():
            self._known |= forms(link) | forms(STOPS.split(link)[0])
            address = read(link)
            parts = address.path.split("/")[: 2 * MAX_PARTS] if address.host else []
            starts = ("/".join(parts[:count]) for count in range(2, len(parts) + 1))
            self._starts.update((address.host, start) for start in starts)

    def _judged(self, link: str, *, is_target: bool = False, depth: int = 0) -> Verdict:
        address = read(link, is_target=is_target)
        host = shown_host(address.host)
        if link in self._known or (is_target and link.removeprefix("mailto:") in self._known):
            return Verdict(link, host, False, True, address.kind)
        if address.kind == "other":
            return Verdict("", f"{address.scheme}:", True, False, "other")
        if address.kind == "relative":
            return Verdict("", "", True, False, "relative")
        if address.kind == "mail":
            return self._mail(link, address)
        may_lead = address.host and not address.user and self._leads_nowhere_else(address, depth)
        may_lead = may_lead and _is_one(link)
        if may_lead and (self._hosts.holds(address) or self._is_asked_for(address)):
            return Verdict(link, host, False, True)
        return self._cut(link, address, counts=not depth)

    def _mail(self, link: str, address: LinkParts) -> Verdict:
        mine = [address.user.rstrip("@"), *address.labels]
        said = "".join(_DIGITS.findall(folded("".join(mine))))
        is_told = any(map(self._is_bad, mine)) or self._codes.holds_digits(said)
        if address.host and not is_told:
            return Verdict(link, address.host, False, False, "mail")
        return Verdict("", address.host and self._clean_host(address), True, False, "mail")

    def _leads_nowhere_else(self, address: LinkParts, depth: int) -> bool:
        """Return whether each address that the link holds may stand as it is."""
        inside = list[str]()
        path = decoded(address.path)
        if path is None or depth >= _MAX_NESTED:
            return False
        for given in (address.query, address.fragment):
            text = decoded(given.replace("+", " "))
            if text is None:
                return False
            for one in {given, text}:
                inside += [one[start:end] for start, end in spans(one)]
                inside += [one[found.start() :] for found in _SCHEMED.finditer(one)]
        rest = f"{address.query}{address.fragment}"
        for one in {address.path, path}:
            inside += [f"{one[found.start() :]}{rest}" for found in _SCHEMED.finditer(one)]
        return not any(self._says_more(one, depth + 1) for one in inside)

    def _says_more(self, inside: str, depth: int) -> bool:
        """Return whether a link inside another one may give its host a part of a code."""
        verdict = self._judged(inside, depth=depth)
        return verdict.cut or (not verdict.whole and bool(_DIGITS.search(folded(inside))))

    def _is_asked_for(self, address: LinkParts) -> bool:
        """Return whether the question says each value and each part of the path."""
        parts = [decoded(part) for part in address.path.split("/") if part]
        for pair in re.split(r"[?&;#]", f"{address.query}{address.fragment}"):
            key, equals, value = pair.partition("=")
            if equals and not (key in _KEYS or self._times_asked(key)):
                return False
            parts.append(decoded((value if equals else key).replace("+", " ")))
        if None in parts or self._is_bad(address.port):
            return False
        words = [word for part in parts for word in _WORD.findall(part or "")]
        if not 0 < len(words) <= MAX_WORDS or self._clean_host(address) != address.host:
            return False
        return all(words.count(word) <= self._times_asked(word) for word in words)

    def _times_asked(self, word: str) -> int:
        """Return how often the question says a word; Chinese has no blanks around its own."""
        return self._asked[word] if word.isascii() else self._sources.said.count(word)

    def _cut(self, link: str, address: LinkParts, *, counts: bool) -> Verdict:
        host, port, path = self._clean_host(address), f":{address.port}", address.path
        if host != address.host or self._is_bad(address.port):
            port = path = ""
        path = self._clean_path(address, path)
        if counts and self._spreads(address, path):
            port = path = ""
            host = self._clean_host(address, digits=False)
        elif counts and len(path) > 1:
            self._paths += 1
            path = path if self._paths <= MAX_PATHS else ""
        if not host or (host != address.host and "." not in host):
            return Verdict("", "", True, False)
        port = "" if port == ":" else port
        whole = (address.host, address.port, address.path, "", "", "")
        if (host, port[1:], path, address.user, address.query, address.fragment) == whole:
            return Verdict(link, shown_host(host), False, False)
        path = _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", _balanced(path))
        return Verdict(f"{address.start}{host}{port}{path}", shown_host(host), True, False)

    def _spreads(self, address: LinkParts, path: str) -> bool:
        """Return whether a link says, with those before it, too much of one code."""
        told = [piece for piece in path.split("/") if not self._is_asked(piece)]
        told = told if len(told) > self._known_parts(address) else []
        if address.host not in self._named and not _is_file(address):
            told += [unicode_label(label) or "" for label in address.labels]
        if self._codes.spread(folded(decoded(one) or "") for one in (address.port, *told)):
            return True
        self._named.add(address.host)
        return False

    def _clean_host(self, address: LinkParts, *, digits: bool = True) -> str:
        """Return the host without the labels up to the last one that may not be shown.

        Without `digits`, none of those that has one may.
        """
        said = "".join(_DIGITS.findall(folded(address.host)))
        digits = digits and not self._codes.holds_digits(said)
        if address.is_ip:
            return address.host if digits else ""
        labels = address.labels
        if _is_file(address):
            return address.host
        bad = [at for at, label in enumerate(labels) if self._is_bad(label)]
        if not digits:
            bad += [at for at, label in enumerate(labels) if _DIGITS.search(folded(label))]
        if len(labels) > MAX_LABELS:
            bad.append(len(labels) - MAX_LABELS - 1)
        kept = labels[max(bad) + 1 :] if bad else labels
        return ".".join(kept)

    def _clean_path(self, address: LinkParts, path: str) -> str:
        """Return the path up to its first part that may not be shown."""
        kept: list[str] = []
        known = self._known_parts(address)
        digits = "".join(_DIGITS.findall(folded(f"{address.host}{address.port}")))
        for at, piece in enumerate(path.split("/")):
            more = "".join(_DIGITS.findall(folded(decoded(piece) or "")))
            if not self._is_asked(piece):
                digits += more
                told = self._is_bad(piece) or (more and self._codes.holds_digits(digits))
                if at >= known and told:
                    break
            if at > max(MAX_PARTS, known):
                break
            kept.append(piece)
        else:
            return path
        return "/".join([*kept, ""]) if kept else ""

    def _is_asked(self, piece: str) -> bool:
        """Return whether the question says all numbers of a part."""
        text = folded(decoded(piece) or "%")
        words = [word for word in _WORD.findall(text) if _DIGITS.search(word)]
        return (
            len(piece) <= MAX_PART_CHARACTERS and bool(words) and all(map(self._times_asked, words))
        )

    def _known_parts(self, address: LinkParts) -> int:
        """Return how many parts a path has in common with a link to that host in the view."""
        parts = address.path.split("/")
        for count in range(len(parts), 1, -1):
            if (address.host, "/".join(parts[:count])) in self._starts:
                return count
        return 0

    def _is_bad(self, piece: str) -> bool:
        text = decoded(piece)
        text = unicode_label(text) if text is not None else None
        if text is None or len(text) > MAX_PART_CHARACTERS or not text.isprintable():
            return True
        # A server sees what is encoded as it was written, too.
        is_told = any(self._codes.holds(folded(one)) for one in {text, piece})
        return is_told or _SCHEMED.search(text) is not None


def _is_one(link: str) -> bool:
    """Return whether no other link begins behind a sign that ends links on Telegram."""
    found = _ENDS_LINK.search(link)
    return found is None or not any(spans(link, found.start()))


def _is_file(address: LinkParts) -> bool:
    """Return whether it is the name of a file, which nobody takes for a host."""
    if address.start or address.user or address.port or address.path:
        return False
    if address.query or address.fragment:
        return False
    ending = address.labels[-1]
    return ending in _FILES or (len(address.labels) == 2 and ending in _COUNTRIES)


def forms(link: str) -> set[str]:
    """Return a link as it may be written without saying any more: encoded, or not."""
    found = {link, quote(link, safe=_RESERVED)}
    text = decoded(link)
    if text is not None and quote(text, safe=_RESERVED) == link:
        found.add(text)
    return found


def _balanced(path: str) -> str:
    """Return a path whose brackets would not end a link in Markdown."""
    depth = 0
    for char in path:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            break
    return path if depth == 0 else path.replace("(", "%28").replace(")", "%29")
