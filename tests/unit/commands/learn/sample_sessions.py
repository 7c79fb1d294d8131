"""Sample sessions, written by hand or imported, and their cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from crucible.analysis.tools.recorded_calls import RecordedCalls, load_recorded_calls
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.learn.case import Case
from crucible.commands.learn.case_gathering import extract
from crucible.commands.learn.timeline import Timeline, build_timeline
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Source
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    AgentRef,
    Entry,
    FindingItem,
    Grounds,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.vault.notes.init_vault import init_vault
from crucible.vault.notes.vault import Vault
from tests.paths import TESTS

DATA = TESTS / "data" / "transcripts"


def kept(text: str) -> tuple[str, Mapping[str, int]]:
    return text, {}


def user(words: str) -> Intervention:
    return Intervention(words)


def call(line: str, result: str = "ok", outcome: Outcome = Outcome.OK) -> ToolCalls:
    return ToolCalls((ToolCall(line, result, outcome),))


def corrected(words: str) -> FindingItem:
    """A finding that these words of the user are a correction."""
    return FindingItem("correction", f'"{words}"', grounds=Grounds("rejected call", 0.98))


def session_of(
    *phases: Iterable[Entry | str],
    status: Status = Status.COMPLETED,
    findings: tuple[FindingItem, ...] = (),
) -> Session:
    """A session with these entries in each phase, read back from its note; a text is the agent's prose."""
    made = Session(
        "2026-05-04-told",
        started=datetime(2026, 5, 4, 10, tzinfo=UTC),
        status=status,
        participants=(AgentRef("claude-code", "2.1"),),
        model="some-model",
        project="shop",
        title="Told",
        phases=tuple(
            Phase(
                f"Phase {number}",
                AgentRef("claude-code", "2.1"),
                entries=tuple(Prose(one) if isinstance(one, str) else one for one in entries),
            )
            for number, entries in enumerate(phases, 1)
        ),
    )
    return replace(read_back(made), findings=findings)


def read_back(session: Session) -> Session:
    return read_session(Source(render_session(session)), session.id)


def timeline_of(*phases: Iterable[Entry | str], findings: tuple[FindingItem, ...] = ()) -> Timeline:
    return build_timeline(session_of(*phases, findings=findings), RecordedCalls())


def cases_of(session: Session, children: Mapping[str, Session | None] | None = None) -> tuple[Case, ...]:
    return extract(session, children or {}, RecordedCalls(), kept)


def imported(folder: Path, client: str, name: str) -> tuple[Vault, list[Case]]:
    """Import a real client's session into a new vault, and return the cases of all its notes."""
    folder.mkdir(parents=True)
    init_vault(folder)
    vault = Vault(folder, VaultSettings(fsync=False))
    options = ImportOptions(datetime(2026, 12, 1, tzinfo=UTC))
    import_transcripts(vault, DIALECTS[client], [DATA / client / name], options=options)
    sessions = {path.stem: vault.read(path).session for path in vault.session_paths()}
    cases = [
        case
        for one in sessions.values()
        for case in extract(one, sessions, load_recorded_calls(vault.root, one.id), kept)
    ]
    return vault, cases
