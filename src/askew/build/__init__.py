"""Building a benchmark: whatever asks a model to make or to choose data."""
