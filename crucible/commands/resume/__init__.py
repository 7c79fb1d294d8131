"""Picking a session up again: what an agent must know, what changed meanwhile, and starting a client with it."""
