"""What a note says and means: Obsidian Markdown, session notes, workflow notes."""
