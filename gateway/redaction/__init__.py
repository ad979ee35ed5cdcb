"""Secrets are taken out of all text that leaves: `redactor` does it, `known_secrets` finds them.

Nothing is imported here: what prints needs the redactor, but not always the settings.
"""
