"""What a question looks like: the end of a task, or a new subject after a long pause.

Rules, meant to be silent rather than wrong: what they see is only suggested (see
`agent.handoffs`), once for each lane and anchor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.anchors import bare_text
from agent.handoffs import Why
from gateway.pipeline.turn import Question
from tape.entry import MESSAGE, Entry, parse_date
from tape.handle import Tape

LONGEST: Final = 80
MOST_OTHER_WORDS: Final = 4
QUIET_SECONDS: Final = 8 * 3600.0
LOOK_BACK: Final = 8
SHORTEST_WORD: Final = 4
FEWEST_WORDS: Final = 3

_DONE: Final = re.compile(
    r"""
    \b(?: (?:many\ )?thanks | thank\ (?:you|u) | thx | tysm | cheers
        | (?:that|this|it|now\ it|all)\ (?:worked|works|did\ it|did\ the\ trick|helped)
        | (?:problem\ |issue\ )?(?:solved|fixed|sorted) | all\ (?:done|good|set) | works\ now
        | danke | vielen\ dank | erledigt | passt\ (?:so|jetzt) | (?:es|das)\ (?:geht|klappt)
        | merci | c'est\ bon | résolu | ça\ marche | gracias | solucionado | grazie | risolto
        | obrigad[oa] | resolvido | bedankt | dank\ je | tack | takk | tak | kiitos | dzięki
        | dziękuję | děkuji | díky | спасибо | дякую | teşekkürler | sağ\ ol | شكرا | תודה
        | धन्यवाद | terima\ kasih | cảm\ ơn )\b
    | 谢谢 | 多谢 | 感谢 | 謝謝 | 搞定 | 解决了 | 解決了 | 好了
    | ありがとう(?:ございま(?:す|した))? | 助かりました | 解決しました
    | 감사합니다 | 고마워 | 고맙습니다 | 해결됐 | 👍 | 🙏 | ✅ | 🎉
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ASKS: Final = re.compile(  # a question, a but, a doubt
    r"[?\uff1f\u061f]|n't\b|\b(?:but|not|hope|if|should|when|until|dunno|like"
    r"|aber|nicht|wenn|mais|pas|si|pero|no)\b|但是|不过|不行|でも",
    re.IGNORECASE,
)
_CJK: Final = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD: Final = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+")
_MENTION: Final = re.compile(r"<@!?\w+>|@\w+")


def looks_done(text: str) -> bool:
    """Tell whether a message says hardly more than that all is well."""
    said = _MENTION.sub(" ", text).strip()
    if not said or len(said) > LONGEST or _ASKS.search(said):
        return False
    rest, found = _DONE.subn(" ", said)
    return bool(found) and len(_WORD.findall(rest)) <= MOST_OTHER_WORDS


def looks_new(text: str, before: Sequence[str]) -> bool:
    """Tell whether a message shares no word with those before it."""
    words = _subjects(text)
    return len(words) >= FEWEST_WORDS and not any(words & _subjects(other) for other in before)


def _subjects(text: str) -> set[str]:
    """Return the longer words of a text, and its CJK characters by twos."""
    folded = text.casefold()
    words = {word for word in _WORD.findall(folded) if len(word) >= SHORTEST_WORD}
    runs = re.findall(rf"[{_CJK}]+", folded)
    return words | {run[at : at + 2] for run in runs for at in range(len(run) - 1)}


async def detect_boundary(tape: Tape, asked: Question) -> Why:
    """Tell what a question looks like, from what was said before it since the last anchor."""
    said = asked.message
    ids = asked.entry_ids
    if not ids:
        return ""
    anchor = await tape.last_anchor(lane=asked.lane, before=min(ids))
    before = await tape.find(
        after=anchor.id if anchor else 0,
        before=min(ids),
        kinds=(MESSAGE,),
        lane=asked.lane,
        limit=LOOK_BACK,
        newest=True,
    )
    if not any(entry.meta.get("final") for entry in before):
        return ""  # nothing was answered yet that could be finished
    if looks_done(said.text):
        return "done" if _asked_before(before, said.sender.id) else ""
    texts = [bare_text(entry) for entry in before]
    quiet = _seconds_since(before[-1], said.date) > QUIET_SECONDS
    return "quiet" if quiet and not said.reply_to and looks_new(said.text, texts) else ""


def _asked_before(before: Sequence[Entry], author: str) -> bool:
    return any(
        entry.meta.get("author") == author and entry.meta.get("addressed") for entry in before
    )


def _seconds_since(entry: Entry, date: str) -> float:
    said_at = str(entry.meta.get("said_at") or entry.date)
    return (parse_date(date) - parse_date(said_at)).total_seconds()
