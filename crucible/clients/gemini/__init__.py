"""Gemini CLI: its profile, and its logs as events."""
