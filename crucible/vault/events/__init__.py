"""Whole events as JSON lines beside the notes."""
