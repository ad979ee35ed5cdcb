"""The slash commands of the fake Discord, and the interactions that uses and presses begin."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.places import Places
from tests.fakes.discord.session import Event
from tests.fakes.discord.world import Channel, Message, User

ANSWER_SECONDS: Final = 3.0
TOKEN_SECONDS: Final = 900.0
CHAT_INPUT: Final = 1
COMMAND_USED, BUTTON_PRESSED = 2, 3
BUTTON: Final = 2
_NAME: Final = re.compile(r"[-_'\w]{1,32}")
_OPTION_TYPES: Final[dict[type, int]] = {str: 3, int: 4, bool: 5, float: 10}


@dataclass(slots=True)
class Interaction:
    """Hold one use of a command or press of a button, and how the bot answered it.

    `deferred` while a person sees that the bot is thinking; `original` is the first answer,
    `messages` are all of them. `pressed` is the message with the button, `name` the button's id.
    """

    id: int
    token: str
    name: str
    channel: Channel
    user: User
    at: float
    acknowledged: bool = False
    deferred: bool = False
    ephemeral: bool = False
    original: int | None = None
    messages: list[int] = field(default_factory=list)
    pressed: Message | None = None

    @property
    def kind(self) -> int:
        """Return the API's type of this interaction."""
        return COMMAND_USED if self.pressed is None else BUTTON_PRESSED


class Commands:
    """Keep the commands that the bot registered, for everywhere (None) and for single guilds."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self.registered: dict[int | None, list[JsonObject]] = {}
        self.interactions: dict[str, Interaction] = {}

    def replace(self, guild_id: int | None, given: list[JsonObject]) -> list[JsonObject]:
        """Register these in the place of all that there were."""
        self.registered[guild_id] = [self._made(guild_id, one) for one in given]
        return self.registered[guild_id]

    def add(self, guild_id: int | None, given: JsonObject) -> JsonObject:
        """Register one; one of the same name is replaced."""
        made = self._made(guild_id, given)
        others = self.registered.get(guild_id, [])
        self.registered[guild_id] = [one for one in others if one["name"] != made["name"]] + [made]
        return made

    def find(self, name: str, guild_id: int | None) -> JsonObject | None:
        """Return the command of a name that can be used in a guild, its own before the others."""
        known = [*self.registered.get(guild_id, []), *self.registered.get(None, [])]
        return next((one for one in known if one["name"] == name), None)

    def use(self, channel: Channel, user: User, name: str, options: JsonObject) -> Interaction:
        """Have someone use a command; LookupError where it is not registered or not offered."""
        command = self.find(name, channel.guild_id)
        context = 0 if channel.guild_id is not None else 1
        if command is None or context not in (command["contexts"] or (0, 1, 2)):
            raise LookupError(f"no command /{name} is registered")
        interaction = self._begin(name, channel, user)
        self.send(interaction, command, options)
        return interaction

    def press(self, channel: Channel, user: User, message: Message, label: str) -> Interaction:
        """Have someone press a button of a message; LookupError without such a button."""
        rows = message.json["components"]
        buttons = [one for row in rows for one in row["components"] if one.get("label") == label]
        if not buttons or message.id not in channel.messages:
            raise LookupError(f"no button {label!r} is there")
        interaction = self._begin(buttons[0]["custom_id"], channel, user)
        interaction.pressed = message
        shown = self._common(interaction) | {
            "message": self._places.world.message_json(message),
            "data": {"component_type": BUTTON, "custom_id": interaction.name, "id": 1},
        }
        self._emit(shown)
        return interaction

    def send(self, interaction: Interaction, command: JsonObject, options: JsonObject) -> None:
        """Send the use of a command to the bot."""
        self._emit(self._json(interaction, command, options))

    def _begin(self, name: str, channel: Channel, user: User) -> Interaction:
        number = self._places.world.snowflake()
        token = secrets.token_urlsafe(48)
        interaction = Interaction(number, token, name, channel, user, self._places.clock())
        self.interactions[token] = interaction
        return interaction

    def _emit(self, shown: JsonObject) -> None:
        self._places.gateway.emit(Event("INTERACTION_CREATE", shown))
        self._places.changed()

    def _made(self, guild_id: int | None, given: JsonObject) -> JsonObject:
        world = self._places.world
        made: JsonObject = {
            "type": CHAT_INPUT,
            "description": "",
            "options": [],
            "default_member_permissions": None,
            "nsfw": False,
            "contexts": None,
            "integration_types": [0],
            "name_localizations": None,
            "description_localizations": None,
        }
        made |= given | {
            "id": str(world.snowflake()),
            "application_id": str(self._places.application_id),
            "version": str(world.snowflake()),
        }
        return made | ({"guild_id": str(guild_id)} if guild_id is not None else {})

    def _json(
        self, interaction: Interaction, command: JsonObject, options: JsonObject
    ) -> JsonObject:
        return self._common(interaction) | {
            "data": {
                "id": command["id"],
                "name": interaction.name,
                "type": CHAT_INPUT,
                "options": [_option(name, value) for name, value in options.items()],
            }
        }

    def _common(self, interaction: Interaction) -> JsonObject:
        world, channel = self._places.world, interaction.channel
        bot_may = world.permissions(channel, world.bot.id)
        found: JsonObject = {
            "id": str(interaction.id),
            "application_id": str(self._places.application_id),
            "type": interaction.kind,
            "token": interaction.token,
            "version": 1,
            "channel_id": str(channel.id),
            "channel": world.channel_json(channel)
            | {"permissions": str(world.permissions(channel, interaction.user.id))},
            "app_permissions": str(bot_may),
            "locale": "en-US",
            "entitlements": [],
            "entitlement_sku_ids": [],
            "authorizing_integration_owners": {"0": str(channel.guild_id or 0)},
            "context": 0 if channel.guild_id is not None else 1,
            "attachment_size_limit": 10 * 1024 * 1024,
        }
        guild = world.guild_of(channel)
        if guild is None:
            return found | {"user": interaction.user.as_json()}
        member = self._places.join(guild, interaction.user).as_json()
        member["permissions"] = str(world.permissions(channel, interaction.user.id))
        return found | {
            "guild_id": str(guild.id),
            "guild": {"id": str(guild.id), "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": member,
        }


def fits(name: Any) -> bool:
    """Return whether a command may be called so."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and name == name.lower()


def _option(name: str, value: Any) -> JsonObject:
    return {"name": name, "type": _OPTION_TYPES[type(value)], "value": value}
