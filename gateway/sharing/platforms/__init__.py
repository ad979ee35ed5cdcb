"""What processes share of the accounts on the platforms: who listens, and what each may send."""
