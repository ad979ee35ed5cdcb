"""The turn pipeline: eight hook steps, and the values that pass through them."""
