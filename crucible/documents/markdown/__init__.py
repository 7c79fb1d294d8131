"""Obsidian Markdown as exact text: find blocks, links and properties, escape untrusted text, and make edits."""
