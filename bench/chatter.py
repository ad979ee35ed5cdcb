"""A made-up group chat as the gateway would tape it: four lanes, turns of ten entries, anchors.

Ids count from where the tape stands, since a turn's first entry names the messages that it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tape.entry import NewEntry, event, handoff, message, tool_call, tool_result
from tape.turn_events import TURN_START

LANES: Final = 4
PER_TURN: Final = 10
COMMON: Final = "kestrel"
TWICE: Final = "quetzal"
PER_ANCHOR: Final = 1000
"""After so many entries of a long history comes an anchor."""

_ASKED: Final = (
    "is the deploy of the billing service through?",
    "the nightly job failed again, same stack trace as on Tuesday: connection reset by peer",
    "昨天的部署为什么失败了?日志里写的是连接超时。",
    "can somebody look at the pull request before noon, it blocks the release of the mobile app",
)
_ANSWER: Final = (
    "The deploy went through at 10:42. Two of the three replicas were restarted; the third one was"
    " drained first, since it still held a lease. 第三个副本已经恢复。 Nothing else is open."
)


_VOWELS: Final = "aeiou"
_CONSONANTS: Final = "bdfgklmnprstvz"
_HAN: Final = 0x4E00


def asked(number: int, word: str = "", lane: str = "lane-0") -> NewEntry:
    """Make a person's message with all that the gateway's intake notes beside it."""
    text = f"{_ASKED[number % len(_ASKED)]} {word} {chat(number)} #{number}"
    author = f"{100_000_000 + number % 25}"
    name = f"Person {number % 25}"
    moment = f"2026-03-{number % 28 + 1:02d}T10:{number % 60:02d}:00+00:00"
    meta: dict[str, Any] = {
        "inbox": number,
        "author": author,
        "name": name,
        "text": text,
        "channel": "telegram",
        "chat": "-1001234567890",
        "message_id": str(number),
        "said_at": moment,
        "addressed": number % 4 == 3,
        "why": "mention" if number % 4 == 3 else "ambient",
        "lane": lane,
    }
    framed = f"[Platform team | {name} (id {author}) | {moment[:16]}Z]\n> {text}"
    return message("user", framed, **meta)


def chat(number: int) -> str:
    """Make words as they are spread where people talk: few are frequent, most are rare."""
    words, state = [COMMON] if number % 50 == 0 else [], number
    for place in range(6):
        state = (state * 6364136223846793005 + 1442695040888963407 + place) % 2**64
        rank = int(20_000 ** ((state >> 33) / 2**31))
        words.append(_word(rank) if place < 4 else chr(_HAN + rank % 5000) + chr(_HAN + rank // 9))
    return " ".join(words)


def _word(rank: int) -> str:
    word = ""
    while rank:
        rank, letter = divmod(rank, len(_CONSONANTS) * len(_VOWELS))
        word += _CONSONANTS[letter % len(_CONSONANTS)] + _VOWELS[letter // len(_CONSONANTS)]
    return word


def turn(first: int, number: int, word: str = "") -> list[NewEntry]:
    """Make four messages and the turn that answers them; `first` is the id of the first entry."""
    lane = f"lane-{number % LANES}"
    own = {"turn": f"turn-{number:08d}", "lane": lane}
    takes = list(range(first, first + 4))
    arguments = '{"query": "billing deploy", "limit": 5}'
    call = {"id": f"call_{number}", "type": "function"}
    function = {"name": "tape_search", "arguments": arguments}
    sent = {"idem": f"turn-{number:08d}:0", "kind": "answer", "channel": "telegram"}
    return [
        *(asked(4 * number + place, "" if place else word, lane) for place in range(4)),
        event(TURN_START, {"turn": own["turn"], "takes": takes}, **own),
        tool_call([{**call, "function": function}], **own),
        tool_result(["3 entries: deploy started; replica drained; deploy done " * 3], **own),
        message("assistant", f"{_ANSWER} {word}", final=True, **own),
        event("outbound", {**sent, "chat": "-1001234567890", "reply_to": str(number)}, **own),
        event("turn.end", {"turn": own["turn"], "status": "done"}, **own),
    ]


def turns(first: int, count: int, number: int = 0, word: str = "") -> list[NewEntry]:
    """Make `count` turns in a row, the first of them with this number."""
    made: list[NewEntry] = []
    for place in range(count):
        made += turn(first + len(made), number + place, word)
    return made


def history(first: int, count: int) -> Iterator[list[NewEntry]]:
    """Make exactly `count` entries in blocks, each with the handoff `phase:N` at its end."""
    done, block = 0, 0
    while done < count:
        number = block * PER_ANCHOR // PER_TURN
        made = turns(first + done, PER_ANCHOR // PER_TURN, number)[: PER_ANCHOR - 2]
        made += handoff(f"phase:{block}", {"summary": f"{_ANSWER} ({block})", "open": [block]})
        yield made[: count - done]
        done += len(made)
        block += 1
