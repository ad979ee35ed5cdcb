"""Judges of links in a view that has a few of them, and some codes."""

from __future__ import annotations

from agent.taint import Sources
from gateway.links.hosts import SharedHosts
from gateway.links.judge import LinkJudge
from tape.entry import Entry, message

ASKER = "telegram:7"
KNOWN = ("https://good.example/a?x=1", "https://wiki.example/Foo_(bar)")
SECRET = "hunter2hunter2"
BOBS = f"see {' and '.join(KNOWN)}; the PIN is 4711, the key AB3F9K, the word {SECRET}"


def judge_of(*texts: str, said: str = "", hosts: tuple[str, ...] = ()) -> LinkJudge:
    """Return a judge for a view in which Bob said some texts."""
    meta = {"author": "8", "channel": "telegram", "inbox": 1}
    sources = Sources(ASKER, said=said)
    entries = [message("user", f"[12:00 #2 Bob] {text}", **meta) for text in texts or (BOBS,)]
    sources.look(
        Entry(number, new.kind, new.payload, new.meta, "")
        for number, new in enumerate(entries, start=1)
    )
    return LinkJudge(sources, SharedHosts(hosts))
