"""Which conversation of a chat a message belongs to, told from what was said before it.

said     what a linker is told, and what it answers
words    what is kept of a text
room     what is remembered of a chat
rules    replies and threads, and the rules
asked pairs lanes relevance   a new message against messages and lanes, in numbers
trees numbers model          what was learned from such numbers, and what it says
linker   the decision
ranking  the earlier messages of a conversation, ranked or chosen
"""

from tape.linking.linker import Linker
from tape.linking.ranking import chosen, ranked
from tape.linking.room import LinkerRoom
from tape.linking.utterance import LaneLink, Utterance

__all__ = ["LaneLink", "Linker", "LinkerRoom", "Utterance", "chosen", "ranked"]
