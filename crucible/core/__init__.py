"""What every other package builds on: errors, files, locks, git, settings, templates, text, tokens and secrets.

Main names: `errors.CrucibleError`, `files.write_atomic`, `settings.settings.load_vault_settings`,
`secrets.redaction.redact_of` and `patterns.late_pattern`.

    clean, counts = redact_of(settings)(text)

It must not know what a session, a note's format or a client is.
"""
