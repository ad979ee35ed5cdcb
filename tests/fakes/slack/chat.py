"""The methods of the fake Slack that write: chat, streams, status, reactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.fakes.base.http import JsonObject
from tests.fakes.slack import rules
from tests.fakes.slack.rules import Asked, Content, Refusal
from tests.fakes.slack.town import Town, change_reaction
from tests.fakes.slack.world import Channel, Message, Stream

Method: TypeAlias = Callable[[Asked], JsonObject]
_SETTINGS: Final = ("parse", "link_names", "mrkdwn", "unfurl_links", "unfurl_media")


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """Hold one message that only one person sees."""

    channel_id: str
    user: str
    text: str
    ts: str
    message: Message = field(repr=False)


@dataclass(frozen=True, slots=True)
class Status:
    """Hold one status that was set; "" takes it away."""

    channel_id: str
    thread_ts: str
    status: str
    at: float


@dataclass(slots=True)
class Chat:
    """Answer the methods that write.

    `edit_window` is how many seconds a message can be changed for; None is for ever.
    """

    town: Town
    ephemerals: list[Ephemeral] = field(default_factory=list)
    statuses: list[Status] = field(default_factory=list)
    edit_window: float | None = None

    def methods(self) -> Mapping[str, Method]:
        """Return the methods by their names."""
        return {
            "assistant.threads.setStatus": self.set_status,
            "chat.appendStream": self.append_stream,
            "chat.delete": self.delete,
            "chat.postEphemeral": self.post_ephemeral,
            "chat.postMessage": self.post_message,
            "chat.startStream": self.start_stream,
            "chat.stopStream": self.stop_stream,
            "chat.update": self.update,
            "reactions.add": self.add_reaction,
            "reactions.remove": self.remove_reaction,
        }

    # -- messages ----------------------------------------------------------------------------

    def post_message(self, asked: Asked) -> JsonObject:
        channel = rules.open_channel(asked)
        content, metadata = rules.content_of(asked), rules.metadata_of(asked)
        json = _shown(content) | self._place(asked, channel)
        message = self.town.post(channel, json, metadata)
        message.markdown = content.markdown
        message.settings = {name: asked.params[name] for name in _SETTINGS if name in asked.params}
        self.town.tell(channel, message)
        return _posted(channel, message) | _warning(content)

    def post_ephemeral(self, asked: Asked) -> JsonObject:
        channel = rules.open_channel(asked)
        user = asked.needed("user")
        if user not in channel.members:
            raise Refusal("user_not_in_channel")
        content = rules.content_of(asked)
        ts = self.town.world.new_ts(channel, self.town.unix())
        message = Message(ts, channel.id, True, {"ts": ts} | _shown(content))
        message.settings = {name: asked.params[name] for name in _SETTINGS if name in asked.params}
        self.ephemerals.append(Ephemeral(channel.id, user, content.text, ts, message))
        return {"message_ts": ts}

    def update(self, asked: Asked) -> JsonObject:
        channel = rules.joined_channel(asked)
        message = rules.own_message(asked, channel, "cant_update_message")
        if channel.archived:
            raise Refusal("is_archived")
        if self._streams(message):
            raise Refusal("streaming_state_conflict")
        if self.edit_window is not None and self._age(message) > self.edit_window:
            raise Refusal("edit_window_closed")
        content, metadata = rules.content_of(asked), rules.metadata_of(asked)
        if not content.markdown and len(content.text) > rules.MAX_UPDATE_TEXT:
            raise Refusal("msg_too_long")
        before = dict(message.json)
        # Without new blocks the old ones stay; an empty list removes them.
        if "blocks" in asked.params:
            message.json.pop("blocks", None)
        message.json |= _shown(content)
        message.markdown = content.markdown
        if metadata is not None:
            message.metadata = metadata
        self.town.edited(channel, message, before, by=asked.workspace.bot.id)
        return _posted(channel, message) | {"text": message.text}

    def delete(self, asked: Asked) -> JsonObject:
        channel = rules.joined_channel(asked)
        message = rules.own_message(asked, channel, "cant_delete_message")
        self.town.removed(channel, message, dict(message.json))
        return {"channel": channel.id, "ts": message.ts}

    # -- streams -----------------------------------------------------------------------------

    def start_stream(self, asked: Asked) -> JsonObject:
        channel = rules.open_channel(asked)
        thread = rules.thread_of(asked, channel)
        if thread is None:
            raise rules.invalid_arguments("[ERROR] missing required field: thread_ts")
        recipient = asked.text("recipient_user_id")
        if channel.kind != "im":
            for name in ("recipient_team_id", "recipient_user_id"):
                if not asked.text(name):
                    raise Refusal(f"missing_{name}")
        if recipient and recipient not in asked.workspace.users:
            raise Refusal("user_not_found")
        text = _streamed(asked)
        json: JsonObject = {"text": text} | self._place(asked, channel)
        message = self.town.post(channel, json, None)
        message.markdown = True
        message.stream = Stream(self.town.clock(), recipient=recipient or None)
        self.town.tell(channel, message)
        return {"channel": channel.id, "ts": message.ts}

    def append_stream(self, asked: Asked) -> JsonObject:
        channel = rules.joined_channel(asked)
        message = self._streaming(asked, channel)
        text = _streamed(asked)
        if not text and not asked.params.get("chunks"):
            raise Refusal("no_text")
        self._grow(message, text)
        return {"channel": channel.id, "ts": message.ts}

    def stop_stream(self, asked: Asked) -> JsonObject:
        channel = rules.joined_channel(asked)
        message = self._streaming(asked, channel)
        text, blocks, metadata = _streamed(asked), rules.blocks_of(asked), rules.metadata_of(asked)
        assert message.stream is not None
        before = dict(message.json)
        self._grow(message, text)
        if blocks:
            message.json["blocks"] = blocks
        if metadata is not None:
            message.metadata = metadata
        message.stream.state = "stopped"
        ts = self.town.world.new_ts(channel, self.town.unix())
        self.town.events.changed(channel, message, before, ts)
        return _posted(channel, message)

    def set_status(self, asked: Asked) -> JsonObject:
        channel = rules.open_channel(asked, "channel_id")
        thread, status = asked.needed("thread_ts"), asked.text("status")
        rules.valid_ts(thread, "invalid_thread_ts")
        if "status" not in asked.params:
            raise rules.invalid_arguments("[ERROR] missing required field: status")
        now = self.town.clock()
        self.statuses.append(Status(channel.id, thread, status, now))
        if status:
            channel.statuses[thread] = status, now
        else:
            channel.statuses.pop(thread, None)
        return {}

    # -- reactions ---------------------------------------------------------------------------

    def add_reaction(self, asked: Asked) -> JsonObject:
        return self._react(asked, "already_reacted", remove=False)

    def remove_reaction(self, asked: Asked) -> JsonObject:
        return self._react(asked, "no_reaction", remove=True)

    # -- parts -------------------------------------------------------------------------------

    def _react(self, asked: Asked, error: str, *, remove: bool) -> JsonObject:
        channel = rules.open_channel(asked)
        name = asked.text("name").strip(":")
        if not name or not name.replace("_", "").replace("-", "").replace("+", "").isalnum():
            raise Refusal("invalid_name")
        message = channel.messages.get(asked.needed("timestamp"))
        if message is None:
            raise Refusal("message_not_found")
        bot = asked.workspace.bot.id
        if not change_reaction(message, bot, name, remove=remove):
            raise Refusal(error)
        self.town.reacted(channel, message, bot, name, remove=remove)
        return {}

    def _place(self, asked: Asked, channel: Channel) -> JsonObject:
        thread = rules.thread_of(asked, channel)
        broadcast = asked.flag("reply_broadcast")
        if thread is None:
            return {}
        parent = channel.messages[thread]
        found: JsonObject = {"thread_ts": thread, "parent_user_id": parent.user}
        if broadcast:
            found |= {"subtype": "thread_broadcast", "root": dict(parent.json)}
        return found

    def _streaming(self, asked: Asked, channel: Channel) -> Message:
        message = rules.own_message(asked, channel, "message_not_owned_by_app")
        if message.stream is not None and message.stream.state == "stopped_by_user":
            raise Refusal("stopped_by_user")
        if not self._streams(message):
            raise Refusal("message_not_in_streaming_state")
        return message

    def _streams(self, message: Message) -> bool:
        return message.stream is not None and message.stream.is_live(self.town.clock())

    def _grow(self, message: Message, text: str) -> None:
        if text:
            message.json["text"] = rules.drawn_markdown(message.text + text)
            message.history.append(message.text)
            message.edits += 1

    def _age(self, message: Message) -> float:
        return self.town.unix() - float(message.ts)


def _shown(content: Content) -> JsonObject:
    return {"text": content.text} | ({"blocks": content.blocks} if content.blocks else {})


def _posted(channel: Channel, message: Message) -> JsonObject:
    shown = dict(message.json) | ({"metadata": message.metadata} if message.metadata else {})
    return {"channel": channel.id, "ts": message.ts, "message": shown}


def _warning(content: Content) -> JsonObject:
    if not content.cut:
        return {}
    told = (
        "[WARN] Your message was truncated but still posted. "
        f"The `text` field accepts up to {rules.MAX_TEXT:,} characters."
    )
    return {"response_metadata": {"messages": [told], "warnings": ["message_truncated"]}}


def _streamed(asked: Asked) -> str:
    """Return the Markdown that a call adds to a stream; raises Refusal."""
    text = asked.text("markdown_text")
    chunks: Any = asked.json("chunks", "invalid_chunks") or []
    if not isinstance(chunks, list):
        raise Refusal("invalid_chunks")
    for chunk in chunks:
        if not isinstance(chunk, dict) or "type" not in chunk:
            raise Refusal("invalid_chunks")
        if chunk["type"] == "markdown_text":
            text += str(chunk.get("text", ""))
    return rules.checked_markdown(text)
