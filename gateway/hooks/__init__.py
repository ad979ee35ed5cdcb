"""Hooks: their specifications, the plugins that implement them, and how they are called."""
