"""What Slack's error codes mean for a message, by the methods that answer with them.

Each method's page lists its codes: https://docs.slack.dev/reference/methods and the method's name.
"""

from __future__ import annotations

from typing import Final

from channels.refusals import Row, Table
from channels.slack.troubles import (
    ANSWER_REFUSED,
    MESSAGES_OFF,
    NO_SCOPE,
    NOT_LET_IN,
    RULE_OF_WORKSPACE,
    SILENT_CHANNEL,
)

_POST: Final = "Slack, chat.postMessage"
_UPDATE: Final = "Slack, chat.update"
_STREAM: Final = "Slack, chat.startStream, chat.appendStream and chat.stopStream"
_ALL: Final = "Slack, the errors of every method"

ROWS: Final = (
    # The thread
    Row(
        (
            "cannot_reply_to_message",
            "invalid_thread_ts",
            "restricted_action_non_threadable_channel",
            "restricted_action_thread_locked",
            "thread_not_found",
        ),
        _POST,
        SILENT_CHANNEL,
        send="unreplied",
    ),
    # The place
    Row(
        (
            "channel_not_found",
            "channel_type_not_supported",
            "external_channel_migrating",
            "is_archived",
            "is_inactive",
            "not_in_channel",
            "team_not_found",
        ),
        f"{_POST}; {_UPDATE}",
        SILENT_CHANNEL,
        closed=True,
    ),
    Row(
        (
            "app_access_restricted",
            "ekm_access_denied",
            "no_permission",
            "restricted_action",
            "restricted_action_read_only_channel",
            "restricted_action_thread_only_channel",
            "user_is_bot",
        ),
        _POST,
        RULE_OF_WORKSPACE,
        closed=True,
    ),
    Row(("messages_tab_disabled",), _POST, MESSAGES_OFF, closed=True),
    Row(
        (
            "access_denied",
            "account_inactive",
            "enterprise_is_restricted",
            "not_allowed_token_type",
            "org_login_required",
            "team_access_not_granted",
            "two_factor_setup_required",
        ),
        _ALL,
        NOT_LET_IN,
        closed=True,
    ),
    Row(("missing_scope",), _ALL, NO_SCOPE, closed=True),
    # The message to be changed
    Row(
        (
            "cant_update_message",
            "edit_window_closed",
            "message_not_found",
            "message_not_owned_by_app",
        ),
        _UPDATE,
        ANSWER_REFUSED,
        edit="gone",
    ),
    Row(("block_mismatch", "update_failed"), _UPDATE, ANSWER_REFUSED, edit="new"),
    Row(("streaming_state_conflict",), _UPDATE, ANSWER_REFUSED, edit="unstreamed"),
    # The form
    Row(
        (
            "invalid_arguments",
            "invalid_attachments",
            "invalid_blocks",
            "invalid_blocks_format",
            "markdown_text_conflict",
            "msg_blocks_too_long",
            "no_text",
        ),
        f"{_POST}; {_UPDATE}",
        ANSWER_REFUSED,
        send="plain",
        edit="plain",
        interaction="bare",
    ),
    Row(("msg_too_long",), f"{_POST}; {_UPDATE}", ANSWER_REFUSED, send="parts", edit="parts"),
    Row(
        (
            "invalid_metadata_format",
            "invalid_metadata_schema",
            "metadata_must_be_sent_from_app",
            "metadata_too_large",
        ),
        _POST,
        ANSWER_REFUSED,
        send="bare",
        edit="bare",
    ),
    Row(
        (
            "slack_connect_canvas_sharing_blocked",
            "slack_connect_file_link_sharing_blocked",
            "slack_connect_lists_sharing_blocked",
        ),
        _POST,
        RULE_OF_WORKSPACE,
    ),
    # The pace
    Row(("message_limit_exceeded",), _POST, ANSWER_REFUSED, send="wait", edit="wait"),
    # The stream
    Row(
        (
            "cannot_provide_both_markdown_text_and_chunks",
            "invalid_chunks",
            "message_not_in_streaming_state",
            "messaging_processing_failed",
            "missing_recipient_team_id",
            "missing_recipient_user_id",
            "msg_blocks_too_many",
            "stopped_by_user",
            "streaming_mode_mismatch",
            "user_not_found",
        ),
        _STREAM,
        ANSWER_REFUSED,
        send="bare",
        edit="bare",
    ),
)
TABLE: Final = Table(ROWS, ANSWER_REFUSED)
