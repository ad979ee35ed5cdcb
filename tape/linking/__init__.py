"""Link each message of a chat to its conversation, from the messages before it.

utterance            a message as the linker gets it, and the link that it returns
room                 the messages that are remembered of a chat
rules                threads, replies, and the rules for a room without a model
features_*           numbers: of a text, of a message, against messages, lanes and a whole room
boosted_trees model  the model that judges by these numbers; weights reads its file
linker               the decision
ranking              the earlier messages of a conversation, ranked or chosen
"""

from tape.linking.linker import Linker
from tape.linking.ranking import chosen, ranked
from tape.linking.room import LinkerRoom
from tape.linking.utterance import LaneLink, Utterance

__all__ = ["LaneLink", "Linker", "LinkerRoom", "Utterance", "chosen", "ranked"]
