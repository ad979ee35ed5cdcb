"""Pairing codes: whoever sends one in private becomes an owner of that account.

Codes live in memory only. A message is compared before it is written anywhere: what is stored is
the verdict, never the code. A code is used once, for ten minutes, in private; anywhere else it is
void as soon as it is seen.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from channels.base import Channel
from channels.errors import ChannelError
from channels.message import Excerpt, InboundMessage, Quote
from gateway.clock import Clock
from gateway.logs import get_log

LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
CODE_SECONDS: Final = 600.0
MAX_TRIES: Final = 5  # of one sender
MAX_TRIES_IN_ALL: Final = 50  # after which a code is void
MAX_ATTEMPT: Final = 100  # maximum characters of a message that sends a code
MAX_REMEMBERED: Final = 1_000

VOID_CODE: Final = "(a pairing code, now void)"  # what stands for a code in a message

PAIRED: Final = "paired"
WRONG: Final = "wrong"
NOT_IN_PRIVATE: Final = "not in private"
TOO_MANY: Final = "too many tries"

_Part = TypeVar("_Part", InboundMessage, Quote, Excerpt)

_CODE: Final = f"[{LETTERS}]{{4}}-?[{LETTERS}]{{2}}"
_FOUND: Final = re.compile(rf"(?<![A-Za-z0-9]){_CODE}(?![A-Za-z0-9])", re.IGNORECASE)
_ATTEMPT: Final = re.compile(
    rf"\s*(?:[/,]pair(?:@\w+)?\s+(?:code[=:])?(?P<command>.*)"
    rf"|[/,]start(?:@\w+)?\s+(?P<link>{_CODE})"
    r"|pair\s+(?P<plain>[A-Z0-9]{3,5}-[A-Z0-9]{1,3}))\s*",
    re.IGNORECASE,
)
"""A mistyped code counts, too: it is nearly the right one, and must not be kept."""


@dataclass(slots=True)
class _Code:
    text: str
    until: float
    tries: int = 0


@dataclass(slots=True)
class Pairing:
    """Makes codes, and finds them in messages."""

    _clock: Clock
    _channels: Mapping[str, Channel]
    _code: _Code | None = None
    _tries: dict[tuple[str, str], tuple[int, float]] = field(default_factory=dict)
    _verdicts: OrderedDict[tuple[str, str, str], str] = field(default_factory=OrderedDict)
    used: str = ""  # the newest code with which somebody has paired
    voided: Callable[[str], None] = field(default=lambda _code: None)  # hears that it was seen

    def new_code(self) -> str:
        """Return a fresh code; an earlier one is void."""
        drawn = ""
        while not any(char.isdigit() for char in drawn):  # or it could be a word, see `_attempt`
            drawn = "".join(secrets.choice(LETTERS) for _ in range(6))
        self._code = _Code(f"{drawn[:4]}-{drawn[4:]}", self._clock.monotonic() + CODE_SECONDS)
        return self._code.text

    def know(self, code: str, seconds: float) -> None:
        """Use the code that all processes share, for so many seconds; "" is none."""
        if self._code is None or self._code.text != code:
            until = self._clock.monotonic() + seconds
            self._code = _Code(code, until) if code else None

    def _void(self) -> None:
        if self._code is not None:
            self.voided(self._code.text)
        self._code = None

    def hints(self, code: str) -> dict[str, str]:
        """Return how a code is sent, by channel."""
        found = {name: _hint(channel, code) for name, channel in self._channels.items()}
        return {name: hint for name, hint in found.items() if hint}

    def read(self, message: InboundMessage) -> InboundMessage:
        """Return a message without a code: an attempt to pair becomes its verdict."""
        if message.kind == "pairing":  # a verdict is made here only
            return replace(message, kind="unreadable", why="a verdict about a pairing code")
        if message.kind not in ("message", "edit"):
            return message
        person = message.sender.acts_as == "person" and not message.owner
        private = message.chat_kind == "private" and person
        attempt = _attempt(message.command or message.text, private=private)
        if attempt is not None and private and message.kind == "message":
            said = replace(message, addressed=True)
            return _pairing(said, self._verdict(message, attempt))
        found = self._contains_code(message)
        if found:
            self._void()
        if attempt is not None:
            asks = message.addressed or found or bool(message.command)
            said = replace(message, addressed=asks)
            return _pairing(said, NOT_IN_PRIVATE)
        return _without_codes(message) if found else message

    def screened(self, message: InboundMessage) -> InboundMessage:
        """Return a message that was looked up without a code; such a code is void."""
        if not self._contains_code(message):
            return message
        self._void()
        return _without_codes(message)

    def _verdict(self, message: InboundMessage, given: str) -> str:
        """Compare a code, once for each message: a platform may deliver it again."""
        key = (message.channel, message.account, message.ext_id)
        if key not in self._verdicts:
            self._verdicts[key] = self._compare(message, given)
            if len(self._verdicts) > MAX_REMEMBERED:
                self._verdicts.popitem(last=False)
        return self._verdicts[key]

    def too_late(self, message: InboundMessage) -> InboundMessage:
        """Return an attempt whose code was used before, at another process; or another message."""
        paired = message.kind == "pairing" and message.change == PAIRED
        return replace(message, change=WRONG) if paired else message

    def _compare(self, message: InboundMessage, given: str) -> str:
        now = self._clock.monotonic()
        self._tries = {who: tried for who, tried in self._tries.items() if now < tried[1]}
        who = (message.channel, message.sender.id)
        tries = self._tries.get(who, (0, 0.0))[0] + 1
        self._tries[who] = (tries, now + CODE_SECONDS)
        if tries > MAX_TRIES:
            return TOO_MANY
        channel = self._channels.get(message.channel)
        code = self._live()
        if code is None or channel is None or not _hint(channel, code.text):
            return WRONG
        if _same(given, code.text):
            self.used, self._code = code.text, None
            del self._tries[who]
            return PAIRED
        code.tries += 1
        if code.tries >= MAX_TRIES_IN_ALL:
            self._void()
            get_log().warning("access.pairing_code_void", tries=code.tries)
        return WRONG

    def _live(self) -> _Code | None:
        if self._code is not None and self._clock.monotonic() >= self._code.until:
            self._code = None
        return self._code

    def _contains_code(self, message: InboundMessage) -> bool:
        code = self._live()
        if code is None:
            return False
        texts = (message.text, *(part.text for part in _foreign(message)))
        return any(_same(found, code.text) for one in texts for found in _FOUND.findall(one))


def _attempt(text: str, *, private: bool) -> str | None:
    """Return what an attempt to pair gives as the code, or None for any other message."""
    found = _ATTEMPT.fullmatch(text) if len(text) < MAX_ATTEMPT else None
    if found is None:
        return None
    given = found[found.lastgroup or 0]
    # `pair over-do` is two words: a code has a digit, and a mistyped one has at least capitals.
    words = given.islower() and not any(char.isdigit() for char in given)
    # What is said to a group, such as `,pair of new shoes`, is seldom meant for the bot.
    is_said = found["plain"] is not None or (not private and len(given.split()) > 2)
    return None if words and is_said else given


def _hint(channel: Channel, code: str) -> str:
    try:
        return channel.pairing_hint(code)
    except ChannelError:  # it is not connected
        return ""


def _same(given: str, code: str) -> bool:
    plain = "".join(filter(str.isalnum, given.upper())).encode()
    return hmac.compare_digest(plain, code.replace("-", "").encode())


def _pairing(message: InboundMessage, verdict: str) -> InboundMessage:
    """Return the message that says how an attempt to pair ended, without what was written."""
    bare = replace(message, quote=None, forwarded=None, media=(), parts=(), joins="", mentions=())
    bare = replace(bare, excerpts=(), omitted=(), incomplete=False, command="")
    return replace(bare, kind="pairing", text="", change=verdict, raw={})


def _without_codes(message: InboundMessage) -> InboundMessage:
    def without(part: _Part) -> _Part:
        return replace(part, text=_FOUND.sub(VOID_CODE, part.text))

    quote, forwarded = message.quote, message.forwarded
    return replace(
        without(message),
        quote=quote and without(quote),
        forwarded=forwarded and without(forwarded),
        excerpts=tuple(map(without, message.excerpts)),
        command=_FOUND.sub(VOID_CODE, message.command),
        raw={},
    )


def _foreign(message: InboundMessage) -> list[Quote | Excerpt]:
    """Return the parts of a message that its sender did not write."""
    found = (message.quote, message.forwarded, *message.excerpts)
    return [one for one in found if one is not None]
