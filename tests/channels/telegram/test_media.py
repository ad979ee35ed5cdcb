"""What came with a message."""

from __future__ import annotations

import pytest

from channels.message import Media
from channels.telegram.details import MAX_DETAIL
from channels.telegram.media import media_of
from tests.channels.telegram.raw import Json

FILE = {"file_id": "f", "file_size": 9}


def test_a_photo_is_its_largest_size_in_whatever_order_they_come() -> None:
    sizes = [
        {"file_id": "small", "width": 90, "height": 67},
        {"file_id": "large", "width": 1280, "height": 960, "file_size": 5},
        {"file_id": "middle", "width": 320, "height": 240},
    ]
    (photo,) = media_of({"photo": sizes})
    assert photo == Media(
        "image", "photo", "large", mime="image/jpeg", size=5, width=1280, height=960
    )


@pytest.mark.parametrize(
    ("raw", "kind", "label"),
    [
        ({"document": FILE}, "file", "file"),
        ({"document": {**FILE, "mime_type": "image/png"}}, "image", "image"),
        ({"document": {**FILE, "mime_type": "image/svg+xml"}}, "file", "file"),
        ({"animation": FILE, "document": FILE}, "video", "animation"),
        ({"audio": FILE}, "audio", "audio file"),
        ({"video": FILE}, "video", "video"),
        ({"video_note": FILE}, "video", "video message"),
        ({"voice": FILE}, "audio", "voice message"),
    ],
)
def test_e8_a_file_is_named_by_its_kind(raw: Json, kind: str, label: str) -> None:
    (media,) = media_of(raw)
    assert (media.kind, media.label, media.file, media.size) == (kind, label, "f", 9)


def test_a_file_has_its_name_type_and_duration() -> None:
    raw = {**FILE, "file_name": "a.pdf", "mime_type": "application/pdf", "duration": 3}
    (media,) = media_of({"document": raw})
    assert (media.name, media.mime, media.seconds) == ("a.pdf", "application/pdf", 3)
    (song,) = media_of({"audio": {**FILE, "title": "Song"}})
    assert song.name == "Song"


@pytest.mark.parametrize(
    ("raw", "label", "detail"),
    [
        ({"sticker": {"emoji": "😀"}}, "sticker", "😀"),
        ({"location": {"latitude": 1.5, "longitude": 2}}, "location", "1.5, 2"),
        (
            {"venue": {"title": "Bar", "address": "Main 1"}, "location": {"latitude": 1}},
            "venue",
            "Bar, Main 1",
        ),
        ({"contact": {"first_name": "Bob", "phone_number": "1"}}, "contact", "Bob 1"),
        ({"poll": {"question": "Go?", "options": [{"text": "yes"}]}}, "poll", "Go? (yes)"),
        ({"dice": {"emoji": "🎲", "value": 3}}, "dice", "🎲 3"),
        ({"paid_media": {"star_count": 1}}, "paid media", "1 star"),
    ],
)
def test_what_has_no_file_is_named_and_told(raw: Json, label: str, detail: str) -> None:
    assert media_of(raw) == (Media("other", label, detail=detail),)


def test_a_detail_is_bounded_and_nothing_is_nothing() -> None:
    (poll,) = media_of({"poll": {"question": "x" * 9000}})
    assert len(poll.detail) == MAX_DETAIL
    assert media_of({"text": "hi", "photo": []}) == ()
