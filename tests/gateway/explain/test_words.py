"""What somebody said in words, also where the words are not theirs or there are none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Excerpt, Media, Quote
from gateway.console.said import shown_text
from gateway.context.history import read_history
from gateway.explain.explainer import Explainer
from tape.entry import dump, to_line
from tests.kit.chats import open_group
from tests.kit.plain_channels import MESSAGE

PHOTO = Media("image", "photo", width=640, height=480)
PLACE = Media("other", "venue", detail="Hall, Main 1")
FORWARD = Excerpt("forwarded message", "one\ntwo", "Zed", "8", media=(PHOTO,))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            {"text": "", "excerpts": (FORWARD,)},
            "[forwarded message of #2 Zed]\n>> one\n>> two\n[in it: photo, 640x480]",
        ),
        (
            {"text": "look", "excerpts": (Excerpt("link preview", "x", source="page"),)},
            "look\n[link preview]\n>> x",
        ),
        (
            {"text": "what is it?", "quote": Quote("Zed", "8", "", media=(PHOTO,))},
            "what is it?\n[in what it replies to: photo, 640x480]",
        ),
        ({"text": "", "omitted": ("3 more files",)}, "[left out: 3 more files]"),
        ({"text": "one", "forwarded": Quote("Zed\n] [me", "8")}, "one\n[forwarded from Zed me]"),
        ({"text": "", "media": (PHOTO, PLACE)}, "[photo, 640x480]\n[venue, Hall, Main 1]"),
        ({"text": "plain"}, "plain"),
    ],
)
async def test_h1_what_came_with_a_message_is_shown_wherever_it_is_listed(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    async with open_group(tmp_path) as group:
        entries = await group.hear(replace(MESSAGE, **change))
        (said,) = [entry for entry in entries if entry.meta.get("author")]
        assert shown_text(said) == words
        history = await read_history(group.tape, "Ada", 10)
        assert [one.text for one in history if one.role == "person"] == [words]
        services = group.gateway.services
        report = await Explainer(services.store, services.redactor).explain("in-1")
        assert all(" ".join(line.split()) in _flat(report.to_json()) for line in words.split("\n"))
        exported = to_line(said).replace("\\n", "\n")
        assert ("photo, 640x480" in exported) is ("photo" in words)
        found = await group.tape.search("two")
        assert (said.id in [one.id for one in found]) is ("two" in words)


def _flat(value: object) -> str:
    return " ".join(dump(value).replace("\\n", " ").split())
