"""Analyse what happened in a session.

Start with `findings.detector.Detector`, which detects findings event by event, `tools.tool_calls.moments_of`, which
reads a session's entries and calls with their acts, `tools.shell_acts.command_acts`, which reads a shell script,
`failure_causes.classify`, which finds the category of a failure, and `review.session_review.review`, which asks the
user's agent for more findings.

    detector = Detector(); callouts = [one for event in events for one in detector.add(event)]; detector.noted()

Nothing here prints, or depends on commands or on what is kept across sessions (`memory`).
"""
