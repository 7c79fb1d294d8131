"""Generated sessions in a vault, so that the command line can be tried on them."""

from __future__ import annotations

from crucible.flight.entries import append_entry
from crucible.flight.recorder import FlightWriter
from crucible.session.markup import render_session
from crucible.vault.store import Vault
from tests.cases.planted.scribe import Told
from tests.cases.planted.truth import Generated

__all__ = ["write"]


def write(vault: Vault, generated: Generated) -> None:
    """The notes, and the whole events of those that have them."""
    for ident, session in generated.sessions.items():
        vault.create(ident, render_session(session))
        _keep(vault, ident, generated)


def _keep(vault: Vault, ident: str, generated: Generated) -> None:
    writer = FlightWriter(vault.root, ident) if ident in generated.kept else None
    for step, phase, source in generated.kept.get(ident, ()):
        assert writer is not None
        if isinstance(step, Told):
            writer.close()  # what waits has an earlier number
            assert step.at.time is not None
            append_entry(vault.root, ident, step.kind, step.values, now=step.at.time, phase=phase)
            writer = FlightWriter(vault.root, ident)
        else:
            writer.write(step, phase, source)
    if writer:
        writer.close()
