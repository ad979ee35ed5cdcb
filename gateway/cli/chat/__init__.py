"""`tapeway chat` and `tapeway run`: a conversation in a terminal."""
