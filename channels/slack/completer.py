"""Looks up what the event of a message lacked: names, files that it only names, and its twin's.

That is done once the event is acknowledged, for which Slack gives three seconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from channels.clock import Clock, wait_at_most
from channels.content import Content
from channels.errors import ChannelDown, ChannelError, SendRefused
from channels.message import Excerpt, InboundMessage, Media
from channels.slack.event_fields import SlackSelf
from channels.slack.files import FileReading, look_up
from channels.slack.history import History
from channels.slack.inbound import NAMES, PENDING, TWIN, fill_names, of_event
from channels.slack.workspaces import Workspace, Workspaces

MAX_NAMES_SECONDS: Final = 2.0
"""Seconds for which an accepted message waits for names; then it has ids."""

HIDDEN: Final = "file that Slack does not show me"
HISTORIES: Final = frozenset(("channels:history", "groups:history"))
"""The scopes with which a mention's message is read; without one of them, none is looked up."""


class Completer:
    """Completes messages; `identity` returns the app's identity in a workspace."""

    def __init__(
        self,
        workspaces: Workspaces,
        history: History,
        identity: Callable[[Workspace], SlackSelf],
        clock: Callable[[], Clock],
    ) -> None:
        self._workspaces = workspaces
        self._history = history
        self._identity = identity
        self._clock = clock

    async def complete(self, message: InboundMessage) -> InboundMessage:
        """Return a message with what its event lacked; raises ChannelDown to be asked again."""
        try:
            workspace = self._workspaces.of(message.account)
        except SendRefused:
            return finished(message)
        try:
            await self._await_names(message.raw.get(NAMES) or (), workspace)
            if message.raw.get(TWIN):
                message = await self._with_twin(message, workspace)
            for file_id in message.raw.get(PENDING) or ():
                found = await look_up(workspace.api, file_id, self._identity(workspace))
                message = put(message, f"{workspace.account}/{file_id}", found)
            message = fill_names(message, workspace.names)
        except ChannelDown:
            raise
        except ChannelError as cause:
            raise ChannelDown(f"Slack cannot be asked about a message now ({cause})") from cause
        return finished(message)

    async def _await_names(self, ids: Sequence[str], workspace: Workspace) -> None:
        if ids:
            clock = self._clock()
            await wait_at_most(clock, MAX_NAMES_SECONDS, lambda: workspace.names.settle(ids))

    async def _with_twin(self, message: InboundMessage, workspace: Workspace) -> InboundMessage:
        """Return a mention with the files of its message, which the history has."""
        granted = workspace.api.granted
        if granted and not granted >= HISTORIES:
            return message
        ts = message.message_id
        given: dict[str, Any] = {"oldest": ts, "latest": ts, "inclusive": "true"}
        place = (workspace, message.chat_id, message.thread_id)
        try:
            raws = await self._history.messages(*place, 1, **given)
        except SendRefused:
            return message
        raw = next((one for one in raws if one["ts"] == ts), None)
        if raw is None:
            return message
        kind = "im" if message.chat_kind == "private" else "channel"
        event = {**raw, "type": "message", "channel": message.chat_id, "channel_type": kind}
        twin = of_event(event, self._identity(workspace))
        return message if twin is None or twin.kind != "message" else merged(message, twin)


def without_twins(messages: Sequence[InboundMessage]) -> list[InboundMessage]:
    """Return messages with one for each key: the first, or that with the files."""
    once: dict[str, InboundMessage] = {}
    for message in messages:
        first = once.setdefault(message.ext_id, message)
        if first.raw.get(TWIN) and not message.raw.get(TWIN):
            once[message.ext_id] = merged(first, message)
    return list(once.values())


def merged(message: InboundMessage, twin: InboundMessage) -> InboundMessage:
    """Return one message of the two that a mention arrives as; the second has the files."""
    asks = message if message.addressed else twin
    return replace(
        twin,
        alt_id=message.alt_id,
        sender=message.sender,
        chat_title=message.chat_title or twin.chat_title,
        addressed=asks.addressed,
        why=asks.why,
        follows=not asks.addressed and (message.follows or twin.follows),
        backlog=message.backlog,
    )


def put(message: InboundMessage, file: str, found: FileReading | None) -> InboundMessage:
    """Return a message in which a file, wherever it is shown, is what was found of it."""
    words = found.excerpt if found is not None else None
    is_placed, excerpts = words is None, list[Excerpt]()
    for one in message.excerpts:
        is_its_text = words is not None and one.label == words.label and _has(one.media, file)
        is_placed |= is_its_text
        shown = replace(one, media=_shown(one.media, file, found))
        excerpts.append(words if words is not None and is_its_text else shown)
    if words is not None and not is_placed:
        excerpts.append(words)
    omitted = (*message.omitted, *((found.left,) if found is not None and found.left else ()))
    media = _shown(message.media, file, found)
    content = Content(message.text, media, tuple(excerpts), omitted=omitted).limited()
    return replace(message, media=content.media, excerpts=content.excerpts, omitted=content.omitted)


def finished(message: InboundMessage) -> InboundMessage:
    raw = {name: value for name, value in message.raw.items() if name not in (NAMES, PENDING, TWIN)}
    return replace(message, incomplete=False, raw=raw)


def _has(media: Sequence[Media], file: str) -> bool:
    return any(one.file == file for one in media)


def _shown(media: Sequence[Media], file: str, found: FileReading | None) -> tuple[Media, ...]:
    """Return attachments with one of them as it was found; words of its own are no attachment."""
    if found is None:
        return tuple(
            replace(one, label=HIDDEN) if one.file == file and not one.mime else one
            for one in media
        )
    shown = () if found.excerpt is not None or found.media is None else (found.media,)
    return tuple(each for one in media for each in (shown if one.file == file else (one,)))
