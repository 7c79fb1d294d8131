"""Analyse what happened in a session; the only package that judges one.

Main names: `findings.detector.Detector` detects findings event by event, `tools.tool_calls.moments_of` reads a
session's entries and calls with their acts, `tools.shell_acts.command_acts` reads a shell script,
`failure_causes.classify` finds the category of a failure, and `review.session_review.review` asks the user's agent for
more findings.

    detector = Detector(); callouts = [one for event in events for one in detector.add(event)]; detector.noted()

It knows neither commands nor what is kept across sessions (`memory`), and prints nothing.
"""
