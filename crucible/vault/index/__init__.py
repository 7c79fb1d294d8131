"""What the vault holds, as tables: derived from the notes, and quick to ask."""
