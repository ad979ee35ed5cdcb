"""Detect that a task is done, or that a new subject begins after a long pause.

The rules prefer to miss a boundary rather than report a false one. A boundary is only suggested to
the model (see `agent.handoffs`), once per lane and anchor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from agent.anchors import bare_text
from agent.handoffs import Why
from gateway.pipeline.turn import Question
from tape.entry import MESSAGE, parse_date
from tape.handle import Tape
from tape.lanes import shown_in
from tape.scripts import TERM, characters, compiled, pairs, runs

MAX_THANKS_LENGTH: Final = 80  # characters
MAX_OTHER_WORDS: Final = 4
QUIET_SECONDS: Final = 8 * 3600.0
LOOK_BACK: Final = 8  # messages
MIN_WORD_LENGTH: Final = 4
MIN_SUBJECT_WORDS: Final = 3

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
_ASKS: Final = re.compile(  # a question, an objection or a doubt
    r"[?\uff1f\u061f]|n't\b|\b(?:but|not|hope|if|should|when|until|dunno|like"
    r"|aber|nicht|wenn|mais|pas|si|pero|no)\b|但是|不过|不行|でも",
    re.IGNORECASE,
)
_WORD: Final = compiled(TERM)
_MENTION: Final = re.compile(r"<@!?\w+>|@\w+")


def looks_done(text: str) -> bool:
    """Return whether a message says little more than that a task is done."""
    text = _MENTION.sub(" ", text).strip()
    if not text or len(text) > MAX_THANKS_LENGTH or _ASKS.search(text):
        return False
    rest, found = _DONE.subn(" ", text)
    return bool(found) and len(_WORD.findall(rest)) <= MAX_OTHER_WORDS


def looks_new(text: str, before: Sequence[str]) -> bool:
    """Return whether a message shares no word with the messages before it."""
    words = _subjects(text)
    return len(words) >= MIN_SUBJECT_WORDS and not any(words & _subjects(other) for other in before)


def _subjects(text: str) -> set[str]:
    folded = text.casefold()
    words = {word for word in _WORD.findall(folded) if len(word) >= MIN_WORD_LENGTH}
    unspaced = [characters(run) for run in runs(folded)]
    return words | {pair for run in unspaced if len(run) > 1 for pair in pairs(run)}


async def detect_boundary(tape: Tape, question: Question) -> Why:
    """Return why a question suggests an anchor: "done" (with its task), "quiet" (before it), ""."""
    message = question.message
    ids = question.entry_ids
    if not ids:
        return ""
    anchor = await tape.last_anchor(lane=question.lane, before=min(ids))
    before = await tape.find(
        after=anchor.id if anchor else 0,
        before=min(ids),
        kinds=(MESSAGE,),
        lane=question.lane,
        limit=LOOK_BACK,
        newest=True,
    )
    before = [entry for entry in before if shown_in(entry, question.lane)]
    if not any(entry.meta.get("final") for entry in before):
        return ""  # a task without an answer is not finished
    if looks_done(message.text):
        asked = (entry.meta.get("author") for entry in before if entry.meta.get("addressed"))
        return "done" if message.sender.id in asked else ""
    texts = [bare_text(entry) for entry in before]
    said_at = str(before[-1].meta.get("said_at") or before[-1].date)
    seconds = (parse_date(message.date) - parse_date(said_at)).total_seconds()
    quiet = seconds > QUIET_SECONDS and not message.reply_to
    return "quiet" if quiet and looks_new(message.text, texts) else ""
