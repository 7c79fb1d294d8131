"""Append-only files of JSON lines."""
