"""Import clients' transcripts into session notes: find them, match each session to its note, and report.

`clients` parses the logs; `documents` renders the notes.

Main names: `import_transcripts` and `import_all` (one or several clients), `ImportOptions`, `ImportReport`,
`SourceTable`.

    report = import_transcripts(vault, DIALECTS["codex"], [folder], options=ImportOptions(now))

This package does not depend on any client's log format or on command output.
"""
