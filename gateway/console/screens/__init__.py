"""What each screen of the console shows: one module for each."""
