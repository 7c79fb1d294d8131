"""Detect findings in the structure of a session's events: decisions, corrections, failures, outcomes, open ends.

`Detector` passes each event to one class per kind of finding; these share the current turn in `TurnHistory`.
"""
