"""Codex: its profile, and the conversion of its rollouts to events."""
