"""The requests of the fake Discord that answer the use of a command."""

from __future__ import annotations

from tests.fakes.base.http import JsonObject
from tests.fakes.discord import rules
from tests.fakes.discord.commands import ANSWER_SECONDS, TOKEN_SECONDS, Commands, Interaction
from tests.fakes.discord.messages import MessageRequests
from tests.fakes.discord.people import People, is_ephemeral
from tests.fakes.discord.requests import Call
from tests.fakes.discord.rules import Refusal
from tests.fakes.discord.world import COMMAND_ANSWER, DEFAULT_TYPE, EPHEMERAL, LOADING, Message

_ANSWER, _LATER, _SEEN, _CHANGE = 4, 5, 6, 7


class Answers(MessageRequests):
    """Answer the requests with an interaction's token, beside those about messages."""

    def __init__(self, people: People, commands: Commands, nonce_seconds: float) -> None:
        super().__init__(people, nonce_seconds)
        self.commands = commands

    def on_callback(self, call: Call) -> JsonObject | None:
        interaction = self.commands.interactions.get(call.ids["token"])
        number = rules.snowflake("interaction_id", call.ids["interaction_id"])
        if interaction is None or interaction.id != number:
            raise rules.unknown("interaction", 10062)
        if interaction.acknowledged:
            raise Refusal(400, 40060, "Interaction has already been acknowledged.")
        if self.people.clock() - interaction.at > ANSWER_SECONDS:
            raise rules.unknown("interaction", 10062)
        kind = call.params.get("type")
        allowed = (_ANSWER, _LATER) if interaction.pressed is None else (4, 5, _SEEN, _CHANGE)
        if not isinstance(kind, int) or kind not in allowed:
            message = f"Value must be one of {{{', '.join(str(one) for one in allowed)}}}."
            raise rules.invalid_form("type", "BASE_TYPE_CHOICES", message)
        said = self._acknowledge(interaction, kind, call)
        if call.query.get("with_response") in ("1", "true"):
            return self._callback_json(interaction, kind, said)
        return None

    def on_followup(self, call: Call) -> JsonObject:
        interaction = self._interaction(call)
        message = self._say(interaction, call, first=interaction.deferred)
        return self.world.message_json(message)

    def on_original(self, call: Call) -> JsonObject:
        return self.world.message_json(self._answer_to(call, self._interaction(call).original))

    def on_edit_original(self, call: Call) -> JsonObject:
        interaction = self._interaction(call)
        if interaction.deferred:
            return self.world.message_json(self._say(interaction, call, first=True))
        message = self._answer_to(call, interaction.original)
        call.message_id = message.id
        return self.change(message, call)

    def on_delete_original(self, call: Call) -> None:
        interaction = self._interaction(call)
        if interaction.deferred:
            interaction.deferred = False
            return
        message = self._answer_to(call, interaction.original)
        self.people.delete(message.channel_id, message.id)

    def on_followup_message(self, call: Call) -> JsonObject:
        return self.world.message_json(self._followup(call))

    def on_edit_followup(self, call: Call) -> JsonObject:
        message = self._followup(call)
        call.message_id = message.id
        return self.change(message, call)

    def on_delete_followup(self, call: Call) -> None:
        message = self._followup(call)
        self.people.delete(message.channel_id, message.id)

    # -- parts

    def _interaction(self, call: Call) -> Interaction:
        interaction = self.commands.interactions.get(call.ids["token"])
        if interaction is None or not interaction.acknowledged:
            raise rules.unknown("Webhook", 10015)
        if self.people.clock() - interaction.at > TOKEN_SECONDS:
            raise Refusal(401, 50027, "Invalid Webhook Token")
        return interaction

    def _acknowledge(self, interaction: Interaction, kind: int, call: Call) -> Message | None:
        data = call.params.get("data") or {}
        flags = int(data.get("flags") or 0)
        if kind == _ANSWER:
            inner = Call("callback", call.verb, call.path, call.at, call.ids, {}, data, call.files)
            message = self._say(interaction, inner, first=True)
            interaction.acknowledged = True
            call.message_id = message.id
            return message
        if interaction.pressed is not None and kind in (_SEEN, _CHANGE):
            interaction.acknowledged = True
            interaction.original = interaction.pressed.id
            if kind == _CHANGE:
                inner = Call("callback", call.verb, call.path, call.at, call.ids, {}, data)
                self.change(interaction.pressed, inner)
                return interaction.pressed
            return None
        interaction.acknowledged = interaction.deferred = True
        interaction.ephemeral = is_ephemeral(flags)
        return None

    def _say(self, interaction: Interaction, call: Call, *, first: bool) -> Message:
        body = rules.checked_body(call.params)
        files = self.files(call, interaction.channel)
        if body.says_nothing and not files:
            raise Refusal(400, 50006, "Cannot send an empty message")
        hidden = is_ephemeral(body.flags) or (interaction.deferred and interaction.ephemeral)
        more: JsonObject = {
            "application_id": str(self.people.application_id),
            "webhook_id": str(self.people.application_id),
            "type": COMMAND_ANSWER if first else DEFAULT_TYPE,
            "interaction_metadata": {
                "id": str(interaction.id),
                "type": interaction.kind,
                "user": interaction.user.as_json(),
                "authorizing_integration_owners": {},
            },
        }
        if hidden:
            more["flags"] = EPHEMERAL
        seen_by = interaction.user.id if hidden else None
        message = self.send(interaction.channel, body, files, extra=more, seen_by=seen_by)
        if first:
            interaction.original, interaction.deferred = message.id, False
        interaction.messages.append(message.id)
        call.message_id = message.id
        return message

    def _answer_to(self, call: Call, number: int | None) -> Message:
        interaction = self._interaction(call)
        message = interaction.channel.messages.get(number or 0)
        if message is None:
            raise rules.unknown_message()
        return message

    def _followup(self, call: Call) -> Message:
        number = rules.snowflake("message_id", call.ids["message_id"])
        if number not in self._interaction(call).messages:
            raise rules.unknown_message()
        return self._answer_to(call, number)

    def _callback_json(
        self, interaction: Interaction, kind: int, message: Message | None
    ) -> JsonObject:
        shown: JsonObject = {"id": str(interaction.id), "type": interaction.kind}
        resource: JsonObject = {"type": kind}
        if kind == _SEEN:
            return {"interaction": shown, "resource": resource}
        # A deferred answer is a message that is loading, which has an id at once.
        number = message.id if message is not None else self.world.snowflake()
        shown["response_message_id"] = str(number)
        shown["response_message_loading"] = message is None
        shown["response_message_ephemeral"] = interaction.ephemeral
        if message is not None:
            resource["message"] = self.world.message_json(message)
        else:
            resource["message"] = self._loading(interaction, number)
        return {"interaction": shown, "resource": resource}

    def _loading(self, interaction: Interaction, number: int) -> JsonObject:
        return {
            "id": str(number),
            "channel_id": str(interaction.channel.id),
            "author": self.world.bot.as_json(),
            "content": "",
            "timestamp": self.world.stamp(),
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "components": [],
            "pinned": False,
            "type": COMMAND_ANSWER,
            "flags": LOADING | (EPHEMERAL if interaction.ephemeral else 0),
        }
