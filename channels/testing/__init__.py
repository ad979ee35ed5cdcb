"""Test kits for authors of channels; they work with any test framework.

host      FakeHost and run_channel run a channel without a gateway
stage     Stage is a platform for the conformance suite, which runs the real gateway
promises  what the suite checks, and what a channel may skip
"""

from channels.testing.host import ChannelRun, FakeHost, run_channel
from channels.testing.promises import Need, Promise, skip_reason
from channels.testing.stage import Answer, BrokenEdit, Chat, Operation, Person, PersonMessage, Stage

__all__ = [
    "Answer",
    "BrokenEdit",
    "ChannelRun",
    "Chat",
    "FakeHost",
    "Need",
    "Operation",
    "Person",
    "PersonMessage",
    "Promise",
    "Stage",
    "run_channel",
    "skip_reason",
]
