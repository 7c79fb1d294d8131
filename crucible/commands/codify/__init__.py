"""Turn recorded sessions into a workflow note.

The package decides how a session's work becomes steps, how several sessions become one workflow, and how the file is
saved. Main names: `codify`, `refine`, `edit_draft`, `save_workflow` and `save_workflow_as`.

    workflow = codify([RecordedSession(session)], redact)

`codify` does no I/O, so the same sessions always give the same workflow. The package does not depend on the command
line; `analysis.tools` determines what a tool call did.
"""
