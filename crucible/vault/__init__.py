"""Everything on disk: notes, the index over them, whole events, and append-only logs.

Main names: `notes.vault.Vault` (find, read, create and save notes), `index.index.Index` (what notes say, as tables),
`events.event_recorder.FlightWriter` and `events.event_reader.read_records` (whole events), and
`logs.jsonl_store.append_lines` (JSON lines that git can merge).

    note = Vault(root).load("2026-11-21-fix-login")

It must not judge what happened in a session (`analysis`), nor know a command or its output.
"""
