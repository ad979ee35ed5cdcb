"""A context constructed for a task: explore, select, build, verify, and a record of every choice.

constructor        the four steps, and building again from a record
words explore      what may belong to the task, and how it was found
candidate select   what is chosen of it, within a budget
build              what the chosen entries read, as messages
"""

from tape.construct.candidate import Candidate, Choice, SemanticSource, Strategy
from tape.construct.constructor import Constructed, ContextConstructor, rebuild
from tape.construct.selection import ByRules

__all__ = [
    "ByRules",
    "Candidate",
    "Choice",
    "Constructed",
    "ContextConstructor",
    "SemanticSource",
    "Strategy",
    "rebuild",
]
