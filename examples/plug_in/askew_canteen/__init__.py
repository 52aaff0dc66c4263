"""A data set and a scenario family for askew."""
