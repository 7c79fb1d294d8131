"""Everything on disk: notes, the index over them, event logs, and append-only files.

Start with `notes.vault.Vault` (find, read, create and save notes), `index.index.Index` (the contents of notes as
tables), `events.event_recorder.FlightWriter` and `events.event_reader.read_records` (event logs), and
`logs.jsonl_store.append_lines` (JSON lines that git can merge).

    note = Vault(root).load("2026-11-21-fix-login")

Nothing here judges what happened in a session (see `analysis`), or depends on a command and its output.
"""
