"""Tests of the prompts."""
