"""Construct a context for a task: explore, select, verify, build, and record every choice.

constructor           the four steps, and rebuilding from a record
keywords explore      find the entries that may matter for the task
candidate selection   choose entries within a budget, and check the choices
build                 turn the chosen entries into messages
"""

from tape.construct.candidate import Candidate, Choice, Strategy
from tape.construct.constructor import Constructed, ContextConstructor, rebuild
from tape.construct.selection import ByRules

__all__ = [
    "ByRules",
    "Candidate",
    "Choice",
    "Constructed",
    "ContextConstructor",
    "Strategy",
    "rebuild",
]
