"""Turns: one answer each.

runner         runs turns; transactions: their beginning and their ends; running: which run now
agent_plugin   the agent's loop as the builtin plugin
task_boundary  detects the end of a task, to suggest an anchor
"""
