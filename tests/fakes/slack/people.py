"""What people do on the fake Slack, and the events that the app gets."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.deliveries import Delivery
from tests.fakes.slack.text import typed
from tests.fakes.slack.town import bot_fields
from tests.fakes.slack.uploads import Uploads
from tests.fakes.slack.world import APP_ID, Channel, File, Message, User, Workspace


class People(Uploads):
    """Have people act; each action changes the world and tells the app, if it may know.

    A channel can be given as itself or by its id, a message as itself or by its ts.
    """

    # -- messages --------------------------------------------------------------------------

    def say(
        self,
        channel: Channel | str,
        user: User,
        text: str,
        *,
        thread: Message | str | None = None,
        broadcast: bool = False,
        raw: bool = False,
        files: Sequence[File] = (),
        classic: bool = False,
        ts: str | None = None,
        extra: JsonObject | None = None,
    ) -> Message:
        """Have someone write.

        The text is encoded as a client does it, unless it is `raw`: `@name` of a user becomes a
        mention outside of code. A `classic` bot is one without a user, that posts `bot_message`.
        """
        place = self.find(channel)
        if user.id not in place.members and not user.is_bot:
            place.members.append(user.id)
        json: JsonObject = {"user": user.id, "type": "message", "team": user.team_id}
        json |= self._typed(place.workspace, text, raw=raw)
        if user.is_bot:
            json |= bot_fields(user, classic=classic)
        else:
            json["client_msg_id"] = f"{self.world.new_id('m').lower()}-0000-4000-8000-000000000000"
        if classic:
            del json["user"]
        if files:
            shown = [self._shared(file, place) for file in files]
            json |= {"files": shown, "upload": False, "subtype": "file_share"}
        if thread is not None:
            json |= self._in_thread(place, thread, broadcast=broadcast)
        message = self._put(place, json | (extra or {}), ts=ts)
        self._tell(place, message)
        return message

    def edit(self, channel: Channel | str, message: Message | str, text: str) -> Message:
        """Have the author change a message."""
        place = self.find(channel)
        found = self._message(place, message)
        before = dict(found.json)
        found.json |= self._typed(place.workspace, text)
        self.edited(place, found, before, by=found.user)
        return found

    def delete(self, channel: Channel | str, message: Message | str) -> None:
        """Have the author delete a message; a parent of a thread leaves a stone."""
        place = self.find(channel)
        found = self._message(place, message)
        before = dict(found.json)
        self.removed(place, found, before)

    def unfurl(self, channel: Channel | str, message: Message | str, url: str) -> None:
        """Have Slack add the preview of a link to a message."""
        place = self.find(channel)
        found = self._message(place, message)
        before = dict(found.json)
        preview = {"from_url": url, "id": 1, "title": "A page", "original_url": url}
        found.json["attachments"] = [*found.json.get("attachments", []), preview]
        ts = self.world.new_ts(place, self.unix())
        self._told(self.events.changed(place, found, before, ts))

    def press_stop(self, channel: Channel | str, user: User, thread: Message | str) -> None:
        """Have someone press Stop in a thread: what is being streamed there takes nothing more."""
        place = self.find(channel)
        root = self._message(place, thread)
        streaming = [
            it
            for it in self.world.thread(place, root.thread_ts or root.ts)
            if it.stream is not None and it.stream.is_live(self.clock())
        ]
        for message in streaming:
            assert message.stream is not None
            message.stream.state = "stopped_by_user"
        event: JsonObject = {
            "type": "agent_session_stopped",
            "channel": place.id,
            "user": user.id,
            "thread_ts": root.thread_ts or root.ts,
            "streaming_message_ts": [message.ts for message in streaming],
            "event_ts": self.world.new_ts(place, self.unix()),
        }
        self._told(self.events.emit(place.workspace, event))

    # -- commands and buttons --------------------------------------------------------------

    def slash(
        self, channel: Channel | str, user: User, text: str, command: str = "/tapeway"
    ) -> Delivery:
        """Have someone give a command; it can be given where the bot is not."""
        place = self.find(channel)
        payload: JsonObject = self._interaction(place, user) | {
            "channel_name": "directmessage" if place.kind == "im" else place.name,
            "command": command,
            "text": text,
            "is_enterprise_install": "false",
        }
        return self._ask("slash_commands", payload)

    def press(
        self,
        channel: Channel | str,
        user: User,
        message: Message | str,
        action_id: str,
        value: str = "",
    ) -> Delivery:
        """Have someone press a button of a message; LookupError where buttons are off."""
        if not self.events.interactive:
            raise LookupError("this app is not configured to handle interactive responses")
        place = self.find(channel)
        found = self._message(place, message)
        thread = {"thread_ts": found.thread_ts} if found.thread_ts else {}
        flat = self._interaction(place, user)
        action = {"action_id": action_id, "block_id": "b1", "type": "button", "value": value}
        payload: JsonObject = {
            "type": "block_actions",
            "user": {"id": user.id, "username": user.name, "team_id": user.team_id},
            "api_app_id": APP_ID,
            "token": flat["token"],
            "container": {"type": "message", "message_ts": found.ts, "channel_id": place.id}
            | thread,
            "trigger_id": flat["trigger_id"],
            "team": {"id": place.workspace.team_id, "domain": place.workspace.domain},
            "enterprise": None,
            "is_enterprise_install": False,
            "channel": {"id": place.id, "name": place.name},
            "message": dict(found.json),
            "response_url": flat["response_url"],
            "actions": [action | {"action_ts": self.world.new_ts(place, self.unix())}],
        }
        return self._ask("interactive", payload)

    def tap(
        self, channel: Channel | str, user: User, message: Message | str, label: str
    ) -> Delivery:
        """Have someone press a button that is seen below a message, by its label."""
        seen = self._message(self.find(channel), message).buttons[label]
        return self.press(channel, user, message, seen["action_id"], seen["value"])

    # -- channels and workspaces change ----------------------------------------------------

    def open_home(self, user: User) -> None:
        """Have someone look at the app's own page."""
        event: JsonObject = {"type": "app_home_opened", "user": user.id, "tab": "messages"}
        event |= {"channel": self.im(user).id, "event_ts": f"{self.unix():.6f}"}
        self._told(self.events.emit(self.world.workspaces[user.team_id], event))

    def kick_bot(self, channel: Channel | str) -> None:
        """Have somebody remove the bot from a channel."""
        place = self.find(channel)
        place.members.remove(place.workspace.bot.id)
        kind = "channel_left" if place.kind == "channel" else "group_left"
        self._about(place, kind, actor_id="UADMIN")

    def archive(self, channel: Channel | str, archived: bool = True) -> None:
        """Have somebody archive a channel, or bring it back."""
        place = self.find(channel)
        place.archived = archived
        kind = "channel" if place.kind == "channel" else "group"
        self._about(place, f"{kind}_{'archive' if archived else 'unarchive'}", user="UADMIN")

    def share_outside(self, channel: Channel | str) -> Channel:
        """Have somebody share a private channel with another company: it gets another id."""
        place = self.find(channel)
        old, place.id = place.id, self.world.new_id("C")
        del self.world.channels[old], place.workspace.channels[old]
        self.world.channel(place)
        event: JsonObject = {"type": "channel_id_changed", "old_channel_id": old}
        event |= {"new_channel_id": place.id, "event_ts": self.world.new_ts(place, self.unix())}
        if place.workspace.bot.id in place.members:
            self._told(self.events.emit(place.workspace, event))
        return place

    def rename(self, channel: Channel | str, name: str) -> None:
        """Have somebody give a channel another name."""
        place = self.find(channel)
        place.name = name
        kind = "channel" if place.kind == "channel" else "group"
        told = {"id": place.id, "name": name, "created": 1700000000}
        event: JsonObject = {"type": f"{kind}_rename", "channel": told}
        event["event_ts"] = self.world.new_ts(place, self.unix())
        if place.workspace.bot.id in place.members:
            self._told(self.events.emit(place.workspace, event, scope=f"{kind}s:read"))

    def uninstall(self, workspace: Workspace | None = None) -> None:
        """Have an administrator remove the app from a workspace."""
        place = workspace or self.workspace
        tokens = {"type": "tokens_revoked", "tokens": {"oauth": [], "bot": [place.bot.id]}}
        self._told(self.events.emit(place, tokens))
        self._told(self.events.emit(place, {"type": "app_uninstalled"}))
        place.refused, place.installed = "account_inactive", False

    # -- parts -----------------------------------------------------------------------------

    def _typed(self, workspace: Workspace, text: str, *, raw: bool = False) -> JsonObject:
        if raw or not text:
            return {"text": text}
        users = {user.name: user.id for user in workspace.users.values()}
        channels = {channel.name: channel.id for channel in workspace.channels.values()}
        found = typed(text, users, channels)
        return {"text": found.text, "blocks": [found.block]}

    def _in_thread(self, channel: Channel, thread: Message | str, *, broadcast: bool) -> JsonObject:
        parent = self._message(channel, thread)
        parent = channel.messages[parent.thread_ts] if parent.thread_ts else parent
        found: JsonObject = {"thread_ts": parent.ts, "parent_user_id": parent.user}
        if broadcast:
            root = {"type": "message", "ts": parent.ts, "user": parent.user, "text": parent.text}
            found |= {"subtype": "thread_broadcast", "root": root | {"thread_ts": parent.ts}}
        return found

    def _interaction(self, channel: Channel, user: User) -> JsonObject:
        team = channel.workspace.team_id
        number = self.world.new_id("R")
        return {
            "token": "not-used-any-more",
            "team_id": team,
            "team_domain": channel.workspace.domain,
            "channel_id": channel.id,
            "user_id": user.id,
            "user_name": user.name,
            "api_app_id": APP_ID,
            "response_url": f"{self.base}/commands/{channel.id}/{user.id}/{number}",
            "trigger_id": f"{number}.{team}.x",
        }

    def _ask(self, kind: str, payload: JsonObject) -> Delivery:
        made = self.deliveries.add(
            "slash_commands" if kind == "slash_commands" else "interactive", payload
        )
        self._told(made)
        return made
