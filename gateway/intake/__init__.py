"""Intake: accepted messages become entries on their tapes.

intake       accepts, writes and passes on; planner: decides what to write
access       who may talk to the agent; bot_guard: when bots get an answer
reassembly   merges the parts of a message that a platform has split
framing      a message as the model reads it; entry_meta: what its entry records
edits deletions
"""
