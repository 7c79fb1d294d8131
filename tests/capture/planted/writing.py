"""Generated sessions in a vault, so that the command line can be tried on them."""

from __future__ import annotations

from crucible.vault.store import Vault
from tests.capture.planted.truth import Generated
from tests.cases.planted.truth import Generated as Whole
from tests.cases.planted.writing import write as write_whole

__all__ = ["write"]


def write(vault: Vault, generated: Generated) -> None:
    """The note, and its whole events where there are any."""
    ident = generated.session.id
    write_whole(vault, Whole(generated.session, kept={ident: generated.kept} if generated.kept else {}))
