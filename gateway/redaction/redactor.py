"""Take secrets out of text: the settings' own everywhere, and whatever looks like one in logs.

The tape and the outbox lose only the gateway's own secrets: people's words are not rewritten
because they look like a token.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import orjson

if TYPE_CHECKING:
    from tape.entry import NewEntry

MIN_CHARACTERS: Final = 8  # a shorter secret may be a word that people use
SHOWN_CHARACTERS: Final = 3
"""Maximum characters of a secret that a stream shows before it is known to be one."""

MAX_OFF_TAPES: Final = 8  # as many secrets as are given to people in chats within minutes
HIDDEN: Final = "(redacted)"
WIRE: Final = "wire"
"""The key of an entry's meta that keeps what the provider needs verbatim; it is never shown."""

_NAMES: Final = (
    r"(?i:\w{0,40}?(?:token|secret|password|passwd|api_?key|signature)|key|sig|code|auth|pwd)"
)
_PATTERNS: Final = tuple(
    (sign, re.compile(pattern))
    for sign, pattern in (
        ("://", r"(?<=://)[^\s/@\"'<>]{1,300}(?=@)"),  # a name and a password in a URL
        ("=", rf"(?P<name>[?&;]{_NAMES}=)[^\s&#\"'<>]+"),
        ("earer ", r"(?<=earer )[\w.~+/=:-]{8,}"),
        ("asic ", r"(?<=asic )(?!Information\b)[\w.~+/=:-]{8,}"),
        ("Bot ", r"(?<=Bot )[\w.~+/=:-]{8,}"),
        (":", r"(?<=\d{6}):[\w-]{30,}"),  # Telegram
        ("xox", r"\bxox[a-z]-[\w.-]{8,}"),  # Slack
        ("xapp-", r"\bxapp-[\w.-]{8,}"),
        (".", r"(?<=\.)[\w-]{6}\.[\w-]{27,}"),  # Discord, after the bot's id
        ("k-", r"\b[spr]k-[\w-]{16,}"),
        ("_", r"\b(?:[spr]k|gsk|hf|gh[pousr]|github_pat)_\w{16,}"),
        ("glpat-", r"\bglpat-[\w-]{16,}"),
        ("AIza", r"\bAIza[\w-]{30,}"),
        ("IA", r"\bA(?:KI|SI)A[A-Z0-9]{16}\b"),
        ("eyJ", r"\beyJ[\w-]{8,500}+\.[\w-]{8,}+\.[\w-]*"),  # a JSON web token
        ("PRIVATE KEY", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*"),
    )
)
"""What looks like a secret; most lines hold no sign of it, so that few patterns are tried."""


class Redactor:
    """Takes the given secrets out of text, in every form in which they may appear."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms: tuple[str, ...] = ()
        self._given: tuple[str, ...] = ()
        self._off_tapes: Redactor | None = None
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Take these secrets out too from now on."""
        fit = [secret for secret in secrets if len(secret) >= MIN_CHARACTERS]
        found = {*self._forms, *(form for secret in fit for form in _forms(secret))}
        self._forms = tuple(sorted(found, key=lambda form: (-len(form), form)))
        self._raw = tuple({_in_json(form) for form in self._forms})
        self._beginnings = {
            form[:size] for form in self._forms for size in range(SHOWN_CHARACTERS + 1, len(form))
        }
        self._longest = max(map(len, self._forms), default=0)

    def keep_off_tapes(self, secret: str) -> None:
        """Take a secret out of entries, though not out of messages: somebody in a chat gets it."""
        self._given = (*self._given, secret)[-MAX_OFF_TAPES:]
        self._off_tapes = Redactor(self._given)

    def clean(self, text: str) -> str:
        """Return a text without the gateway's own secrets."""
        if len(text) < MIN_CHARACTERS:
            return text
        for form in self._forms:
            if form in text:
                text = text.replace(form, HIDDEN)
        return text

    def line(self, text: str) -> str:
        """Return a line for a log or an operator, also without what looks like a secret."""
        text = self.clean(text)
        for sign, pattern in _PATTERNS:
            if sign in text:
                text = pattern.sub(_hide, text)
        return text

    def value(self, value: Any, *, lines: bool = False) -> Any:
        """Return JSON data with each text cleaned, as a `line` if asked for."""
        if isinstance(value, str):
            return self.line(value) if lines else self.clean(value)
        if isinstance(value, Mapping):
            return {self.clean(str(k)): self.value(v, lines=lines) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(one, lines=lines) for one in value]
        return value

    def entry(self, new: NewEntry) -> NewEntry:
        """Return an entry without the gateway's own secrets, but for what the provider needs."""
        if self._off_tapes is not None:
            new = self._off_tapes.entry(new)
        if not self._holds([new.payload, {k: v for k, v in new.meta.items() if k != WIRE}]):
            return new
        meta = {k: v if k == WIRE else self.value(v) for k, v in new.meta.items()}
        return replace(new, payload=self.value(new.payload), meta=meta)

    def held_back(self, text: str) -> int:
        """Return how many characters at the end of a text may be the beginning of a secret."""
        sizes = range(min(len(text), self._longest - 1), SHOWN_CHARACTERS, -1)
        return next((size for size in sizes if text[-size:] in self._beginnings), 0)

    def _holds(self, value: Any) -> bool:
        try:
            raw = orjson.dumps(value)
        except TypeError:  # the store will refuse it
            return False
        for form in self._raw:  # noqa: SIM110 - for each entry: a generator would take thrice as long
            if form in raw:
                return True
        return False


class RedactedStream:
    """Cleans a text that arrives in pieces; it holds back what may become a secret."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._shown = self._held = ""

    def push(self, delta: str) -> str:
        """Return the next part of the clean text."""
        text = self._redactor.clean(self._shown + self._held + delta)
        shown = self._shown
        start = next((n for n, char in enumerate(shown) if text[n : n + 1] != char), len(shown))
        end = max(start, len(text) - self._redactor.held_back(text))
        self._shown, self._held = text[max(0, end - SHOWN_CHARACTERS) : end], text[end:]
        return text[start:end]

    def rest(self) -> str:
        """Return what was held back: what follows is another text."""
        text, self._shown, self._held = self._held, "", ""
        return text


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, quoted, URL-encoded, and as a part of base64 text anywhere."""
    encoded = quote(secret, safe="")
    yield from (_in_json(secret).decode(), json.dumps(secret)[1:-1], repr(secret)[1:-1])
    yield from (secret, encoded, re.sub("%..", lambda found: found[0].lower(), encoded))
    yield from (quote(secret), encoded.replace("%20", "+"))
    raw = secret.encode()
    for skipped in range(3):
        text = base64.b64encode(bytes(skipped) + raw).decode()
        # The characters at both ends depend on what stands beside the secret.
        part = text[-(-8 * skipped // 6) : 8 * (skipped + len(raw)) // 6]
        yield from (part, part.replace("+", "-").replace("/", "_"))


def _in_json(form: str) -> bytes:
    return orjson.dumps(form)[1:-1]


def _hide(found: re.Match[str]) -> str:
    return f"{found.groupdict().get('name', '')}{HIDDEN}"
