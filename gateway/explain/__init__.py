"""Explain: for any message, what became of it and why, from the ledger and the tape.

find     from what an operator has in hand (an id, a link, a row) to what is meant
message  what is told of a message    turn   what is told of a turn
story    the lines of what is told    text   the same for a terminal
reading  a database read without a gateway
"""
