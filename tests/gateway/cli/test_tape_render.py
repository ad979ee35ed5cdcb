"""Entries on a terminal: what people wrote moves nothing there."""

from __future__ import annotations

from typing import Any, Final

import pytest

from gateway.cli.tape.render import Transcript, hit_line, prompt_text

DATE: Final = "2026-01-02T03:04:05.000000+00:00"


def entry(kind: str, payload: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"id": 3, "kind": kind, "payload": payload, "meta": meta, "date": DATE}


def shown(kind: str, payload: dict[str, Any], **meta: Any) -> str:
    """Return a transcript of one entry, without the line of its day."""
    return "\n".join(list(Transcript().lines(entry(kind, payload, **meta)))[1:])


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


@pytest.mark.parametrize("character", ["\x1b", "\x9b", "\u061c", "\u2028", "\u2029", "\u202e"])
def test_characters_that_move_others_are_shown_as_their_numbers(character: str) -> None:
    text, escaped = f"a{character}b", f"a\\u{ord(character):04x}b"
    said = {"role": "user", "content": text}
    call = {"calls": [{"function": {"name": text, "arguments": "{}"}}]}
    prompt = {"exact": True, "why": "", "step": 1, "status": "", "messages": [said]}
    outputs = [
        shown("message", said, name=text, lane=text),
        shown("message", {"role": text, "content": [{"type": "image_url", "image_url": text}]}),
        shown("anchor", {"name": text, "state": {text: text, "summary": text}}),
        shown("event", {"name": text, "data": {"a": text}}),
        shown("error", {"message": text}),
        shown("tool_call", call),
        shown("tool_result", {"results": [text]}),
        hit_line(entry("message", said, name=text), "a"),
        prompt_text(prompt),
    ]
    assert [one for one in outputs if character in one] == []
    assert escaped in outputs[0]
    assert escaped in outputs[7]


def test_a_transcript_names_the_day_once_and_hangs_long_texts_behind_the_time() -> None:
    transcript = Transcript()
    said = entry("message", {"role": "user", "content": "word " * 20}, name="Ann", lane="said:3")
    first = list(transcript.lines(said))
    assert first[0].endswith("2026-01-02")
    assert " Ann [said:3]: word word" in first[1]
    assert all(line.startswith(" " * 15 + "word") for line in first[2:])
    assert max(map(len, first)) <= 60
    assert not next(transcript.lines(said)).endswith("2026-01-02")


def test_what_is_no_talk_is_shown_as_one_would_read_it() -> None:
    image = {"type": "image_url", "image_url": {"url": "tape:media/cat.png"}}
    call = {"calls": [{"function": {"name": "look", "arguments": '{"a": 1}'}}]}
    assert "agent: see\n" in shown(
        "message", {"role": "assistant", "content": [{"type": "text", "text": "see"}, image]}
    )
    assert "[image cat.png]" in shown("message", {"role": "user", "content": [image]}, name="Ann")
    assert '→ calls: look({"a": 1})' in shown("tool_call", call)
    assert "← result: plums" in shown("tool_result", {"results": ["plums"]})
    anchor = {"name": "phase:a", "state": {"summary": "We chose plums.", "owner": "human"}}
    assert "⚓ phase:a: We chose plums.\n" in shown("anchor", anchor)


def test_edits_and_deletions_name_their_message() -> None:
    edit = {"name": "message.edit", "data": {"entry": 2, "text": "ripe plums", "content": "..."}}
    assert shown("event", edit, lane="said:1/9").endswith("  edited 2 [9]: ripe plums")
    deletion = {"name": "message.delete", "data": {"entry": 2}}
    assert shown("event", deletion).endswith("  deleted 2")


def test_an_edit_shows_the_files_that_it_changed_or_that_are_all() -> None:
    framed = "[10:00 #1 Ann] ripe plums\n[photo, 3x2]"
    data = {"entry": 2, "text": "ripe plums", "content": framed}
    moved = {"entry": 2, "text": "", "content": "[10:00 #1 Ann]\n[live location, 51, 9]"}
    for given, line in (
        (data, "ripe plums"),
        ({**data, "changed": "photo"}, "ripe plums\n               [photo, 3x2]"),
        (moved, "[live location, 51, 9]"),
    ):
        text = shown("event", {"name": "message.edit", "data": given})
        assert text.endswith(f"  edited 2: {line}")


def test_a_system_hint_is_no_person() -> None:
    hint = {"role": "user", "content": "The task seems finished."}
    assert " note: The task" in shown("message", hint, hint="handoff.suggest")


def test_letters_that_a_model_has_escaped_are_readable() -> None:
    call = {"function": {"name": "look", "arguments": '{"for": "\\u6885"}'}}
    assert 'look({"for": "梅"})' in shown("tool_call", {"calls": [call]})


def test_a_long_name_leaves_a_hit_on_one_line() -> None:
    said = entry("message", {"role": "user", "content": "plums"}, name="Ann " * 40)
    assert "Ann Ann Ann Ann Ann…: plums" in hit_line(said, "plums")


def test_a_hit_stands_on_one_line_without_colours_in_a_pipe() -> None:
    said = entry("message", {"role": "user", "content": "x\ny 梅子 Plums"}, name="Ann")
    line = hit_line(said, '"plums" 梅')
    assert line.endswith("Ann: x y 梅子 Plums")
    assert "\x1b" not in line
