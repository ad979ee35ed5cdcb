"""Explain: what happened to a message and why, from the ledger and the tape.

lookup          finds the message behind an id, a link or a row
message_report  the lines about a message; turn_report, about a turn
report          the report model, and its text for a terminal
read_only       opens a database without a gateway
"""
