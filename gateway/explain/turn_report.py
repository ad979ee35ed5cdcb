"""The report lines about a turn: its view, each model call, each tool call, and its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from channels.markdown.plain import plain
from gateway.explain.facts import MAX_ENTRIES
from gateway.explain.report import ReportLine, bounded, cut, quoted
from gateway.language.language import say, translated
from tape.entry import ANCHOR, ERROR, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, dump
from tape.turn_events import (
    LINKS_CUT,
    LOOP_STEP,
    OUTBOUND,
    PROMPT_SYSTEM,
    RECEIPT,
    TOOL_DONE,
    TURN_END,
    TURN_RESUME,
    TURN_RETAKE,
    TURN_START,
    read_take,
)
from tape.unit_of_work import Row

TAKEN_BACK: Final = "{name} took the thumb back"
THUMBS: Final[Mapping[str, str]] = MappingProxyType(
    {"up": "{name} gave the answer a thumb up", "down": "{name} gave the answer a thumb down"}
)
MAX_NUMBERS: Final = 30  # maximum entries that are listed by their numbers
SILENT: Final = frozenset({"handoff"})


def turn_lines(tape: str, turn: str, entries: Sequence[Entry]) -> list[ReportLine]:
    """Return the lines about a turn, from its entries and in their order."""
    names, results = _names_of_calls(entries), _results_of_calls(entries)
    done = {_data(entry).get("call_id") for entry in entries if entry.name == TOOL_DONE}
    lines: list[ReportLine] = []
    called: tuple[int, str] | None = None
    for entry in entries:
        if called is None and _calls(entry):
            called = len(lines), entry.date
        if entry.name == TOOL_DONE:
            found: Sequence[ReportLine] = [_done(entry, names, results)]
        else:
            found = _lines(entry, done)
        if entry.name == LOOP_STEP and called is not None:
            # A step is recorded after its tools have run, but its reply came before they ran.
            place, moment = called
            lines[place:place] = [replace(line, at=moment) for line in found]
            called = None
        else:
            lines += found
    if any(entry.name == LOOP_STEP and "upto" in entry.payload["data"] for entry in entries):
        command = f"tapeway tape show {tape} --view {turn}"
        says = say("to see its exact prompts: {command}", command=command)
        lines.append(ReportLine("", "view", says))
    if len(entries) == MAX_ENTRIES:
        says = say("more than {most} entries: the rest is on the tape", most=MAX_ENTRIES)
        lines.append(ReportLine("", "turn", says))
    return lines


def _calls(entry: Entry) -> bool:
    """Return whether an entry belongs to a step's reply: tool calls, or the text next to them."""
    text = entry.kind == MESSAGE and not entry.meta.keys() & {"final", "prompt_of"}
    return entry.kind == TOOL_CALL or (text and entry.payload.get("role") == "assistant")


def _names_of_calls(entries: Sequence[Entry]) -> dict[Any, str]:
    calls = [call for entry in entries if entry.kind == TOOL_CALL for call in _calls_of(entry)]
    return {call.get("id"): str((call.get("function") or {}).get("name")) for call in calls}


def _results_of_calls(entries: Sequence[Entry]) -> dict[Any, Any]:
    """Map the ids of a turn's calls to their results, as they may be shown."""
    found: dict[Any, Any] = {}
    calls: Sequence[Mapping[str, Any]] = ()
    for entry in entries:
        if entry.kind == TOOL_CALL:
            calls = _calls_of(entry)
        elif entry.kind == TOOL_RESULT:
            results = entry.payload.get("results") or ()
            found |= {call.get("id"): text for call, text in zip(calls, results, strict=False)}
    return found


