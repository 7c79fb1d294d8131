"""Codex's rows as events: rooms of `transcript.codex`, which owns the files."""
