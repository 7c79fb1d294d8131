"""Append-only logs of JSON lines."""
