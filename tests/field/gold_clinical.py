"""`clinical.jsonl`: facts of short patient texts."""
