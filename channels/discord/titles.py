"""The titles of threads and of posts in a forum, as content of their messages.

Discord sends a title with the thread, not with a message: the first message gets it, and the first
one that asks the bot there, since the thread may be older than the bot. After a restart, a later
one may get it again.
"""

from __future__ import annotations

from typing import Final

from channels.discord.guild_cache import GuildCache, GuildChannel, Raw
from channels.message import Author, Excerpt

TITLE: Final = "title"


def add_title(
    text: str, raw: Raw, sender: Author, cache: GuildCache, *, asks: bool
) -> tuple[str, tuple[Excerpt, ...]]:
    """Return a message's text, with the title if it is the sender's own, and otherwise a title."""
    thread = cache.channel(str(raw["channel_id"]), str(raw.get("guild_id") or ""))
    if not thread.is_thread or not thread.name or not _gets_title(raw, thread, cache, asks=asks):
        return text, ()
    if _opens_post(raw, thread) and sender.id == thread.owner:
        return "\n".join(part for part in (thread.name, text) if part), ()
    return text, (Excerpt(TITLE, thread.name, author_id=thread.owner),)


def _gets_title(raw: Raw, thread: GuildChannel, cache: GuildCache, *, asks: bool) -> bool:
    if _opens_post(raw, thread):
        return True
    number = str(raw["id"])
    return asks and cache.titled.setdefault(thread.id, number) == number


def _opens_post(raw: Raw, thread: GuildChannel) -> bool:
    """Return whether a message is the first one of a forum's post, which has the post's id."""
    return str(raw["id"]) == thread.id
