"""Resume a session: gather what is known about it, build the context for an agent, and decide what to start.

Main names: `find_material` gathers a session, its bookmark and what changed since; `context_from_settings` builds the
context within a token budget; `choose_client` and `plan_start` decide what to run; `mark_active` and `mark_stopped` set
the note's status.

    context_from_settings(vault.settings, find_material(vault, session, folder, now), budget=4000, tokenizer="")

This package does not depend on the command line and starts no client.
"""
