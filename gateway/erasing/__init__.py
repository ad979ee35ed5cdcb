"""Erase what people wrote, from every place where it is kept."""
