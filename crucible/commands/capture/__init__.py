"""Capture what is worth keeping of a session as knowledge items, and run all steps that follow a session's end.

Owns which parts of a session are candidates, which of them are kept without asking, what a question costs, and what
became of each candidate. Main names: `capture_session`, `after_stop`, `Candidate`, `Offer` (the question),
`CaptureState`.

    captured = capture_session(vault, note_path, now=now, ask=ask)

Must not know how the question is shown, or how a knowledge item is written.
"""
