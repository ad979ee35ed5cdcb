"""The titles of threads and of posts in a forum, as content of their messages.

Discord sends a title with the thread, not with a message: the first message of a post gets it, and
every message that asks the bot in a thread, of which the gateway shows it once.
"""

from __future__ import annotations

from channels.discord.guild_cache import GuildCache, GuildChannel, Raw
from channels.message import TITLE, Author, Excerpt


def add_title(
    text: str, raw: Raw, sender: Author, cache: GuildCache, *, asks: bool
) -> tuple[str, tuple[Excerpt, ...]]:
    """Return a message's text, with the title if it is the sender's own, and otherwise a title."""
    thread = cache.channel(str(raw["channel_id"]), str(raw.get("guild_id") or ""))
    opens = _opens_post(raw, thread)
    if not thread.is_thread or not thread.name or not (opens or asks):
        return text, ()
    if opens and sender.id == thread.owner:
        return "\n".join(part for part in (thread.name, text) if part), ()
    return text, (Excerpt(TITLE, thread.name, author_id=thread.owner),)


def _opens_post(raw: Raw, thread: GuildChannel) -> bool:
    """Return whether a message is the first one of a forum's post, which has the post's id."""
    return str(raw["id"]) == thread.id