def _calls_of(entry: Entry) -> Sequence[Mapping[str, Any]]:
    calls = entry.payload.get("calls")
    return [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def send_lines(rows: Sequence[Row]) -> list[ReportLine]:
    """Return the lines about the outbox's messages for a turn or a notice."""
    return [line for row in rows for line in outbox_lines(row)]


def outbox_lines(row: Row) -> list[ReportLine]:
    data = {name: row[name] for name in ("idem", "op", "status", "platform_id", "attempts", "why")}
    data["row"] = f"out-{row['id']}"
    lines = []
    where = say(" as message {number}", number=row["platform_id"]) if row["platform_id"] else ""
    if row["op"] == "place":
        says = say("partial text was shown{where} and became the answer", where=where)
        lines.append(ReportLine("", "draft", says, data))
    elif row["op"] == "draft":
        says = say("partial text was shown{where} and was not finished", where=where)
        lines.append(ReportLine("", "draft", says, data))
    if row["op"] == "draft":
        return lines
    says = say(
        "{row} to {chat}: {status}{where}",
        row=data["row"],
        chat=f"{row['account_id']} {row['chat_id']}",
        status=translated(str(row["status"])),
        where=where,
    )
    if row["attempts"]:
        says += say(", attempted once|, attempted {times} times", times=row["attempts"])
    if row["why"]:
        says += say(": {why}", why=translated(str(row["why"])))
    return [*lines, ReportLine("", "send", says, data)]


def _lines(entry: Entry, done: set[Any]) -> Sequence[ReportLine]:
    by_name = _EVENTS.get(entry.name or "")
    if by_name is not None:
        return by_name(entry, _data(entry))
    if entry.name in SILENT:
        return ()
    if entry.kind == TOOL_CALL:
        return [_call(entry, call) for call in _calls_of(entry)]
    if entry.kind == TOOL_RESULT:
        return _results(entry, done)
    if entry.kind == MESSAGE:
        return [_message(entry)]
    if entry.kind == ERROR:
        number = entry.meta.get("error_id", "")
        words = translated(str(entry.payload.get("message", "")))
        says = f"{number} {quoted(words, 1000)}".strip()
        return [_line(entry, "error", says, error_id=number)]
    if entry.kind == ANCHOR:
        state = dump(entry.payload.get("state"))
        says = say("{checkpoint} was set: {state}", checkpoint=entry.name, state=cut(state))
        return [_line(entry, "anchor", says)]
    data = dump(bounded(entry.payload.get("data", entry.payload)))
    return [_line(entry, "event", f"{entry.name or entry.kind} {cut(data)}")]


def _data(entry: Entry) -> Mapping[str, Any]:
    data = entry.payload.get("data")
    return data if isinstance(data, Mapping) else {}


def _line(entry: Entry, about: str, says: str, **data: Any) -> ReportLine:
    return ReportLine(entry.date, about, says, {"entry": entry.id, **bounded(data)})


def _start(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    turn = str(data.get("turn", ""))
    lane = entry.meta.get("lane")
    says = say("{turn} began", turn=turn)
    if lane:
        says += say(" in the lane {lane}", lane=lane)
    lines = [_line(entry, "turn", says, turn=turn, lane=lane)]
    return [*lines, *_takes(entry, data)]


def _takes(entry: Entry, _data: Mapping[str, Any]) -> Sequence[ReportLine]:
    take = read_take(entry)
    takes, include = list(take.takes), list(take.include)
    says = say("takes {entries}", entries=_entries(takes))
    if include:
        says += say(", and includes {entries} from elsewhere", entries=_entries(include))
    if take.doubted:
        sentence = ", {entries} of them in case its conversation was not recognized"
        says += say(sentence, entries=_entries(take.doubted))
    if take.recent:
        says += say(
            ", and shows the room's last messages, because conversations are not recognized well"
            " there"
        )
    if take.whole_room:
        says += say(", and shows all lanes, because one conversation fills the room")
    if take.steered:
        says += say(", asked while the turn ran")
    return [_line(entry, "view", says, takes=takes, include=include)]


def _entries(numbers: Sequence[object]) -> str:
    if not numbers:
        return say("entries none")
    listed = ", ".join(map(str, numbers[:MAX_NUMBERS]))
    if (more := len(numbers) - MAX_NUMBERS) > 0:
        return say("entries {numbers} and {more} more", numbers=listed, more=more)
    return say("entry {numbers}|entries {numbers}", count=len(numbers), numbers=listed)


def _resume(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    says = say("resumed after a crash or a stop, attempt {number}", number=data.get("attempt"))
    return [_line(entry, "turn", says)]


def _include(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    shown = data.get("entries") or []
    says = say("from here on it also shows {entries}", entries=_entries(shown))
    return [_line(entry, "view", says, include=shown)]


def _system(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    length = len(str(data.get("text", "")))
    sentence = (
        "system prompt {sha256}, {length} character|system prompt {sha256}, {length} characters"
    )
    says = say(sentence, length=length, sha256=data.get("sha256"))
    return [_line(entry, "view", says)]


def _step(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    return [
        _line(entry, "view", say("shown: {view}", view=_shown(data))),
        _line(entry, "model", _answered(data), **data),
    ]


def _shown(data: Mapping[str, Any]) -> str:
    """Return what a model was shown in a call."""
    usage = data.get("usage") or {}
    shown = say(
        "{count} message, prompt {prompt}|{count} messages, prompt {prompt}",
        count=data.get("messages") or 0,
        prompt=data.get("prompt"),
    )
    if data.get("system"):
        shown += say(", system prompt {sha256}", sha256=data["system"])
    if (count := usage.get("prompt_tokens")) is not None:
        shown += say(", {count} token|, {count} tokens", count=count)
    if data.get("tools"):
        shown += say("; tools offered: {tools}", tools=", ".join(map(str, data["tools"])))
    return shown


def _answered(data: Mapping[str, Any]) -> str:
    """Return how a call of a model ended."""
    usage = data.get("usage") or {}
    says = say(
        "step {step}: {model}, status {status} after {ms} ms",
        step=data.get("step"),
        model=data.get("model") or say("no model answered"),
        status=data.get("status"),
        ms=data.get("elapsed_ms"),
    )
    if usage:
        counts = ", ".join(f"{name} {count}" for name, count in usage.items())
        says += say(", usage {counts}", counts=counts)
    if data.get("finish_reason"):
        says += say(", finish {reason}", reason=data["finish_reason"])
    if data.get("error"):
        says += say(": {why}", why=quoted(translated(str(data["error"])), 1000))
    return says


def _call(entry: Entry, call: Mapping[str, Any]) -> ReportLine:
    function = call.get("function") or {}
    given = cut(str(function.get("arguments", "")))
    says = say("{tool} was called with {given}", tool=function.get("name"), given=given)
    return _line(entry, "tool", says, call=call)


def _done(entry: Entry, names: Mapping[Any, str], results: Mapping[Any, Any]) -> ReportLine:
    data = {name: value for name, value in _data(entry).items() if name != "result"}
    call = data.get("call_id")
    name, took = names.get(call) or say("a tool"), data.get("elapsed_ms")
    says = say("{tool} returned, after running for {ms} ms", tool=name, ms=took)
    if call not in results:  # the step did not end: nothing says what may be shown of its results
        return _line(entry, "tool", says, **data)
    result = str(results[call])
    says += say(", {result}", result=quoted(result))
    return _line(entry, "tool", says, **data, result=result)


def _results(entry: Entry, done: set[Any]) -> Sequence[ReportLine]:
    if done:
        return ()
    results = entry.payload.get("results") or ()
    texts = [one if isinstance(one, str) else dump(one) for one in results]
    found = [say("a tool returned {result}", result=quoted(text)) for text in texts]
    return [_line(entry, "tool", says) for says in found]


def _message(entry: Entry) -> ReportLine:
    text = quoted(entry.text)
    if "prompt_of" in entry.meta:
        number = entry.meta["prompt_of"]
        says = say("entry {number} is shown as a plugin's text: {text}", number=number, text=text)
        return _line(entry, "view", says)
    if "hint" in entry.meta:
        says = say("from here on it also shows a system hint: {text}", text=text)
        return _line(entry, "view", says)
    text = quoted(plain(entry.text))
    if entry.meta.get("final"):
        return _line(entry, "said", say("the answer: {text}", text=text))
    return _line(entry, "said", say("text next to its calls: {text}", text=text))


def _outbound(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    says = say("to be sent to {chat}", chat=f"{data.get('channel')} {data.get('chat')}")
    if data.get("reply_to"):
        says += say(" as a reply to {number}", number=data["reply_to"])
    if data.get("text"):
        says += say(": {text}", text=quoted(str(data["text"])))
    return [_line(entry, "send", says, **data)]


def _receipt(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    ids = ", ".join(map(str, data.get("platform_ids") or []))
    says = say("the platform confirmed {key}", key=data.get("idem"))
    says += say(" as message {number}", number=ids) if ids else ""
    return [_line(entry, "receipt", says, **data)]


def _reaction(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    thumb = str(data.get("value") or "")
    about = {name: data.get(name) for name in ("answer", "author", "value")}
    who = about["author"] or say("somebody")
    says = say(THUMBS.get(thumb, TAKEN_BACK), name=who)
    return [_line(entry, "thumb", says, **about)]


def _links(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    hosts = data.get("hosts")
    names = [str(host) for host in hosts] if isinstance(hosts, list) else []
    sentence = (
        "{count} link lost what could tell its host something of this chat, where \u2026 stands|"
        "{count} links lost what could tell their hosts something of this chat, where \u2026 stands"
    )
    says = say(sentence, count=data.get("links") or 0)
    says += say(": {hosts}", hosts=", ".join(names[:MAX_NUMBERS])) if names else ""
    return [_line(entry, "said", says, **data)]


def _end(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    says = say("ended: {status}", status=translated(str(data.get("status"))))
    if data.get("error_id"):
        error = quoted(translated(str(data.get("error", ""))), 1000)
        says += say(", error {number}: {error}", number=data["error_id"], error=error)
    if data.get("why"):
        by, why = data.get("name") or data.get("by"), translated(str(data["why"]))
        says += say(" ({why}, by {name})", why=why, name=by) if by else say(" ({why})", why=why)
    return [_line(entry, "turn", says, **data)]


_EVENTS: Final[Mapping[str, Callable[[Entry, Mapping[str, Any]], Sequence[ReportLine]]]] = (
    MappingProxyType(
        {
            TURN_START: _start,
            TURN_RETAKE: _takes,
            TURN_RESUME: _resume,
            TURN_END: _end,
            "view.include": _include,
            PROMPT_SYSTEM: _system,
            LINKS_CUT: _links,
            LOOP_STEP: _step,
            OUTBOUND: _outbound,
            RECEIPT: _receipt,
            "answer.reaction": _reaction,
        }
    )
)
