"""The gateway: puts tape, agent and channels together and runs them.

settings logs clock errors home      the edge
hookspecs hook_runtime plugins       hooks
framework builtin router accessors   the turn pipeline
intake conversation buffer sessions  from a message to a turn
turn turns turn_record takes finished  a turn
ledger/ delivery                     nothing lost, nothing twice
access commands history frame other_tapes  what chats may do and see
manager app http/ cli/               running it
"""
