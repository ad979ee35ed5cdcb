"""Say in words, for people, what a tool returned; the model gets JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tape.entry import dump

MAX_STATE_CHARACTERS: Final = 300
_ID: Final = re.compile(r"\A#\d+ | \(id [^)]*\)\Z")
_LIVE: Final = re.compile(r"[\[\]*_`~<>|#@$^\\]|&[\w#]+;|\A(?:[-+=:]|\d+[.)])")


def in_words(tool: str, result: object) -> str:
    """Return a tool's result in words: strings as they are, any other data as a list."""
    if isinstance(result, str):
        return result
    say = _WORDS.get(tool)
    if say is not None and isinstance(result, Mapping):
        try:
            return say(result)
        except (KeyError, TypeError, AttributeError):
            pass  # a plugin's tool of the same name returns something else
    return _listed(result)


def info_in_words(info: Mapping[str, Any]) -> str:
    """Return the result of `tape.info` as one sentence."""
    total = _count(info["entries"], "entry", "entries")
    tokens = f"about {_count(info['tokens_since_anchor'], 'token')}"
    if info.get("last_anchor") in (None, "session/start"):
        return f"The tape of this chat has {total} ({tokens}), and no checkpoint yet."
    since = _count(info["entries_since_anchor"], "entry", "entries")
    when = _date(info.get("last_anchor_date"))
    return (
        f"The tape of this chat has {total}; {since} ({tokens}) came after the newest checkpoint,"
        f" {as_code(info['last_anchor'])} of {when}."
    )


def as_code(text: object) -> str:
    """Return a text as code on one line, which every channel shows as it is."""
    flat = " ".join(str(text).split()).replace("`", "'")
    return f"`{flat}`"


def _quoted(text: object) -> str:
    """Return what somebody wrote on one line; as code if it would be Markdown or a mention."""
    flat = " ".join(str(text).split())
    # Not with backslashes, since the terminal would show them.
    return as_code(flat) if _LIVE.search(flat) else flat


def _search(found: Mapping[str, Any]) -> str:
    hits = [_hit(hit) for hit in found["hits"]]
    query = _quoted(found["query"])
    query = query if query.startswith("`") else f"“{query}”"
    if not hits:
        return f"I found nothing about {query} in this chat."
    return "\n\n".join([f"I found {_count(len(hits), 'message')} about {query}:", *hits])


def _hit(hit: Mapping[str, Any]) -> str:
    by = _ID.sub("", str(hit.get("by") or hit["kind"]))
    name = "me" if by == "you" else _quoted(by)
    link = f", [show]({hit['link']})" if hit.get("link") else ""
    return f"> {_quoted(hit['text'])}\n\n{name}, {_date(hit['date'])}{link}"


def _summary(summary: Mapping[str, Any]) -> str:
    least = "at least " if summary.get("partial") else ""
    last = summary["last_anchor"]
    since = f" since {as_code(last['name'])} of {_date(last['date'])}" if last else ""
    kinds = ", ".join(
        _count(count, kind.replace("_", " ")) for kind, count in summary["since"].items()
    )
    total = _count(summary["entries"], "entry", "entries")
    view = f"{least}{_count(summary['tokens'], 'token')}{since}: {kinds or 'nothing'}"
    names = [f"{as_code(name)} ({_date(date)})" for name, date in summary["anchors"].items()]
    listed = f"\n\nCheckpoints: {', '.join(names)}." if names else ""
    return f"The tape has {total}. I see {view}.{listed}"


def _anchors(found: Mapping[str, Any]) -> str:
    lines = [
        f"- {as_code(one['name'])}, {_date(one['date'])}{_state(one['state'])}"
        for one in found["anchors"]
    ]
    return "\n".join(lines) or "This chat has no checkpoints yet."


def _state(state: Any) -> str:
    words = state.get("summary") if isinstance(state, Mapping) else None
    text = " ".join(str(words or "").split())
    return f": {_quoted(text[:MAX_STATE_CHARACTERS])}" if text else ""


def _handoff(made: Mapping[str, Any]) -> str:
    return f"I've set the checkpoint {as_code(made['anchor'])}."


def _context(made: Mapping[str, Any]) -> str:
    shown = [f"> {_quoted(one['text'])}" for one in made["messages"] if one["text"]]
    if not shown:
        return "I found nothing that is worth knowing for this."
    return "\n\n".join(["This is worth knowing for it:", *shown])


def _listed(result: object) -> str:
    if isinstance(result, Mapping):
        return "\n".join(f"- {name}: {_plain(value)}" for name, value in result.items()) or "Done."
    if isinstance(result, (list, tuple)):
        return "\n".join(f"- {_plain(value)}" for value in result) or "Nothing."
    return "Done." if result is None else str(result)


def _plain(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(one) for one in value) or "none"
    if isinstance(value, Mapping):
        return as_code(dump(value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def _date(date: Any) -> str:
    return str(date or "")[:16].replace("T", " ")


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "tape.info": info_in_words,
    "tape.search": _search,
    "tape.context_summary": _summary,
    "tape.anchors": _anchors,
    "tape.handoff": _handoff,
    "tape.context": _context,
}
