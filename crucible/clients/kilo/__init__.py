"""Kilo CLI, which keeps its sessions as OpenCode does: its profile, and where its logs are."""
