"""Importing tapes: what is mended, what is refused, and that it is whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tape.context import pair_up
from tape.entry import Entry, anchor, event, message, to_line, tool_call, tool_result
from tape.errors import AppendRefused
from tape.handle import Tape
from tape.importing.importer import Import, ImportReport
from tape.rewind import out_of_view
from tape.stores.jsonl.store import FileStore
from tape.stores.memory import MemoryStore

T: Final = "t"
DAY: Final = "2026-01-02T03:04:05.000000+00:00"
START: Final[dict[str, Any]] = {
    "id": 1,
    "kind": "anchor",
    "payload": {"name": "session/start", "state": {}},
    "meta": {},
    "date": DAY,
}


def said(number: int, text: str, **more: Any) -> dict[str, Any]:
    payload = {"role": "user", "content": text}
    return {"id": number, "kind": "message", "payload": payload, "meta": {}, "date": DAY, **more}


def event_line(name: str, number: int, **data: Any) -> dict[str, Any]:
    payload = {"name": name, "data": data}
    return {"id": number, "kind": "event", "payload": payload, "meta": {}, "date": DAY}


def write(path: Path, *lines: Any) -> Path:
    texts = [line if isinstance(line, (str, bytes)) else json.dumps(line) for line in lines]
    raw = [
        text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text for text in texts
    ]
    path.write_bytes(b"".join(line + b"\n" for line in raw))
    return path


async def taken(path: Path, store: MemoryStore | None = None) -> tuple[list[Entry], ImportReport]:
    store = store or MemoryStore()
    work = Import(store, T, path)
    report = await work.examine()
    await work.write()
    return await Tape(store, T).read(), report


async def test_our_own_export_comes_back_as_it_was(tmp_path: Path) -> None:
    tape = Tape(MemoryStore(), T)
    said = {"message_id": "7", "author": "u1", "text": "你好", "said_at": DAY}
    link = {"parent": "6", "why": "a reply", "to": ["u2"]}
    arrived = message("user", "你好", inbox=4, lane="a", link=link, **said)
    await tape.append(arrived, anchor("phase:one", {"b": 1}))
    await tape.append(event("turn.start", {"turn": "t1", "takes": [3]}))
    await tape.append(tool_call([{"id": "c"}]), tool_result(["r", {"x": None}]))
    await tape.append(message("user", "again", prompt_of=3), event("message.delete", {"entry": 3}))
    entries = await tape.read()
    path = write(tmp_path / "t.jsonl", *map(to_line, entries))
    again, report = await taken(path)
    assert again == entries
    assert report.mended == {}


async def test_a_file_store_s_own_file_comes_in_without_its_marks(tmp_path: Path) -> None:
    store = FileStore.open(tmp_path / "tapes")
    await store.append(T, [message("user", "a", sum="own"), message("user", "b")], "k")
    entries = await Tape(store, T).read()
    await store.close()
    again, report = await taken(tmp_path / "tapes" / "t.jsonl")
    assert again == entries
    assert report.mended == {}


async def test_gaps_equal_ids_and_broken_lines_are_mended_and_references_follow(
    tmp_path: Path,
) -> None:
    path = write(
        tmp_path / "t.jsonl",
        START,
        said(10, "ten"),
        said(10, "ten"),
        '{"id": 11, "kind": "mess',
        said(12, "twelve"),
        "",
        said(12, "another twelve"),
        event_line("turn.start", 20, turn="t1", takes=[12, 10, 99], include=[1], doubted=[1]),
        event_line("message.edit", 21, entry=12, content="now"),
        said(22, "prompt", meta={"prompt_of": 12}),
        said(23, "lost", meta={"prompt_of": 77}),
    )
    entries, report = await taken(path)
    assert [entry.id for entry in entries] == list(range(1, 9))
    assert [entry.text for entry in entries if entry.kind == "message"] == [
        *("ten", "twelve", "another twelve", "prompt", "lost")
    ]
    taken_in = {"turn": "t1", "takes": [3, 2], "include": [1], "doubted": [1]}
    assert entries[4].payload["data"] == taken_in
    assert entries[5].payload["data"]["entry"] == 3
    assert [entry.meta for entry in entries[6:]] == [{"prompt_of": 3}, {}]
    assert report.mended == {
        "ids are missing before this line: renumbered": 3,
        "duplicate line: left out": 1,
        "not an entry: left out": 1,
        "duplicate id: assigned a new one": 1,
        "takes refers to entries that are not before it: removed": 1,
        "prompt_of refers to an entry that is not before it: removed": 1,
    }
    assert report.where["not an entry: left out"] == [4]
    assert (report.lines, report.entries, report.size, report.left_out) == (11, 8, 8, 1)


async def test_a_tape_without_its_start_is_given_one_and_ids_move(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", said(1, "first"), event_line("turn.start", 2, takes=[1]))
    entries, report = await taken(path)
    assert [entry.name or entry.text for entry in entries] == [
        *("session/start", "handoff", "first", "turn.start")
    ]
    assert {entry.date for entry in entries} == {DAY}
    assert entries[3].payload["data"]["takes"] == [3]
    assert "no session/start: added before the first entry" in report.mended


async def test_a_rewind_hides_the_same_entries_under_their_new_ids(tmp_path: Path) -> None:
    tape = Tape(MemoryStore(), T)
    await tape.append(message("user", "before"), anchor("phase:one"), message("user", "hidden"))
    await tape.rewind("phase:one")
    lines = [to_line(entry) for entry in (await tape.read())[3:]]  # from the anchor on
    store = MemoryStore()
    entries, _report = await taken(write(tmp_path / "t.jsonl", *lines), store)
    (hidden,) = await out_of_view(Tape(store, T))
    assert [entry.text for entry in entries if entry.id in hidden] == ["hidden"]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"timestamp": 1767323045}, "2026-01-02T03:04:05.000000+00:00"),
        ({"timestamp": 1767323045.25}, "2026-01-02T03:04:05.250000+00:00"),
        ({"timestamp": 1767323045250}, "2026-01-02T03:04:05.250000+00:00"),
        ({"timestamp": "2026-01-02T05:04:05+02:00"}, "2026-01-02T03:04:05.000000+00:00"),
        ({"date": "2026-01-02T03:04:05Z"}, "2026-01-02T03:04:05.000000+00:00"),
        ({"date": "long ago"}, DAY),
        ({"timestamp": 1e300}, DAY),
        ({"timestamp": True}, DAY),
        ({}, DAY),
    ],
    ids=str,
)
async def test_a_date_is_read_in_any_form_or_is_that_of_the_entry_before(
    tmp_path: Path, given: dict[str, Any], kept: str
) -> None:
    line = {"id": 2, "kind": "message", "payload": {"role": "user", "content": "a"}, **given}
    entries, _report = await taken(write(tmp_path / "t.jsonl", START, line))
    assert entries[1].date == kept


FOREIGN: Final[list[dict[str, Any]]] = [
    {"kind": "thought", "payload": {"text": "hm"}},
    {"kind": "message", "payload": "text alone"},
    {"kind": "message", "payload": {"content": "nobody's"}},
    {"kind": "tool_call", "payload": {"calls": "none"}},
    {"kind": "tool_result", "payload": {}},
    {"kind": "anchor", "payload": {"state": {}}},
    {"kind": "event", "payload": {"name": "turn.start", "data": {}}},
    {"kind": "event", "payload": {"name": "message.delete", "data": {"entry": "x"}}},
    {"kind": "event", "payload": {"name": "turn.retake", "data": {"takes": ["x"]}}},
]


@pytest.mark.parametrize("line", FOREIGN, ids=str)
async def test_what_no_view_could_show_is_kept_as_an_event(
    tmp_path: Path, line: dict[str, Any]
) -> None:
    path = write(tmp_path / "t.jsonl", START, {"id": 2, "date": DAY, **line}, said(3, "after"))
    store = MemoryStore()
    entries, report = await taken(path, store)
    assert entries[1].name == f"import.{line['kind']}"
    assert entries[1].payload["data"] == {"kind": line["kind"], "payload": line["payload"]}
    assert sum(report.mended.values()) == 1
    assert "after" in str(await Tape(store, T).full_context())


async def test_anchors_and_events_without_state_or_data_are_made_complete(tmp_path: Path) -> None:
    lines = [
        {"id": 2, "kind": "anchor", "payload": {"name": "phase:one"}, "date": DAY},
        {"id": 3, "kind": "anchor", "payload": {"name": "two", "state": "text"}, "date": DAY},
        {"id": 4, "kind": "event", "payload": {"name": "mine"}, "meta": 5, "date": DAY},
    ]
    entries, _report = await taken(write(tmp_path / "t.jsonl", START, *lines))
    assert [entry.payload for entry in entries[1:]] == [
        {"name": "phase:one", "state": {}},
        {"name": "two", "state": {"value": "text"}},
        {"name": "mine", "data": {}},
    ]
    assert entries[3].meta == {"value": 5}


async def test_what_no_database_holds_is_cleaned(tmp_path: Path) -> None:
    deep = "[" * 500 + "]" * 500
    path = write(
        tmp_path / "t.jsonl",
        b"\xef\xbb\xbf" + json.dumps(START).encode(),
        '{"id":2,"kind":"message","payload":{"role":"user","content":"a\\u0000b\\ud800c"}}',
        '{"id":3,"kind":"message","payload":{"role":"user","content":"d","n":1e999,"m":1'
        + "0" * 40
        + "}}",
        '{"id":4,"kind":"message","payload":{"role":"user","content":"e","deep":' + deep + "}}",
        '{"id":5,"kind":"message","payload":{"role":"user","content":"f"},"meta":{"x":NaN}}',
    )
    entries, report = await taken(path)
    assert [entry.text for entry in entries[1:]] == ["ab\ufffdc", "d", "e", "f"]
    assert sum("cleaned" in what and count for what, count in report.mended.items()) == 4


REFUSED: Final = {
    "nothing": b"",
    "a text": b"hello\nworld\n",
    "bytes": bytes(range(256)) * 40,
    "JSON of something else": b'{"a": 1}\n{"a": 2}\n[]\n',
    "mostly broken": b'{"id":1,"kind":"error","payload":{}}\nx\nx\n',
    "nested without end": b"[" * 200_000,
}


@pytest.mark.parametrize("content", REFUSED.values(), ids=REFUSED.keys())
async def test_what_is_no_tape_is_refused_whole(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    store = MemoryStore()
    with pytest.raises(AppendRefused, match="is not a tape"):
        await taken(path, store)
    assert await store.tapes() == []


async def test_the_same_file_again_adds_nothing_and_a_longer_one_the_rest(tmp_path: Path) -> None:
    store = MemoryStore()
    lines = [START, *(said(number, f"text {number}") for number in range(2, 1500))]
    first = write(tmp_path / "first.jsonl", *lines[:700])
    longer = write(tmp_path / "longer.jsonl", *lines)
    await taken(first, store)
    work = Import(store, T, first)
    await work.examine()
    assert (work.existing, await work.write()) == (700, 0)
    work = Import(store, T, longer)
    await work.examine()
    assert (work.existing, await work.write()) == (700, 799)
    entries = await Tape(store, T).read()
    assert [entry.id for entry in entries] == list(range(1, 1500))


async def test_a_tape_that_has_other_entries_takes_nothing_in(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", START, *(said(number, "a") for number in range(2, 600)))
    for grown in ("other", "longer"):
        store = MemoryStore()
        if grown == "longer":
            await taken(path, store)
        await store.append(T, [message("user", "someone was here")])
        before = await Tape(store, T).read()
        with pytest.raises(AppendRefused, match="differs from this file"):
            await taken(path, store)
        assert await Tape(store, T).read() == before


async def test_a_tape_that_grows_while_a_file_is_read_takes_nothing_in(tmp_path: Path) -> None:
    store = MemoryStore()
    work = Import(store, T, write(tmp_path / "t.jsonl", START, said(2, "a")))
    await work.examine()
    await store.append(T, [message("user", "quicker")])
    with pytest.raises(AppendRefused, match="3 entries instead of 0"):
        await work.write()
    assert await store.size(T) == 3


# What would break the readers of a tape.

ARRIVED: Final = {"inbox": 1, "message_id": "7", "author": "u", "text": "t", "said_at": DAY}


@pytest.mark.parametrize(
    ("meta", "name"),
    [
        ({"inbox": 1, "lane": "x"}, "inbox"),
        ({"inbox": "1"}, "inbox"),
        ({**ARRIVED, "lane": "x", "said_at": "yesterday"}, "inbox"),
        ({**ARRIVED, "lane": "x", "link": "y"}, "link"),
        ({**ARRIVED, "lane": "x", "link": {"to": [{"a": 1}]}}, "link"),
        ({**ARRIVED, "lane": "x", "link": {"parent": {}}}, "link"),
        ({"lane": 5}, "lane"),
        ({"turn": {"a": 1}}, "turn"),
        ({"prompt_of": [1]}, "prompt_of"),
        ({"edit_of": {"a": 1}}, "edit_of"),
        ({"rewind": "5"}, "rewind"),
        ({"author": ["u"]}, "author"),
        ({"media": [1]}, "media"),
        ({"reply_to": [1]}, "reply_to"),
    ],
)
async def test_a_mark_that_no_reader_could_read_is_taken_off(
    tmp_path: Path, meta: dict[str, Any], name: str
) -> None:
    path = write(tmp_path / "t.jsonl", START, said(2, "hello", meta={**meta, "mine": [1]}))
    entries, report = await taken(path)
    rest = {key: value for key, value in meta.items() if key != name}
    assert entries[1].meta == {**rest, "mine": [1]}
    assert report.mended == {f"invalid {name} in meta: removed": 1}


async def test_an_author_that_is_no_text_takes_the_message_out_of_its_room(tmp_path: Path) -> None:
    meta = {**ARRIVED, "lane": "x", "author": {"a": 1}}
    entries, _report = await taken(write(tmp_path / "t.jsonl", START, said(2, "a", meta=meta)))
    assert not entries[1].meta.keys() & {"inbox", "author"}


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("tool_call", {"calls": [{"id": "1", "function": "x"}]}),
        ("tool_call", {"calls": [{"id": ["1"], "function": {"name": "x"}}]}),
        ("tool_call", {"calls": [{"id": "1", "function": {"name": ["x"]}}]}),
        ("message", {"role": "assistant", "content": "x", "tool_calls": "x"}),
        ("message", {"role": "assistant", "content": "x", "tool_calls": ["x"]}),
        ("message", {"role": "tool", "content": "x", "tool_call_id": ["a"]}),
        ("message", {"role": "user", "content": [1, None, {"text": "x"}]}),
        ("event", {"name": "message.media", "data": {"entry": 1, "refused": 5}}),
        ("event", {"name": "message.media", "data": {"entry": 1, "images": [7]}}),
    ],
)
async def test_what_would_break_a_view_is_kept_as_an_event(
    tmp_path: Path, kind: str, payload: dict[str, Any]
) -> None:
    line = {"id": 2, "kind": kind, "payload": payload, "meta": {}, "date": DAY}
    store = MemoryStore()
    entries, _report = await taken(write(tmp_path / "t.jsonl", START, line), store)
    assert entries[1].name == f"import.{kind}"
    assert entries[1].payload["data"]["payload"] == payload
    tape = Tape(store, T)
    assert len(pair_up(await tape.full_context())) == 1
    assert (await tape.context_for("x")).messages
    assert await tape.context_summary()
