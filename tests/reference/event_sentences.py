"""What each event of the log says; a test holds the list to the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SENTENCES: Final[Mapping[str, str]] = {
    "sharing.failed": "Shared work met an error of its own; it goes on with the next session.",
    "sharing.nobody_works": "No process answers what this one receives; the remedy is beside it.",
    "budget.not_changed": "A platform's refusal could not be shared with the other processes.",
    "budget.not_read": "The limits that processes share could not be read; they are read again.",
    "budget.not_reserved": "No room in a bot's limit could be reserved; its sends wait.",
    "rooms.not_left": "A stopping process could not say that it left its rooms; others see it.",
    "rooms.not_read": "What others show in rooms could not be read; it is read again.",
    "rooms.not_shown": "A room could not be shown to its listeners; it is shown the next time.",
    "rooms.not_swept": "What is left in rooms of processes that ended could not be removed yet.",
    "rooms.not_written": "What is shown in rooms could not be shared; it is written again.",
    "states.not_read": "What other processes say of themselves could not be read yet.",
    "bus.lost": "The connection that wakes this process was lost; it looks by itself, too.",
    "bus.not_sent": "Other processes could not be woken; they look by themselves, too.",
    "control.failed": "What another process asked for could not be done.",
    "delivery.taken_over": "A message is sent by another process, which has its session now.",
    "fence.refused": "A write was refused, because another process works on the session now.",
    "intake.ended": "A message was ended while it waited to be placed, or some of its parts were.",
    "intake.not_counted": "The database did not say how many messages wait to be placed.",
    "intake.waiting": "Very many messages wait to be placed on their tapes; with the rate, and the"
    " seconds until they are placed.",
    "intake.left": "A message is taken in by another process, which has its session now.",
    "session.lost": "Another process has taken a session over; this one drops what it did for it.",
    "session.suspect": "A session waits for an idle process: its turn may be what ends processes.",
    "session.taken_over": "Sessions of a process that no longer answers were taken over.",
    "sessions.not_given_back": "A stopping process could not give sessions back; the leases end.",
    "sessions.made_ready": "Sessions with open work were found that no process would have claimed.",
    "sharing.later": "The database did not answer about shared work; it is asked again soon.",
    "turn.abandoned": "Another process goes on with a turn, whose session this one has lost.",
    "console.link_made": "Somebody made a read-only link to a chat's tape.",
    "console.link_opened": "Somebody without an account opened a read-only link.",
    "console.link_revoked": "Somebody revoked a read-only link.",
    "console.session_ended": "An owner ended somebody's session of the console.",
    "console.entered": "Somebody of a platform entered the console with a link of theirs.",
    "console.rerun": "Somebody asked a model once more what a turn had asked, which costs.",
    "settings.tried": "Somebody tried a model or a bot's tokens; nothing was written.",
    "settings.saved": "Somebody saved a model or a bot's tokens; the names of the settings are"
    " beside it, never their values.",
    "settings.removed": "Somebody removed a bot's tokens; the names of the settings are beside it.",
    "channel.removed": "A channel stopped, because its token was removed; the others went on.",
    "channel.replaced": "A channel began again with other settings; the others went on.",
    "log.lines_dropped": "Lines of the log could not be written, since nobody read them or the disk"
    " was full. The gateway went on without them.",
    "model.replaced": "Another model answers from now on; running answers keep the former one.",
    "console.erase": "Somebody began, in the console, to erase a message, a person or a chat.",
    "console.not_looked": "The console could not look for changes; it looks again.",
    "access.admins_failed": "A channel failed when asked whether somebody administers a chat. They"
    " count as a member until it is asked again.",
    "access.admins_not_known": "A platform did not say whether somebody administers a chat. They"
    " count as a member until it is asked again.",
    "access.changed": "Somebody was given a role, or lost one.",
    "access.group_closed": "An upgrade closed a group that was open before, until the owner opens"
    " it again.",
    "access.owner_not_reached": "The owner could not be asked about a chat, because the platform"
    " refused or was away.",
    "access.paired": "Somebody sent the pairing code and is an owner now.",
    "access.pairing_code_void": "The pairing code was guessed at too often and is void;"
    " `tapeway pair` prints a new one.",
    "accounts.not_shared": "What this process knows of its accounts could not be written or read;"
    " it tries again.",
    "accounts.refused": "The database refused something that this process knows of an account, so"
    " other processes do not learn it.",
    "agent.counter_estimates": "Tokens are estimated, because the package that counts them exactly"
    " is not installed.",
    "background.failed": "Background work ended with an error.",
    "ballast.not_made": "The reserve file for a full disk could not be written.",
    "budget.used_up": "Somebody has used up what they may use today, and was answered with a"
    " notice.",
    "channel.accept_failed": "A message posted to a room could not be stored; its sender was asked"
    " to try again.",
    "channel.bot_not_remembered": "The database did not take down which bot a channel has; the next"
    " start tries again.",
    "channel.handover_failed": "A channel that began again did not get all that the former one"
    " left.",
    "channel.close_failed": "A channel could not be closed when the gateway stopped.",
    "channel.down": "A channel lost its connection, and connects again by itself.",
    "channel.failed": "A channel ended with an unknown error, and is started again.",
    "channel.note": "A channel works, but something about it should be changed; `note` says what.",
    "channel.on_event_failed": "A channel could not show a part of a running answer. The whole"
    " answer is sent nevertheless.",
    "channel.ready": "A channel is connected.",
    "channel.elsewhere": "A channel can send here, while another process, `owner`, listens.",
    "poller.taken": "From now on, this process listens on a channel.",
    "poller.lost": "Another process listens on a channel now, or this one could not renew its lease"
    " in time; it waits for its next turn.",
    "poller.not_renewed": "The database did not answer when the lease of a channel was to be"
    " renewed. After some seconds without an answer, this process stops listening.",
    "poller.unknown": "The database did not say who listens on a channel; it is asked again.",
    "channel.stop_failed": "A channel could not be stopped in order.",
    "channel.unfit": "A channel cannot work with its settings and stays off; `remedy` says what to"
    " change.",
    "chat.changed": "The agent was added to a chat or removed from it, the chat got another ID, or"
    " there was a message without content, such as a pin.",
    "command.failed": "A command in a chat failed; the chat was shown the same `error_id`.",
    "delivery.failed": "Sending a message ended with an unknown error; whether it arrived is being"
    " found out.",
    "delivery.given_up": "A message will not be sent; `why` says the reason.",
    "delivery.left": "A message waits in the outbox, because its channel cannot work with its"
    " settings.",
    "delivery.looked_up": "After an interrupted send, the platform was asked whether the message is"
    " there.",
    "delivery.person_not_notified": "A chat takes no answer, and the person who asked could not be"
    " written to in private either.",
    "delivery.no_look_up": "After an interrupted send, the platform refused to say whether the"
    " message is there.",
    "delivery.not_looked_up": "After an interrupted send, the platform could not be asked; it is"
    " asked again.",
    "discord.channel_not_read": "A Discord channel's history could not be read; it is read at the"
    " next connection.",
    "discord.channel_unknown": "Discord did not describe a message's channel; it is treated as an"
    " ordinary one.",
    "discord.channel_unreadable": "Discord described a channel in a form that is not documented.",
    "discord.command_not_noted": "Discord did not show the note of a slash command.",
    "discord.commands_not_set": "The menu of slash commands could not be registered. The agent"
    " works without it.",
    "discord.event_dropped": "An event of Discord could not be stored, also not by itself, and was"
    " dropped.",
    "discord.event_unreadable": "Discord sent an event in a form that is not documented.",
    "discord.message_unreadable": "Discord's history holds a message in a form that is not"
    " documented.",
    "discord.press_not_answered": "Discord did not take the answer to a pressed button.",
    "disk.full": "The disk is full. The reserve file was deleted, so that running answers can be"
    " saved.",
    "erasing.done": "Entries were erased for good.",
    "erasing.failed": "Erasing stopped, and goes on in a minute.",
    "erasing.refused": "An erasure on record ended: this store cannot erase.",
    "evidence.not_searched": "Older messages that a question may need were not searched.",
    "files.open": "Other users of the machine can read a file that holds secrets.",
    "gateway.ready": "The gateway is running at `url`, with this `home`, `model`, `access` and"
    " `context`.",
    "gateway.resumed": "The gateway went on with messages that an earlier process left open.",
    "gateway.stopping": "The gateway was asked to stop.",
    "hook.after_tool_call_failed": "A plugin's `after_tool_call` failed after a command. The"
    " command had run.",
    "hook.awaitable_skipped": "A plugin returned an awaitable where only a result is possible.",
    "hook.on_error_failed": "A plugin's `on_error` failed itself.",
    "hook.resolve_session_failed": "A plugin's `resolve_session` failed.",
    "hook.result_refused": "A plugin returned what a hook cannot use; `remedy` says what it can.",
    "hook.save_state_failed": "A plugin's `save_state` failed after a turn that had failed.",
    "hook.save_state_too_slow": "The plugins' `save_state` took too long and was ended.",
    "hook.stopped_not_rendered": "A plugin could not render the text of a stopped answer.",
    "http.accept_failed": "No more connections can be opened; logged once a minute.",
    "http.token_made": "A first access token was made and stored in `file`.",
    "intake.dead": "A message could not be written to its tape, and will not be answered.",
    "intake.dead_not_announced": "Its sender could not be informed of such a message.",
    "intake.dead_not_recorded": "Such a message could not be marked as dead either.",
    "intake.completion_broken": "Looking up more of a message failed with an unknown error.",
    "intake.completion_not_kept": "What was looked up of a message is not in the database; after a"
    " crash, it is looked up again.",
    "intake.failed": "A batch of messages failed; the next start tries it again.",
    "intake.forward_failed": "A message is on its tape, but could not be passed on.",
    "intake.misdated": "What a channel looked up has dates that cannot be read; the message goes on"
    " without them.",
    "intake.incomplete": "A platform did not give what a delivery lacked; the message goes on"
    " without it.",
    "intake.unreadable": "A platform sent something in a form that is not documented; it is kept in"
    " the inbox as dead.",
    "ledger.leases_not_ended": "The database was away when the gateway started.",
    "ledger.not_folded": "What the ledger no longer needs was not emptied, because the database was"
    " away; it is tried again.",
    "ledger.unreadable": "A row of the ledger cannot be read by this version, and is marked as"
    " dead.",
    "linker.failed": "The linker failed on a message, which then starts a conversation.",
    "linker.not_judged": "The linker failed on a reply that was to show how well it recognizes"
    " conversations.",
    "linker.rules_only": "The linker's model cannot be used; rules alone decide which conversation"
    " a message belongs to.",
    "memories.left": "Another process has taken over a chat, and writes what is remembered of it.",
    "memories.not_kept": "What is remembered of chats could not be written; after a start, it is"
    " read from their tapes.",
    "media.fetch_failed": "An image could not be fetched.",
    "media.not_dropped": "The images of a refused message could not be removed yet.",
    "media.not_kept": "An image could not be stored.",
    "media.not_read": "The database did not give out an image; the model got a note instead.",
    "model.local_found": "A local model is there now; the gateway starts again with it.",
    "model.probed": "The model was asked whether it answers; `what` says the result.",
    "plugin.load_failed": "A plugin could not be loaded; the others work without it.",
    "press.not_answered": "A platform did not take the answer to a pressed button.",
    "router.no_channel": "A message is for a channel that is not running.",
    "search.embedder_failed": "Embeddings could not be computed; searches use words alone.",
    "settings.renamed": "A setting has its former name, which this release still reads; `what` says"
    " the new one.",
    "slack.catch_up_failed": "Messages missed during an outage could not be read; this is tried"
    " again.",
    "slack.conversations_refused": "Slack did not list the conversations of one kind, mostly"
    " because a scope is missing.",
    "slack.delivery_failed": "A delivery of Slack could not be stored; Slack sends it again.",
    "slack.delivery_unreadable": "Slack sent a delivery in a form that is not documented.",
    "slack.event_unreadable": "Slack sent an event in a form that is not documented.",
    "slack.history_failed": "A conversation's history could not be read; it is tried again.",
    "slack.history_refused": "Slack refused a conversation's history, mostly because a scope is"
    " missing.",
    "slack.message_unreadable": "Slack's history holds a message in a form that is not documented.",
    "store.awaited": "A gateway starts while its database is away, and waits for up to `seconds`.",
    "store.back": "The database can be written again; `written` had waited for it.",
    "store.unavailable": "The database cannot be written; `waiting` waits for it.",
    "store.writable": "The database can be written again, and the reserve file is back.",
    "telegram.commands_not_set": "The menu of commands could not be registered. The agent works"
    " without it.",
    "telegram.update_unreadable": "Telegram sent an update in a form that is not documented.",
    "telegram.webhook_failed": "An update could not be stored; Telegram sends it again.",
    "thread.unknown": "A platform did not say whether a thread of an old tape is open to others.",
    "tool.failed": "A tool failed with an unknown error; the model was informed.",
    "turn.done": "An answer is complete, and in the outbox.",
    "turn.end_refused": "The end of a turn was refused, because another process has taken it over.",
    "turn.failed": "A turn ended with an error; the chat was shown the same `error_id`.",
    "turn.traceback": "Where the error of `turn.failed` arose, if the log shows the level `debug`.",
    "turn.given_up": "A question was given up, because the process crashed with it repeatedly.",
    "turn.hand_over_not_recorded": "A stopping gateway could not record that a turn is to go on.",
    "turn.handed_over": "A stopping gateway left a turn to the next start.",
    "turn.lost": "The database went away during a turn, which starts over when it is back.",
    "turn.not_steered": "A message to be added to a running answer is gone.",
    "turn.nothing_near": "The messages around a question could not be found; it is answered"
    " without them.",
    "turn.stopped": "A person stopped an answer.",
    "work.failed": "A piece of queued work failed; the queue goes on.",
}
