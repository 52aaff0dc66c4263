"""Text to facts about a patient; asks no model."""
