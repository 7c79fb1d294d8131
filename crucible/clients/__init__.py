"""Everything that knows one coding agent: reading its logs, its tools' names, starting it, its settings files.

Main names: `registry.CLIENTS` (the table of `client.ClientProfile`s), `registry.DIALECTS` (readers of logs),
`events.Event` (the closed union that all logs become), `redact.redactor_of` (removes secrets before anything is
written), and `launch.ask.program_of` (asks an agent one question).

    for event in DIALECTS["codex"].read(transcript): ...

A client is one folder with a `client` and a `logs` module.  This package knows no notes, no vault and no Markdown.
"""
