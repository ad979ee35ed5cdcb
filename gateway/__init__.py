"""The gateway: puts tape, agent and channels together and runs them.

settings logs clock errors home      the edge
hookspecs hook_runtime plugins       hooks
framework builtin router accessors   the turn pipeline
intake conversation buffer sessions  from a message to a turn
turn turns turn_record takes finished  a turn
ledger/ delivery                     nothing lost, nothing twice
access commands history frame other_tapes  what chats may do and see
lanes rooms prompts                  which conversation; what a model was shown
desk explain/                        what became of a message, and why
manager app http/ cli/               running it
"""
