"""The files that people attach on the page: images are kept for the model and the room."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from channels.message import KEPT, Media
from channels.room.routes import Post

IMAGES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")
"""The types that a page shows, and that models may be sent."""


def name_of(room: str, person: str, message: str, number: int) -> str:
    """Return the key of an image of a person's message, or of no image if it is another's."""
    return KEPT + sha256(f"{room}/{person}/{message}/{number}".encode()).hexdigest()


def attached(room: str, person: str, post: Post) -> Iterator[tuple[Media, bytes]]:
    """Yield each file of a person's post; an image has the key of where it is kept, others none.

    A post that comes again has the same keys. Nobody else can make them: the room knows the post's
    id, but the person is that of the session.
    """
    for number, file in enumerate(post.files):
        is_image = file.mime in IMAGES
        media = Media(
            "image" if is_image else "file",
            "image" if is_image else "file",
            file=name_of(room, person, str(post.id), number) if is_image else "",
            name=file.name,
            mime=file.mime,
            size=len(file.data),
        )
        yield media, file.data
