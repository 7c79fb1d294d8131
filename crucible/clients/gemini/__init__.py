"""Gemini CLI's records as events: the log, who spoke, how calls ended."""
