"""Plants something in a message of Slack: in a new one, an edit, a broadcast's root and a share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from channels.slack.files import address_of
from channels.slack.inbound import of_event
from tests.census.planting import Effect, Json, leaf, merged, planted, root
from tests.census.table import Line
from tests.channels.slack.events import event, me

WORD: Final = "canary-7f3a"
ADDRESS: Final = f"https://{WORD}.example/"
STAMP: Final = "1893456789.000100"
DATE: Final = "2030-01-01T00:13:09"
_BOT: Final = {"bot_id": "B2", "subtype": "bot_message"}
_SHARE: Final = {"text": "as I said", "is_share": True}
_MAIL: Final = {"id": "F1", "filetype": "email", "mode": "email"}
_TEXT: Final = {"mode": "snippet", "mimetype": "text/plain", "preview": "a"}
_VIDEO: Final = {"type": "video"}
_FILE: Final = {"id": "F1", "name": "a", "mimetype": "image/png"}
_NOTE: Final = {"id": "F1", "mimetype": "text/plain", "preview": "a"}
_STUB: Final = {"id": "F1", "mode": "file_access"}
_SOUND: Final = {"id": "F1", "mimetype": "audio/mp4"}
_THREAD: Final = {"thread_ts": "1700000000.000001"}
_GONE: Final = {"subtype": "message_deleted", "previous_message": {"text": "a"}}
_BELOW: Final = {"subtype": "thread_broadcast", "root": {"text": "a", "ts": "1.1"}}


def _in(file: Json) -> Json:
    return {"files": [file]}


INDIRECT: Final[dict[str, Effect]] = {
    "team": Effect(("T1", "T9")),
    "user_team": Effect(("T1", "T9")),
    "type": Effect(("message", "app_mention")),
    "subtype": Effect((None, "channel_join")),
    "parent_user_id": Effect(("UBOT", "U9"), _THREAD),
    "deleted_ts": Effect(("1.1", "1.2"), _GONE),
    "root.bot_id": Effect(("BBOT", "B9"), _BELOW),
    "files[].mode": Effect(("tombstone", "hosted"), _in(_FILE)),
    "files[].file_access": Effect(("check_file_info", "visible"), _in(_FILE)),
    "files[].filetype": Effect(("email", "text"), _in(_NOTE)),
    "files[].subtype": Effect(("slack_audio", None), _in(_SOUND)),
    "files[].lines_more": Effect((3, 0), _in(_NOTE)),
    "files[].original_h": Effect((9, 4), _in(_FILE)),
    "files[].original_w": Effect((9, 4), _in(_FILE)),
    "files[].url_private": Effect((ADDRESS, None), _in(_STUB)),
    "files[].url_private_download": Effect(
        (ADDRESS, None), _in(_FILE), lambda raw: address_of(raw["files"][0])
    ),
}
"""Paths whose value itself is not read, but decides what is."""

_UNQUOTED: Final = re.compile(
    r"attachments\[\]\.(author_|service_|bot_id|ts).*|files\[\]\.(user|headers\.date)"
)
"""Whose words a shared message or a file has, and from when, which a quote does not say."""

_UNSHARED: Final = re.compile(r"attachments\[\]\.(author_id|author_link|bot_id|ts)")
"""What is not said of an attachment in a shared message."""

_AROUND: Final[tuple[tuple[str, Json], ...]] = (
    (r"attachments\[\]\.author_link", {**_BOT, "attachments": [{"author_name": "Zed"}]}),
    (r"attachments\[\]\.(author_|service_|bot_id|ts).*", {"attachments": [_SHARE]}),
    (r"attachments\[\]\.blocks\[\]\.video_url", {"attachments": [{"blocks": [_VIDEO]}]}),
    (r"blocks\[\]\.video_url", {"blocks": [_VIDEO]}),
    (r"bot_profile.*|username", _BOT),
    (r"bot_id", {"user": None}),
    (r"root\.username", {"root": _BOT}),
    (r"files\[\]\.(preview|user)", {"files": [{"id": "F1", **_TEXT}]}),
    (r"files\[\]\.(subject|from|to|cc|headers|plain|simpl|preview_p).*", {"files": [_MAIL]}),
    (r"files\[\].*", {"files": [{"id": "F1"}]}),
)
"""What Slack never leaves out beside a field, for the first expression that fits its path."""


def found(line: Line) -> Iterator[tuple[str, bool]]:
    """Yield each way of telling it, and whether what was planted is in the message."""
    value, expected = _value(line)
    around = next((one for path, one in _AROUND if re.fullmatch(path, line.path)), {})
    raw = merged(around, planted(line.steps, value))
    for way, said in _events(line, raw):
        try:
            got = of_event(said, me())
        except (KeyError, TypeError, ValueError):
            got = None
        shown = json.dumps({**got.to_payload(), "raw": {}}, default=str) if got else ""
        yield way, expected in shown


def read_of(raw: Json) -> object:
    """Return what is read of a new message with these fields."""
    return of_event(merged(event("see this"), raw), me())


def _value(line: Line) -> tuple[Any, str]:
    name = leaf(line.steps)
    if name == "ts" or name.endswith("_ts"):
        return STAMP, DATE if name == "ts" else STAMP
    if line.path == "files[].headers.date":
        return "Tue, 01 Jan 2030 00:13:09 +0000", DATE
    if "url" in name or name in ("title_link", "author_link", "from_url"):
        return ADDRESS, WORD
    return WORD, WORD


def _events(line: Line, raw: Json) -> Iterator[tuple[str, Json]]:
    first, said = root(line.steps), merged(event("see this"), raw)
    if first == "root":
        said |= {"subtype": "thread_broadcast", "root": {**event("a"), **said["root"]}}
    if first != "edited":
        yield "new", said
    yield "edit", _edit(said)
    if first in ("root", "ts", "thread_ts", "channel", "edited"):
        return
    asked = event("and this?", ts="1700000009.000100", thread_ts="1700000000.000100")
    if not _UNQUOTED.fullmatch(line.path):
        yield "quote", {**asked, "subtype": "thread_broadcast", "root": said}
    shared = {} if _UNSHARED.fullmatch(line.path) else _shared(raw)
    if shared:
        yield "forward", event("", attachments=[{"is_share": True, "author_id": "U2", **shared}])


def _edit(said: Json) -> Json:
    now = {"edited": {"user": "U1", "ts": "1700000005.000100"}, **said}
    before = {**event("before"), "ts": said["ts"]}
    place = {"channel": said["channel"], "channel_type": "channel", "ts": "1700000005.000200"}
    changed = {"type": "message", "subtype": "message_changed", "previous_message": before}
    return {**place, **changed, "message": now}


def _shared(raw: Json) -> Json:
    """Return what a share has of a message."""
    if "blocks" in raw:
        return {"message_blocks": [{"message": {"blocks": raw["blocks"]}}]}
    return {name: raw[name] for name in ("text", "files", "attachments") if name in raw}
