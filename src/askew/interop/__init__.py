"""In and out of other people's tools."""
