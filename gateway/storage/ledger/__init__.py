"""The ledger: nothing lost, nothing twice.

ledger  what the gateway does with it      rows  its rows as values
sql/    tables and statements, a folder a dialect
"""
