"""How commands reach the running gateway, or one that they start: fast, if one is running."""
