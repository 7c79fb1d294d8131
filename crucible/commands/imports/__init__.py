"""Import clients' transcripts into session notes.

Owns the search for transcripts, which note a native session belongs to, and the report; reading a client's log is the
job of `clients`, the content of a note that of `documents`.

Main names: `import_transcripts` and `import_all` (one or several clients), `ImportOptions`, `ImportReport`,
`SourceTable`.

    report = import_transcripts(vault, DIALECTS["codex"], [folder], options=ImportOptions(now))

Must not know a client's log format, or how a command prints.
"""
