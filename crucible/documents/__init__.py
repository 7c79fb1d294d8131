"""Read, render and edit notes without any I/O: Obsidian Markdown, sessions, workflows and knowledge items.

Main names: `Source` and `Edit` (`markdown.source`), `read_session` (`session.session_reader`), `render_session`
(`session.markup`), `Recorder` (`recording.session_recorder`), `read_workflow` (`workflow.workflow_reader`).

    session = read_session(Source.from_bytes(data), name)

This package has no access to files, vaults, indexes, clocks or commands.  A change to a note is a list of edits, never
a new rendering of the entire note.
"""
