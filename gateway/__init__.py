"""The gateway: puts tape, agent and channels together and runs them (see docs/architecture.md).

Nothing is imported here, so that `tapeway --help` stays quick.
"""
