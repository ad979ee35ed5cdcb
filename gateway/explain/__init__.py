"""Explain what happened to a message and why, from the ledger and the tape.

lookup          finds a message by its id, a link or a row
facts           reads what is recorded about a message; `joints` draws its way from that
message_report  writes the lines about a message; turn_report, those about a turn
rules           says by which rule a message was refused
quotes          finds what repeats a deleted message
report          holds a report; `gateway.cli.explain` draws it
read_only       opens a database without a gateway
"""
