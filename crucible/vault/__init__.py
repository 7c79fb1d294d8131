"""Everything on disk: notes, the index, event logs, append-only logs."""
