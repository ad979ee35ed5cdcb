"""What a channel can do, and what its platform has.

Each capability, and what happens without it:

    edit             a draft is edited into the answer; otherwise only the answer is sent
    typing           typing is shown once a message is accepted; otherwise it is never shown
    native_stream    partial text costs nothing and needs no edits (see `streams`)
    media            a message's files can be fetched; otherwise only their names are known
    idempotent_send  a second send with the same `idem` returns the first receipt, for
                     `Traits.idempotent_for` seconds; otherwise an unknown outcome is checked or
                     handled as the settings say
    lookup           a sent message can be found by its `idem`
    backfill         messages missed in an outage can be read; otherwise the platform resends them
    routes           the channel serves HTTP routes of its own
    buttons          messages can have buttons; otherwise the gateway writes commands in their place
    admins           the platform says who administers a chat (see `administers`)
    commands         the channel itself says which line of a message is a command's (see
                     `InboundMessage.command`); otherwise the text of what asks the agent is read
"""

from __future__ import annotations

from typing import Final, Literal, get_args

Capability = Literal[
    "edit",
    "typing",
    "native_stream",
    "media",
    "idempotent_send",
    "lookup",
    "backfill",
    "routes",
    "buttons",
    "admins",
    "commands",
]
Feature = Literal[
    "groups",
    "private",
    "threads",
    "names",
    "rules",
    "bursts",
    "bots",
    "strangers",
    "edits",
    "deletions",
    "pings",
    "remote",
    "exclusive",
]
"""Features of a platform; they decide which tests the conformance suite runs for a channel.

groups, private  people can write in chats of several people, or in private to the agent
threads          a chat can have topics or threads
names            people may call the agent by name, without a mention
rules            a setting chooses which messages the agent answers
bursts           people spread one thought over several messages
bots             other bots write too
strangers        anybody who finds the agent may write to it
edits, deletions the platform reports them
pings            a message can alert people whom it does not answer
remote           a network lies in between; the platform refuses requests or asks to wait
exclusive        a second reader with the same token is reported
"""

ALL_FEATURES: Final[frozenset[Feature]] = frozenset(get_args(Feature))
