"""Briefings of a vault that grows by one session at a time; `python -m tests.unit.commands.briefing.growing [N]` looks at N of them (500), the tests at a few.

Each is held against a budget of its own: it must be kept, and where the work stands must be there, whatever the budget is.
"""

from __future__ import annotations

import sys
import tempfile
from collections import deque
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from crucible.commands.briefing.briefing_parts import Briefing, Quoter
from crucible.commands.briefing.build_briefing import BriefingRequest, BriefingSources, brief
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import VaultSettings
from crucible.core.tokens import Estimate
from crucible.memory.history.history import shortener
from crucible.memory.history.history_update import make_history
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault
from samples.vaults import session_texts

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOME = "/home/dev/shop"
_FRAME = 60
"""Tokens of what stands around no item: what was left out, and the like."""


def faults(folder: Path, sessions: int) -> Iterator[str]:
    """What is wrong with the briefings, a line each."""
    (folder / ".crucible").mkdir()
    vault = Vault(folder, VaultSettings(fsync=False))
    quoter = Quoter(redact_of(vault.settings.secrets), shortener((HOME,)))
    newest = deque(session_texts(40 * sessions), sessions)  # those of the last days before `NOW`
    for seed, (name, text) in enumerate(newest):
        note = vault.create(name, text.replace("the module", f"{HOME}/src/app.py").encode())
        make_history(vault, note, redact=redact_of(vault.settings.secrets), roots=(HOME,))
        budget = Random(seed).choice((1, 100, 200, 400, 800, 1600, 3200))
        yield from _wrong(name, budget, _briefing(vault, quoter, budget))


def _briefing(vault: Vault, quoter: Quoter, budget: int) -> Briefing:
    view = Index(vault.root, vault.settings).refresh().view
    wish = BriefingRequest("", NOW, budget)
    errors: list[str] = []
    made = brief(vault, wish, BriefingSources(view), quoter=quoter, counter=Estimate(), on_error=errors.append)
    assert errors == []
    return made


def _wrong(name: str, budget: int, made: Briefing) -> Iterator[str]:
    least = Estimate().count(made.position) + _FRAME
    if not made.position or made.position not in made.text:
        yield f"{name}: no position"
    if made.tokens > budget and (made.sections or made.tokens > least + 200):
        yield f"{name}: {made.tokens} tokens for {budget}"
    if made.tokens != Estimate().count(made.text) or made.failed or HOME in made.text:
        yield f"{name}: {made.failed}"
    if budget >= 1600 and not made.sections:
        yield f"{name}: nothing is told"


def main() -> int:
    """Count and tell; 1 when something is wrong."""
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory() as folder:
        found = [*faults(Path(folder), sessions)]
    sys.stdout.write(f"{sessions} briefings: {len(found)} faults\n" + "".join(f"  {one}\n" for one in found[:20]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
