"""Detect and remove secrets in text.

`scanner` runs all rules over a text, and `redaction` is the interface for callers.  Rules match tokens of known
providers (`providers`), text with a recognisable shape (`shapes_of_secrets`), arguments of commands
(`command_passwords`), long random strings (`random_runs`), and values assigned to a name (`assignments`, with
`secret_names`, `secret_values`, `value_ends` and `table_layouts`).

`clients.redact` decides which fields of an event are scanned.
"""

from crucible.core.secrets.rule import Finding
from crucible.core.secrets.scanner import Redact, Scanner

__all__ = ["Finding", "Redact", "Scanner"]
