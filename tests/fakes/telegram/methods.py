"""The methods of the fake Bot API; each takes decoded parameters and returns its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.fakes.base.http import JsonObject
from tests.fakes.base.params import Upload
from tests.fakes.telegram import rules
from tests.fakes.telegram.calls import Action, Call
from tests.fakes.telegram.part_methods import PartMethods, direct_topic
from tests.fakes.telegram.posting import member_json
from tests.fakes.telegram.rich import rich_content
from tests.fakes.telegram.rich_reader import shown
from tests.fakes.telegram.rules import Refusal, bad_request
from tests.fakes.telegram.world import (
    DRAFT_SECONDS,
    MAX_DOWNLOAD,
    Chat,
    Draft,
    File,
    Message,
    Topic,
)

_ACTIONS: Final = frozenset(
    {
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    }
)


Method: TypeAlias = Callable[[JsonObject, Call], Any]
Content: TypeAlias = Callable[[JsonObject, Call], JsonObject]


@dataclass(slots=True)
class Methods(PartMethods):
    """Answer the methods; `named` has them by their names in lower case."""

    actions: list[Action] = field(default_factory=list)
    commands: dict[str, list[JsonObject]] = field(default_factory=dict)
    reactions: dict[tuple[int, int], list[JsonObject]] = field(default_factory=dict)
    too_many: int = 0
    few_fields: bool = False
    named: dict[str, Method] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in dir(self):
            if name.startswith("on_") and (self.knows_rich or "rich" not in name):
                self.named[name.removeprefix("on_").replace("_", "")] = getattr(self, name)

    # -- the bot itself ----------------------------------------------------------------------

    def on_get_me(self, _params: JsonObject, _call: Call) -> JsonObject:
        bot = self.people.world.bot.as_json()
        if self.few_fields:
            return {name: bot[name] for name in ("id", "is_bot", "first_name")}
        return bot | {
            "can_join_groups": self.people.can_join_groups,
            "can_read_all_group_messages": self.people.can_read_all_group_messages,
            "supports_inline_queries": False,
            "can_connect_to_business": False,
            "has_main_web_app": False,
        }

    def on_log_out(self, _params: JsonObject, _call: Call) -> bool:
        return True

    def on_close(self, _params: JsonObject, _call: Call) -> bool:
        return True

    def on_set_my_commands(self, params: JsonObject, _call: Call) -> bool:
        self.commands[_scope(params)] = rules.checked_commands(params)
        return True

    def on_get_my_commands(self, params: JsonObject, _call: Call) -> list[JsonObject]:
        return self.commands.get(_scope(params), [])

    def on_delete_my_commands(self, params: JsonObject, _call: Call) -> bool:
        self.commands.pop(_scope(params), None)
        return True

    # -- sending -----------------------------------------------------------------------------

    def on_send_message(self, params: JsonObject, call: Call) -> JsonObject:
        rules.given_text(params)
        return self._say(params, call, self.text_content)

    def on_send_rich_message(self, params: JsonObject, call: Call) -> JsonObject:
        return self._say(params, call, lambda params, _call: rich_content(params))

    def _say(self, params: JsonObject, call: Call, content: Content) -> JsonObject:
        chat = rules.open_chat(self.people.world, params)
        topic = rules.open_topic(chat, params)
        said = content(params, call)
        is_ephemeral = "ephemeral_message_parameters" in params
        reply_to = None if is_ephemeral else rules.replied_to(chat, params)
        rules.keyboard(params)
        self._charge(chat)
        if is_ephemeral:
            return self.send_ephemeral(chat, said, params)
        said |= direct_topic(chat, params)
        found = self._post(chat, said, params, call, topic, reply_to)
        message = chat.messages[found["message_id"]]
        message.previews = rules.previews(params, message.text, message.entities)
        return found

    def on_send_photo(self, params: JsonObject, call: Call) -> JsonObject:
        def content(file: File) -> JsonObject:
            return {"photo": [file.as_json() | {"width": 90, "height": 67}]}

        return self._send_file("photo", content, params, call)

    def on_send_document(self, params: JsonObject, call: Call) -> JsonObject:
        def content(file: File) -> JsonObject:
            return {"document": file.as_json() | {"file_name": file.name}}

        return self._send_file("document", content, params, call)

    def on_send_voice(self, params: JsonObject, call: Call) -> JsonObject:
        def content(file: File) -> JsonObject:
            return {"voice": file.as_json() | {"duration": 1}}

        return self._send_file("voice", content, params, call)

    def on_edit_message_text(self, params: JsonObject, call: Call) -> JsonObject:
        if not self.has_rich(params):
            rules.given_text(params)
        chat = rules.open_chat(self.people.world, params)
        message = self._own(chat, params.get("message_id"))
        if not {"text", "rich_message"} & set(message.json):
            raise bad_request("there is no text in the message to edit")
        said = self.new_content(params, call, too_long="MESSAGE_TOO_LONG")
        # Without a new keyboard some servers keep the old one: only an empty one surely removes it.
        markup = rules.keyboard(params) if "reply_markup" in params else message.markup
        if (said, markup) == (message.content, message.markup):
            raise bad_request(
                "message is not modified: specified new message content and reply markup are "
                "exactly the same as a current content and reply markup of the message"
            )
        self._charge(chat)
        message.say(said)
        message.json["edit_date"] = self.people.now
        _set_markup(message, markup)
        message.previews = rules.previews(params, message.text, message.entities)
        call.message_id = message.message_id
        return message.json

    def on_answer_callback_query(self, params: JsonObject, _call: Call) -> bool:
        press = rules.press_of(self.people.world, params, self.people.clock())
        press.shown = str(params.get("text") or "")
        press.alert = bool(params.get("show_alert"))
        return True

    def on_delete_message(self, params: JsonObject, call: Call) -> bool:
        chat = rules.open_chat(self.people.world, params)
        message = chat.messages.get(params.get("message_id", 0))
        if message is None:
            raise bad_request("message to delete not found")
        may = message.mine or chat.kind == "private" or chat.bot_status == "administrator"
        if not may:
            raise bad_request("message can't be deleted")
        self.people.world.remove(chat, message.message_id)
        call.message_id = message.message_id
        return True

    def on_send_message_draft(self, params: JsonObject, call: Call) -> bool:
        empty = not params.get("text")
        return self._draft(params, {"text": ""} if empty else self.text_content(params, call))

    def on_send_rich_message_draft(self, params: JsonObject, _call: Call) -> bool:
        return self._draft(params, rich_content(params))

    def _draft(self, params: JsonObject, said: JsonObject) -> bool:
        chat = rules.open_chat(self.people.world, params)
        if chat.kind != "private":
            raise bad_request("TEXTDRAFT_PEER_INVALID")
        draft_id = params.get("draft_id")
        if not isinstance(draft_id, int) or draft_id == 0:
            raise bad_request("RANDOM_ID_INVALID")
        topic = rules.open_topic(chat, params)
        thread = topic.id if topic is not None else None
        stop = bool(params.get("can_stop"))
        now = self.people.clock()
        entities, rich = said.get("entities", []), said.get("rich_message")
        text = shown(rich) if rich else said["text"]
        self.people.world.draft(Draft(chat.id, draft_id, text, entities, thread, now, stop, rich))
        return True

    def on_send_chat_action(self, params: JsonObject, _call: Call) -> bool:
        chat = rules.open_chat(self.people.world, params)
        thread = params.get("message_thread_id")
        if params.get("action") not in _ACTIONS:
            raise bad_request("wrong parameter action in request")
        if chat.direct_messages:
            raise bad_request("chat actions can't be sent to channel direct messages chats")
        if thread and thread not in chat.topics and not (chat.forum and thread == 1):
            raise bad_request("message thread not found")
        now = self.people.clock()
        self.actions.append(Action(chat.id, thread, now, params["action"]))
        return True

    def on_set_message_reaction(self, params: JsonObject, _call: Call) -> bool:
        chat = rules.open_chat(self.people.world, params)
        message_id = params.get("message_id", 0)
        if message_id not in chat.messages:
            raise bad_request("message to react not found")
        self.reactions[chat.id, message_id] = params.get("reaction") or []
        return True

    # -- chats and files ---------------------------------------------------------------------

    def on_get_chat(self, params: JsonObject, _call: Call) -> JsonObject:
        chat = rules.open_chat(self.people.world, params)
        gifts = dict.fromkeys(
            (
                "unlimited_gifts",
                "limited_gifts",
                "unique_gifts",
                "premium_subscription",
                "gifts_from_channels",
            ),
            True,
        )
        fixed = {"accent_color_id": 0, "max_reaction_count": 11, "accepted_gift_types": gifts}
        return chat.as_json() | fixed

    def on_get_chat_member(self, params: JsonObject, _call: Call) -> JsonObject:
        chat = rules.open_chat(self.people.world, params)
        user_id = params.get("user_id")
        if not isinstance(user_id, int) or user_id not in self.people.world.users:
            raise bad_request("PARTICIPANT_ID_INVALID")
        user, status = self.people.world.member(chat, user_id)
        return member_json(user.as_json(), status)

    def on_get_chat_administrators(self, params: JsonObject, _call: Call) -> list[JsonObject]:
        chat = rules.open_chat(self.people.world, params)
        if chat.kind == "private":
            raise bad_request("there are no administrators in the private chat")
        people = [*chat.members.values(), (self.people.world.bot, chat.bot_status)]
        leading = [(user, status) for user, status in people if status in _LEADING]
        return [member_json(user.as_json(), status) for user, status in leading]

    def on_leave_chat(self, params: JsonObject, _call: Call) -> bool:
        chat = rules.open_chat(self.people.world, params)
        chat.bot_status = "left"
        return True

    def on_get_file(self, params: JsonObject, _call: Call) -> JsonObject:
        file = self.people.world.files.get(str(params.get("file_id", "")))
        if file is None:
            raise bad_request("invalid file_id")
        if file.size > MAX_DOWNLOAD:
            raise bad_request("file is too big")
        return file.as_json() | {"file_path": file.path}

    # -- parts -------------------------------------------------------------------------------

    def current_drafts(self) -> dict[tuple[int, int], Draft]:
        """Return the drafts that can be seen now; one disappears after half a minute."""
        now = self.people.clock()
        drafts = self.people.world.drafts
        return {key: it for key, it in drafts.items() if now - it.at < DRAFT_SECONDS}

    def _send_file(
        self, kind: str, content: Callable[[File], JsonObject], params: JsonObject, call: Call
    ) -> JsonObject:
        """Send an uploaded file, or one that is known by its file_id, with its caption."""
        chat = rules.open_chat(self.people.world, params)
        topic = rules.open_topic(chat, params)
        reply_to = rules.replied_to(chat, params)
        found = content(self._sent_file(kind, params))
        if caption := str(params.get("caption") or ""):
            fit, call.dropped_entities = rules.fit_text(
                caption, params, rules.MAX_CAPTION, "message caption is too long"
            )
            found["caption"] = fit.text
            found |= {"caption_entities": fit.entities} if fit.entities else {}
        self._charge(chat)
        return self._post(chat, found, params, call, topic, reply_to)

    def _sent_file(self, kind: str, params: JsonObject) -> File:
        given = params.get(kind)
        if isinstance(given, str) and given.startswith("attach://"):
            given = params.get(given.removeprefix("attach://"))
        if isinstance(given, Upload):
            return self.people.world.file(given.data, f"{kind}s/{{}}-{given.filename}")
        if not given:
            raise bad_request(f"there is no {kind} in the request")
        file = self.people.world.files.get(str(given))
        if file is None:
            raise bad_request("wrong file identifier/HTTP URL specified")
        return file

    def _post(
        self,
        chat: Chat,
        content: JsonObject,
        params: JsonObject,
        call: Call,
        topic: Topic | None,
        reply_to: int | None,
    ) -> JsonObject:
        world = self.people.world
        thread = topic.id if topic is not None else None
        message = world.post(
            chat, world.bot, content, date=self.people.now, topic=thread, reply_to=reply_to
        )
        message.silent = bool(params.get("disable_notification"))
        _set_markup(message, rules.keyboard(params))
        call.message_id = message.message_id
        world.clear_drafts(chat.id)
        return message.json

    def _own(self, chat: Chat, message_id: object) -> Message:
        message = chat.messages.get(message_id) if isinstance(message_id, int) else None
        if message is None:
            raise bad_request("message to edit not found")
        if not message.mine:
            raise bad_request("message can't be edited")
        return message

    def _charge(self, chat: Chat) -> None:
        if self.limits is not None:
            try:
                self.limits.charge(chat, self.people.clock())
            except Refusal:
                self.too_many += 1
                raise


def _set_markup(message: Message, markup: JsonObject | None) -> None:
    message.markup = markup
    message.json.pop("reply_markup", None)
    if markup is not None:
        message.json["reply_markup"] = markup


_LEADING: Final = ("creator", "administrator")


def _scope(params: JsonObject) -> str:
    scope = params.get("scope") or {"type": "default"}
    return f"{sorted(scope.items())}{params.get('language_code', '')}"
