"""Which session the client that called us is in, and a recorder for it.

Owns the order of the answers: the session that was named, the one that CRU_SESSION names, the client's own that its hooks told of, the only
active one of this project and client, and where there is none one that is begun for this process.  Nothing is ever logged to a
session that may be another agent's: where that cannot be told, it is an error that names the candidates.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from crucible.clients.claude_code import logs as claude_code
from crucible.commands import record
from crucible.commands.capture.after_stop import after_stop
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.imports.note_sources import SourceTable, source_name
from crucible.commands.record import Recorder
from crucible.core.errors import CrucibleError, SessionNotFound, UsageError
from crucible.core.settings.settings import load_vault_settings
from crucible.documents.session.status_rules import Client
from crucible.integrations.mcp.opened_vault import index_of, now, vault_of
from crucible.integrations.mcp.replies import UNKNOWN, is_session_id
from crucible.integrations.mcp.server_context import Caller, Place
from crucible.vault.events.spooled import load_spool
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

__all__ = ["Running"]

_CHANNEL = "mcp"
"""The channel of sessions that were begun here: another process's is nobody else's."""
_ENDED = "the client was closed"


class Running:
    """The sessions of one server: its client's, and the one that was begun for it, if any."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._turn = threading.Lock()
        self._own: tuple[Path, str] | None = None
        """The vault, and the id of the session that was begun here."""
        self._last = ""
        """The id of the session that was last logged to unasked."""

    def recorder(self, named: str, caller: Caller) -> Recorder:
        """For what is to be told now.  `SessionNotFound`, `SessionEnded` or `UsageError` say what to do."""
        place, vault = self._place, vault_of(self._place)
        with self._turn:
            told = named.strip() or place.env.get("CRU_SESSION", "").strip()
            name = told or self._native(vault) or self._begun_here(vault) or self._active(vault, caller)
            recorder = self._attached(vault, name, named.strip()) if name else self._begin(vault, caller)
            self._last = self._last if named.strip() else recorder.id
        return recorder

    def _attached(self, vault: Vault, name: str, named: str) -> Recorder:
        try:
            return record.open(name, vault=vault, cwd=self._place.cwd, projects=self._place.user.projects)
        except SessionNotFound:
            what = "" if named else ", which CRU_SESSION names"
            raise SessionNotFound(
                f"no session {name!r}{what}", f"{UNKNOWN}; it takes a whole id, and nothing was written"
            ) from None

    def known(self) -> str:
        """The id of the running session where that is told without looking for it, "" else."""
        return self._place.env.get("CRU_SESSION", "").strip() or self._last

    def close(self) -> None:
        """The client is gone, so the session that was begun for it stops; who cannot be told is found idle later."""
        if self._own is None:
            return
        with suppress(CrucibleError, OSError):
            root, name = self._own
            vault = Vault(root, load_vault_settings(root, self._place.user))
            recorder = record.open(
                name,
                vault=vault,
                cwd=self._place.cwd,
                projects=self._place.user.projects,
            )
            if recorder.read_head().status == "active":
                recorder.pause(_ENDED)
                after_stop(vault, recorder.path, now=now())

    # --- the client's own --------------------------------------------------------------------------------------------

    def _native(self, vault: Vault) -> str:
        """The note of the session that Claude Code says it is in, brought up to date first: what is told now stands behind it.

        "" where no hook told of that session and no note has it: then nobody asked for its transcript.
        """
        native = self._place.env.get("CLAUDE_CODE_SESSION_ID", "")
        client = claude_code.NAME
        if not native:
            return ""
        source = source_name(client, native)
        spooled = next((each for each in load_spool(vault.root, client) if each.session == native), None)
        transcript = Path(spooled.transcript) if spooled and spooled.transcript else None
        if transcript and transcript.name == f"{native}.jsonl" and transcript.is_file():
            options = ImportOptions(now=now(), projects=self._place.user.projects, client=Client.RUNNING)
            with suppress(CrucibleError):  # what is not written down now is at the turn's end
                import_transcripts(vault, claude_code, [transcript], options=options)
        path = SourceTable(vault).find(source)
        if path is None and spooled:
            raise UsageError(
                "this session has no note yet",
                "it is written at the end of this turn; tell it again after your next answer",
            )
        return note_name(path.name) if path else ""

    # --- others ------------------------------------------------------------------------------------------------------

    def _active(self, vault: Vault, caller: Caller) -> str:
        project = self._place.project
        if not project or self._place.env.get("CLAUDE_CODE_SESSION_ID"):
            return ""
        query = SessionQuery(status="active", project=project, agent=caller.agent)
        rows, _ = index_of(vault).ask(lambda view: select(view, query))
        names = [str(row["id"]) for row in rows if row["channel"] != _CHANNEL]
        if len(names) > 1:
            raise UsageError(
                f"{len(names)} sessions of {caller.agent} are active in {project}, and it cannot be told which one is yours",
                f"name it with session=, one of: {', '.join(filter(is_session_id, names[:5]))}",
            )
        return names[0] if names else ""

    def _begun_here(self, vault: Vault) -> str:
        return self._own[1] if self._own and self._own[0] == vault.root else ""

    def _begin(self, vault: Vault, caller: Caller) -> Recorder:
        project = self._place.project
        recorder = record.session(
            f"{caller.agent} in {project}" if project else f"Notes of {caller.agent}",
            vault=vault,
            agent=caller.speaker,
            channel=_CHANNEL,
            project=project,
            cwd=self._place.cwd,
            projects=self._place.user.projects,
        )
        self._own = (vault.root, recorder.id)
        return recorder
