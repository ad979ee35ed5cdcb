"""What it costs to draw an answer that grows, for each target."""
