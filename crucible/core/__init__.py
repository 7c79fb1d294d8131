"""The base layer of Crucible: errors, files, locks, git, settings, templates, text, tokens and secrets.

Start with `errors.CrucibleError`, `files.write_atomic`, `settings.settings.load_vault_settings`,
`secrets.redaction.redact_of` and `patterns.late_pattern`.

    clean, counts = redact_of(settings)(text)

Nothing here depends on sessions, the format of notes, or clients.
"""
