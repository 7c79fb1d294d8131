"""Taking secrets out of texts that are to be written or shown, by a vault's settings.

Owns that nothing goes on when the scanner cannot run.
"""

from __future__ import annotations

from crucible.errors import CrucibleError, VaultError
from crucible.secrets.scanner import Redact, Scanner
from crucible.settings import SecretSettings

__all__ = ["redact_of", "unscanned"]


def redact_of(settings: SecretSettings) -> Redact:
    """What a vault's settings ask for; `VaultError` when the scanner cannot run."""
    try:
        return Scanner(settings).redact
    except Exception as error:
        raise unscanned(error) from error


def unscanned(error: Exception) -> CrucibleError:
    """What is said of a scanner that cannot run, or broke."""
    hint = error.hint if isinstance(error, CrucibleError) and error.hint else "nothing was written"
    return VaultError(f"the scan for secrets cannot run, so nothing is written: {error}", hint)
