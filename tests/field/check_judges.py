"""Cases about judges: `judge.scores`, `judge.verdict`."""
