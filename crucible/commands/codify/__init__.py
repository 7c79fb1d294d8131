"""Make a workflow note of recorded sessions.

Owns how a session's work becomes steps, how several sessions become one workflow, and how its file is saved.  Main
names: `codify`, `refine`, `edit_draft`, `save_workflow` and `save_workflow_as`.

    workflow = codify([RecordedSession(session)], redact)

`codify` does no I/O, so the same sessions always give the same workflow.  Knows nothing of the command line, and not
what a tool call did: that is `analysis.tools`.
"""
