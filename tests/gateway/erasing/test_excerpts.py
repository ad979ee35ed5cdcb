"""What somebody passed on of a person's words is erased with them, and nothing else of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Excerpt, InboundMessage, Media, Quote
from tape.entry import Entry
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import ANN, BOB, MARKS, SECRET, erased, holding, said
from tests.kit.chats import GroupChat, open_group
from tests.kit.images import MediaChannel, image
from tests.kit.plain_channels import MESSAGE

PICTURE = Media("image", "photo", file="file-of-ann")
OWN = Media("image", "photo", file="his")
HERS = Excerpt("forwarded message", SECRET, ANN.name, ANN.id, media=(PICTURE,))
PAGE = Excerpt("link preview", "nothing of hers", "example.org", source="page")


def passed_on(**change: Any) -> InboundMessage:
    """Make a message of Bob's with words of Ann's in it."""
    return replace(said(2, "look at that", BOB), **change)


async def erase(group: GroupChat, **what: Any) -> None:
    await group.gateway.parts.eraser.begin(asked_by="operator", **what)
    await erased(group.gateway)


async def erase_first(group: GroupChat, what: str, entries: list[Entry]) -> None:
    """Erase all of Ann, or the first message, as `what` says."""
    if what == "person":
        await erase(group, what=what, channel="plain", person=ANN.id)
        return
    number = next(entry.id for entry in entries if entry.meta.get("message_id") == "1")
    await erase(group, what=what, tape=group.tape.name, entries=(number,))


def of_bob(entries: list[Entry]) -> Entry:
    (found,) = [entry for entry in entries if entry.meta.get("author") == BOB.id]
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"excerpts": (HERS, PAGE)},
        {"excerpts": (PAGE, HERS)},
        {"excerpts": (replace(HERS, text=""), replace(HERS, media=()), PAGE)},
        {"excerpts": (PAGE,), "quote": Quote(ANN.name, ANN.id, "", media=(PICTURE,))},
        {"excerpts": (PAGE,), "quote": Quote(ANN.name, ANN.id, SECRET, media=(PICTURE,))},
    ],
)
async def test_a_forgotten_person_s_words_go_from_the_messages_that_pass_them_on(
    model: FakeOpenAI, tmp_path: Path, change: dict[str, Any]
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    async with open_group(tmp_path, model) as group:
        await group.hear(passed_on(**change, media=(OWN,)))
        await erase(group, what="person", channel="plain", person=ANN.id)
        left = of_bob(await group.tape.read())
        assert left.text.split("\n") == [
            left.text.split("\n")[0],
            "[photo]",
            "[link preview of example.org]",
            ">> nothing of hers",
        ]
        assert left.text.startswith(f"[00:00 #1 {BOB.name}] look at that")
        assert [one["label"] for one in left.meta["excerpts"]] == ["link preview"]
        await group.tape.full_context()
    assert holding(tmp_path, *MARKS, ANN.name, "file-of-ann") == []


@pytest.mark.parametrize(
    "change", [{"excerpts": (HERS,)}, {"quote": Quote(ANN.name, ANN.id, SECRET, media=(PICTURE,))}]
)
async def test_what_was_left_out_of_a_forgotten_person_s_words_is_named_no_more(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    left_out = ('the text of "zyzzogeton.txt"',)
    first = passed_on(**change, omitted=left_out, addressed=False)
    edit = replace(first, kind="edit", ext_id="-100/2/edit", text="look here", edited=first.date)
    async with open_group(tmp_path) as group:
        await group.hear_each(first, edit)
        await erase(group, what="person", channel="plain", person=ANN.id)
        entries = await group.tape.read()
        assert of_bob(entries).text == f"[00:00 #1 {BOB.name}] look at that"
        await group.tape.full_context()
    assert holding(tmp_path, *MARKS, ANN.name) == []


async def test_erasing_a_message_takes_the_copies_that_others_passed_on(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    async with open_group(tmp_path, model) as group:
        copy = replace(HERS, author="", author_id="")
        entries = await group.hear_each(
            said(1, SECRET), passed_on(excerpts=(copy, PAGE)), said(3, "unrelated", BOB)
        )
        (number,) = [entry.id for entry in entries if entry.meta.get("text") == SECRET]
        await erase(group, what="message", tape=group.tape.name, entries=(number,))
        texts = [entry.text for entry in await group.tape.read() if entry.meta.get("author")]
        assert ">> nothing of hers" in texts[0]
    assert holding(tmp_path) == []


@pytest.mark.parametrize("what", ["message", "person"])
@pytest.mark.parametrize("known", [True, False])
async def test_a_forward_goes_whole_also_if_nobody_is_known_to_have_written_it(
    tmp_path: Path, what: str, *, known: bool
) -> None:
    async with open_group(tmp_path) as group:
        origin = Quote(ANN.name, ANN.id if known else "")
        forward = replace(passed_on(forwarded=origin), text=SECRET, media=(OWN,), addressed=False)
        quote = Quote(BOB.name, BOB.id, SECRET, media=(OWN,))
        reply = replace(said(3, "so?", BOB, to=2), quote=quote)
        other = replace(forward, message_id="4", ext_id="-100/4", text="a plum")
        other = replace(other, forwarded=Quote("Eve", "9"))
        first = said(1, SECRET, addressed=False)
        entries = await group.hear_each(first, forward, reply, other)
        await erase_first(group, what, entries)
        left = [entry.text for entry in await group.tape.find(author=BOB.id)]
        assert [text.partition("] ")[2] for text in left] == ["so?", "a plum\n[photo]"]
    assert holding(tmp_path, *MARKS) == []


async def test_a_reply_to_what_passed_words_on_quotes_them_no_more(tmp_path: Path) -> None:
    unheard = replace(HERS, text="the plum is ripe in Linz")
    shared = passed_on(excerpts=(unheard,), addressed=False)
    reply = replace(
        said(3, "so?", BOB, to=2), quote=Quote(BOB.name, BOB.id, unheard.text, media=(OWN,))
    )
    further = replace(
        said(4, "and?", BOB, to=3), quote=Quote(BOB.name, BOB.id, "so?", media=(OWN,))
    )
    async with open_group(tmp_path) as group:
        await group.hear_each(shared, reply, further)
        await erase(group, what="person", channel="plain", person=ANN.id)
        left = [entry.text for entry in await group.tape.find(author=BOB.id)]
        assert [text.partition(BOB.name)[2] for text in left] == [
            "] look at that",
            "] so?",
            f', replying to #1 {BOB.name}: "so?" [photo]] and?',
        ]
    assert holding(tmp_path, "plum is ripe") == []


@pytest.mark.parametrize("what", ["message", "person"])
@pytest.mark.parametrize("known", [True, False])
async def test_a_quote_of_a_forward_goes_with_the_label_that_names_who_wrote_it(
    model: FakeOpenAI, tmp_path: Path, what: str, *, known: bool
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    async with open_group(tmp_path, model) as group:
        origin = Quote(ANN.name, ANN.id if known else "")
        forward = replace(passed_on(forwarded=origin), text="plums help", addressed=False)
        labeled = Quote(BOB.name, BOB.id, f"forwarded message of {ANN.name}: plums help")
        near = replace(said(4, "so?", BOB, to=2), quote=labeled)
        unseen = replace(said(5, "or?", BOB, to=900), quote=labeled)
        between = said(3, "unrelated", BOB, addressed=False)
        first = said(1, "plums help", addressed=False)
        entries = await group.hear_each(first, forward, between, near, unseen)
        await erase_first(group, what, entries)
        left = [entry.text for entry in await group.tape.find(author=BOB.id)]
        assert [text.partition("] ")[2] for text in left] == ["unrelated", "so?", "or?"]
    assert holding(tmp_path, "plums help", *((ANN.name,) if what == "person" else ())) == []


async def test_an_edit_that_passes_words_on_is_stripped_of_them_too(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    async with open_group(tmp_path, model) as group:
        first = passed_on(excerpts=(HERS,))
        edit = replace(first, kind="edit", ext_id="-100/2/edit", text="look at it")
        await group.hear_each(first, edit)
        await erase(group, what="person", channel="plain", person=ANN.id)
    assert holding(tmp_path, *MARKS, ANN.name) == []


async def test_their_images_go_and_the_sender_s_own_stay(model: FakeOpenAI, tmp_path: Path) -> None:
    files = {"file-of-ann": lambda: image(size=(2, 2)), "his": lambda: image(size=(3, 3))}
    async with open_group(tmp_path, model, channel=MediaChannel(dict(files))) as group:
        await group.hear(passed_on(media=(OWN,), excerpts=(HERS,)))
        kept = {path.name for path in (tmp_path / "media").iterdir()}
        assert len(kept) == 2
        await erase(group, what="person", channel="plain", person=ANN.id)
        (left,) = [path.name for path in (tmp_path / "media").iterdir()]
        (media,) = [entry for entry in await group.tape.read() if entry.name == "message.media"]
        assert media.payload["data"]["images"] == [f"tapeway:media/{left}"]
        assert media.payload["data"]["whose"] == [""]


async def test_retention_takes_excerpts_with_their_messages(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    async with open_group(tmp_path, model) as group:
        await group.hear(passed_on(excerpts=(HERS,)))
        await erase(group, what="chat", tape=group.tape.name)
    assert holding(tmp_path, *MARKS, ANN.name) == []


async def test_a_message_of_ours_without_excerpts_stays_as_it_is(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(*[Text(("I see.",)) for _ in range(9)])
    async with open_group(tmp_path, model) as group:
        before = of_bob(await group.hear(replace(MESSAGE, sender=BOB, omitted=("3 files",))))
        await erase(group, what="person", channel="plain", person=ANN.id)
        assert of_bob(await group.tape.read()) == before
