"""Codex: its profile, and its rollouts as events."""
