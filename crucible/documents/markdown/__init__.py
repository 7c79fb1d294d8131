"""Obsidian Markdown as exact text: find blocks, links and properties, escape foreign text, and make edits."""
