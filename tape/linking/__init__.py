"""Decide which conversation each message of a chat belongs to, from the earlier messages.

utterance            a message as the linker gets it, and the linker's answer
room asleep          the remembered messages of one chat, and what is left of those before
writing              writes down what a room remembers, and reads it back
rules                threads, replies, and the rules for a room without a model
features_*           numbers that describe a text or message, or compare it with others
boosted_trees model  the model that judges these numbers; weights reads its file
agent_talk waking    what talk with the agent implies, and when a sleeping lane wakes
linker               makes the decision
ranking              ranks or selects a conversation's earlier messages
"""

from tape.linking.linker import Linker
from tape.linking.ranking import chosen, ranked
from tape.linking.room import LinkerRoom
from tape.linking.utterance import LaneLink, Utterance

__all__ = ["LaneLink", "Linker", "LinkerRoom", "Utterance", "chosen", "ranked"]
