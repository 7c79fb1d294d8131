"""Crucible: agent sessions as Obsidian notes."""

__version__ = "0.1.0"
