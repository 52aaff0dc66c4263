"""`judge_scores.jsonl`, `judge_verdicts.jsonl`: what a judge said."""
