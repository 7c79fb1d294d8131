"""Obsidian Markdown as text: exact bytes in, edits out."""
