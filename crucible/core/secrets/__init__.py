"""Detection and removal of secrets in text.

`scanner` runs all rules over a text; `redaction` is how callers use it.  The rules are tokens of providers
(`providers`), shapes around a secret (`shapes_of_secrets`), commands (`command_passwords`), long random runs
(`random_runs`), and names with values (`assignments`, with `secret_names`, `secret_values`, `value_ends` and
`table_layouts`).

Which texts of an event are scanned is decided by `clients.redact`.
"""

from crucible.core.secrets.scanner import Finding, Redact, Scanner

__all__ = ["Finding", "Redact", "Scanner"]
