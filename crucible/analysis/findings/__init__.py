"""Detect findings by the structure of a session's events: decisions, corrections, failures, outcomes, open ends.

`Detector` passes each event to one class for each kind; these share the current turn in `TurnHistory`.
"""
