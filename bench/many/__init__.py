"""Many groups that talk, and what a gateway left over from a day away."""
