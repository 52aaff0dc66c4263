"""Where on the topic graph to ask next; handed a function that asks, and never a label unpaid."""
