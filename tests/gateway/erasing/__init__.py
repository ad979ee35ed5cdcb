"""erasing."""
