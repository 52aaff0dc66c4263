"""Run folders at rest: listed, shown, signed, verified."""
