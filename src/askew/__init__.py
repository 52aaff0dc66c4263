"""askew finds where a language model leans."""

__version__ = "0.1.0"
