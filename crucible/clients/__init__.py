"""Client-specific code: reading a coding agent's logs, starting it, and editing its settings files.

- `registry.CLIENTS`: the table of `client.ClientProfile`s
- `registry.DIALECTS`: readers of logs; each client is a folder with a `client` and a `logs` module
- `events.Event`: the closed union that all logs are converted to
- `redact.redactor_of`: removes secrets before anything is written
- `launch.ask.program_of`: asks an agent one question

    for event in DIALECTS["codex"].read(transcript): ...

This package does not depend on notes, vaults or Markdown.
"""
