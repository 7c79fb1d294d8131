"""What a secret looks like in a text, and a text without its secrets.

Owns the rules: tokens by their form (`providers`, `services`), shapes around a secret (`shapes`), names with values (`names`,
`assignments`, `values`), the pass over a text (`scanner`), and that nothing goes on without it (`redacting`).  Which texts an event has is `transcript.redact`'s.
"""

from crucible.core.secrets.scanner import Finding, Redact, Scanner

__all__ = ["Finding", "Redact", "Scanner"]
