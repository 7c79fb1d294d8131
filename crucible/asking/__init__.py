"""Asking the user's agent: one loop that asks, checks the answer and asks once more, within one time-out and one budget."""
