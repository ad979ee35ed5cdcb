"""Scheduling: which question runs when.

dispatcher      routes a message to a notice, a command or a turn
debounce        merges a burst into one question; lane_scheduler: starts turns
commands        lines that begin with a comma; stopper: `,stop`
notices         what a chat reads about messages without an answer
recovery        resumes what the previous process left open
"""
