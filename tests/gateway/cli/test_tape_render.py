"""Entries on a terminal: what people wrote moves nothing there."""

from __future__ import annotations

from typing import Final

import pytest

from gateway.cli.tape.render import as_text

DATE: Final = "2026-01-02T03:04:05.000000+00:00"


@pytest.mark.parametrize("character", ["\x1b", "\u061c", "\u2028", "\u2029", "\u202e"])
def test_characters_that_move_others_are_shown_as_their_numbers(character: str) -> None:
    payload = {"role": "user", "content": f"a{character}b"}
    entry = {"id": 3, "kind": "message", "payload": payload, "meta": {}, "date": DATE}
    shown = as_text(entry)
    assert character not in shown
    assert f"a\\u{ord(character):04x}b" in shown
