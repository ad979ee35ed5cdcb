"""What Telegram's descriptions of errors mean for a message.

Telegram has no codes beside the status. The words are those of the server that it publishes,
https://github.com/tdlib/telegram-bot-api (`Client.cpp`, `fail_query_with_error`), of the library
below it, https://github.com/tdlib/td (`MessagesManager`), and of public reports of answers.
"""

from __future__ import annotations

from typing import Final

from channels.refusals import Row, Table
from channels.telegram.troubles import ANSWER_REFUSED, NO_RIGHT_TO_WRITE, NOT_REACHED

_SERVER: Final = "tdlib/telegram-bot-api, Client.cpp"
_LIBRARY: Final = "tdlib/td, MessagesManager"
_REPORTS: Final = "public reports"

ROWS: Final = (
    # The topic and the reply
    Row(
        ("message thread not found", "topic_deleted", "topic not found", "topic_id_invalid"),
        _SERVER,
        ANSWER_REFUSED,
        send="chat",
    ),
    Row(
        (
            "message to be replied not found",
            "message to reply not found",
            "replied message not found",
            "reply_message_id_invalid",
        ),
        _SERVER,
        ANSWER_REFUSED,
        send="unreplied",
    ),
    # The message to be changed
    Row(("message is not modified",), _SERVER, ANSWER_REFUSED, edit="done"),
    Row(
        (
            "message can't be edited",
            "message to edit not found",
            "message_author_required",
            "message_edit_time_expired",
            "message_id_invalid",
        ),
        _SERVER,
        ANSWER_REFUSED,
        edit="gone",
    ),
    Row(("message can't be deleted", "message to delete not found"), _SERVER, ANSWER_REFUSED),
    # The form
    Row(
        (
            "entities",
            "entity",
            "message is too long",
            "message text is empty",
            "message_too_long",
            "must be non-empty",
            "text is empty",
        ),
        _LIBRARY,
        ANSWER_REFUSED,
        send="plain",
        edit="plain",
    ),
    Row(
        (
            "button_data_invalid",
            "button_type_invalid",
            "can't parse inline keyboard button",
            "can't parse reply keyboard markup",
            "object expected as reply markup",
            "reply markup is too long",
            "reply_markup_invalid",
        ),
        _SERVER,
        ANSWER_REFUSED,
        send="bare",
        edit="bare",
    ),
    # The place
    Row(
        (
            "chat_send_plain_forbidden",
            "chat_write_forbidden",
            "have no rights to send a message",
            "need administrator rights in the channel chat",
            "not enough rights",
            "topic_closed",
            "user_restricted",
        ),
        _LIBRARY,
        NO_RIGHT_TO_WRITE,
        closed=True,
    ),
    Row(
        (
            "bot can't initiate conversation",
            "bot can't send messages to bots",
            "bot is not a member",
            "bot was blocked",
            "bot was kicked",
            "channel_private",
            "chat not found",
            "chat_restricted",
            "group chat was deactivated",
            "peer_id_invalid",
            "user is deactivated",
            "user_is_blocked",
        ),
        _SERVER,
        NOT_REACHED,
        closed=True,
    ),
    # The pace
    Row(("slowmode_wait", "flood_wait"), _REPORTS, ANSWER_REFUSED, send="wait", edit="wait"),
    # The press of a button
    Row(("query id is invalid", "query is too old", "query_id_invalid"), _SERVER, ANSWER_REFUSED),
)
TABLE: Final = Table(ROWS, ANSWER_REFUSED)
