"""What is filed of a run: the evidence pack, model and data cards."""
