"""The report lines about a turn: its view, each model call, each tool call, and its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from channels.markdown.plain import plain
from gateway.explain.facts import MAX_ENTRIES
from gateway.explain.report import ReportLine, bounded, cut, quoted
from gateway.wording import counted
from tape.entry import ANCHOR, ERROR, MESSAGE, TOOL_CALL, TOOL_RESULT, Entry, dump
from tape.turn_events import (
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
        says = f"to see its exact prompts: tapeway tape show {tape} --view {turn}"
        lines.append(ReportLine("", "view", says))
    if len(entries) == MAX_ENTRIES:
        says = f"more than {MAX_ENTRIES} entries: the rest is on the tape"
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
    where = f" as message {row['platform_id']}" if row["platform_id"] else ""
    if row["op"] in ("place", "draft"):
        became = "and became the answer" if row["op"] == "place" else "and was not finished"
        lines.append(ReportLine("", "draft", f"partial text was shown{where} {became}", data))
    if row["op"] == "draft":
        return lines
    says = f"out-{row['id']} to {row['account_id']} {row['chat_id']}: {row['status']}{where}"
    if row["attempts"]:
        times = "once" if row["attempts"] == 1 else f"{row['attempts']} times"
        says += f", attempted {times}"
    if row["why"]:
        says += f": {row['why']}"
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
        says = f"{number} {quoted(str(entry.payload.get('message', '')), 1000)}".strip()
        return [_line(entry, "error", says, error_id=number)]
    if entry.kind == ANCHOR:
        state = dump(entry.payload.get("state"))
        return [_line(entry, "anchor", f"{entry.name} was set: {cut(state)}")]
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
    where = f" in the lane {lane}" if lane else ""
    lines = [_line(entry, "turn", f"{turn} began{where}", turn=turn, lane=lane)]
    return [*lines, *_takes(entry, data)]


def _takes(entry: Entry, _data: Mapping[str, Any]) -> Sequence[ReportLine]:
    take = read_take(entry)
    takes, include = list(take.takes), list(take.include)
    says = f"takes {_entries(takes)}"
    if include:
        says += f", and includes {_entries(include)} from elsewhere"
    if take.whole_room:
        says += ", and shows all lanes, because one conversation fills the room"
    if take.steered:
        says += ", asked while the turn ran"
    return [_line(entry, "view", says, takes=takes, include=include)]


def _entries(numbers: Sequence[object]) -> str:
    listed = ", ".join(map(str, numbers[:30]))
    more = f" and {len(numbers) - 30} more" if len(numbers) > 30 else ""
    return f"{'entry' if len(numbers) == 1 else 'entries'} {listed or 'none'}{more}"


def _resume(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    return [_line(entry, "turn", f"resumed after a crash or a stop, attempt {data.get('attempt')}")]


def _include(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    shown = data.get("entries") or []
    return [_line(entry, "view", f"from here on it also shows {_entries(shown)}", include=shown)]


def _system(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    length = counted(len(str(data.get("text", ""))), "character")
    says = f"system prompt {data.get('sha256')}, {length}"
    return [_line(entry, "view", says)]


def _step(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    view = f"{counted(data.get('messages') or 0, 'message')}, prompt {data.get('prompt')}"
    if data.get("system"):
        view += f", system prompt {data['system']}"
    usage = data.get("usage") or {}
    if usage.get("prompt_tokens") is not None:
        view += f", {counted(usage['prompt_tokens'], 'token')}"
    if data.get("tools"):
        view += f"; tools offered: {', '.join(map(str, data['tools']))}"
    model = data.get("model") or "no model answered"
    status = f"status {data.get('status')} after {data.get('elapsed_ms')} ms"
    says = f"step {data.get('step')}: {model}, {status}"
    if usage:
        counts = ", ".join(f"{name} {count}" for name, count in usage.items())
        says += f", usage {counts}"
    if data.get("finish_reason"):
        says += f", finish {data['finish_reason']}"
    if data.get("error"):
        says += f": {quoted(str(data['error']), 1000)}"
    return [_line(entry, "view", f"shown: {view}"), _line(entry, "model", says, **data)]


def _call(entry: Entry, call: Mapping[str, Any]) -> ReportLine:
    function = call.get("function") or {}
    says = f"{function.get('name')} was called with {cut(str(function.get('arguments', '')))}"
    return _line(entry, "tool", says, call=call)


def _done(entry: Entry, names: Mapping[Any, str], results: Mapping[Any, Any]) -> ReportLine:
    data = {name: value for name, value in _data(entry).items() if name != "result"}
    call = data.get("call_id")
    says = f"{names.get(call, 'a tool')} returned, after {data.get('elapsed_ms')} ms"
    if call not in results:  # the step did not end: nothing says what may be shown of its results
        return _line(entry, "tool", says, **data)
    result = str(results[call])
    return _line(entry, "tool", f"{says}, {quoted(result)}", **data, result=result)


def _results(entry: Entry, done: set[Any]) -> Sequence[ReportLine]:
    if done:
        return ()
    results = entry.payload.get("results") or ()
    texts = [one if isinstance(one, str) else dump(one) for one in results]
    return [_line(entry, "tool", f"a tool returned {quoted(text)}") for text in texts]


def _message(entry: Entry) -> ReportLine:
    text = quoted(entry.text)
    if "prompt_of" in entry.meta:
        says = f"entry {entry.meta['prompt_of']} is shown as a plugin's text: {text}"
        return _line(entry, "view", says)
    if "hint" in entry.meta:
        return _line(entry, "view", f"from here on it also shows a system hint: {text}")
    what = "the answer" if entry.meta.get("final") else "text next to its calls"
    return _line(entry, "said", f"{what}: {quoted(plain(entry.text))}")


def _outbound(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    says = f"to be sent to {data.get('channel')} {data.get('chat')}"
    if data.get("reply_to"):
        says += f" as a reply to {data['reply_to']}"
    if data.get("text"):
        says += f": {quoted(str(data['text']))}"
    return [_line(entry, "send", says, **data)]


def _receipt(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    ids = ", ".join(map(str, data.get("platform_ids") or []))
    says = f"the platform confirmed {data.get('idem')}" + (f" as message {ids}" if ids else "")
    return [_line(entry, "receipt", says, **data)]


def _reaction(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    thumb = str(data.get("value") or "")
    did = f"gave the answer a thumb {thumb}" if thumb else "took the thumb back"
    about = {name: data.get(name) for name in ("answer", "author", "value")}
    return [_line(entry, "thumb", f"{about['author'] or 'somebody'} {did}", **about)]


def _end(entry: Entry, data: Mapping[str, Any]) -> Sequence[ReportLine]:
    says = f"ended: {data.get('status')}"
    if data.get("error_id"):
        says += f", error {data['error_id']}: {quoted(str(data.get('error', '')), 1000)}"
    if data.get("why"):
        by = data.get("name") or data.get("by")
        says += f" ({data['why']}, by {by})" if by else f" ({data['why']})"
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
            LOOP_STEP: _step,
            OUTBOUND: _outbound,
            RECEIPT: _receipt,
            "answer.reaction": _reaction,
        }
    )
)
