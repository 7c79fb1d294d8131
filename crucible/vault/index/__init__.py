"""The index: tables derived from the notes, one row per note, phase, callout, link and task.

It can be deleted safely.
"""
