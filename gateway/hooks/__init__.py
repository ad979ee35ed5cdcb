"""Hooks: their specifications, the plugins that implement them, and the code that calls them."""
