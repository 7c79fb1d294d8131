"""Capture what is worth keeping from a session as knowledge items, and run all steps that follow a session's end.

The package decides which parts of a session are candidates, which of them are kept without asking, and what a
question costs, and it logs what became of each candidate. Main names: `capture_session`, `after_stop`, `Candidate`,
`Offer` (the question), `CaptureState`.

    captured = capture_session(vault, note_path, now=now, ask=ask)

It does not depend on how the question is shown or how a knowledge item is written.
"""
