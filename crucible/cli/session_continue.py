"""Continue a session in a client: build its context, run the client, import its transcript, and update the note.

The note is active while the client runs.  Afterwards it is paused or ended, even if something failed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.cli.output import say, warn
from crucible.cli.session_stop import finish_quietly
from crucible.clients.client import LONGEST_ARGUMENT, ClientProfile, start_with_context
from crucible.clients.launch.session_marks import RESUMING_ENVIRONMENT, resume_mark
from crucible.clients.launch.terminal import (
    ClientFailed,
    check_installed,
    context_file,
    ending_of,
    protect_finish,
    run_client,
)
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS, RESUMABLE, Dialect
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import UnreadableRow
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.record.entries import Cleaning
from crucible.commands.resume.continue_session import (
    Chosen,
    ClientEnd,
    Start,
    check_at_rest,
    choose_client,
    confirmation,
    drift_lines,
    drift_prompt,
    has_news,
    mark_active,
    mark_stopped,
    plan_start,
)
from crucible.commands.resume.material_gathering import (
    Native,
    Workplace,
    check_goes_on,
    find_folder,
    find_material,
    find_native,
    last_client,
    newest_source,
)
from crucible.commands.resume.resume_context import context_from_settings
from crucible.commands.resume.resume_material import Material, find_extent
from crucible.core.errors import CrucibleError, SessionNotFound, TranscriptError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import UserSettings
from crucible.documents.session.session import Session, Status
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.client_hook import CLIENTS as HOOKED
from crucible.integrations.hooks.client_state import is_running
from crucible.memory.bookmarks.bookmark import StopReason, latest
from crucible.memory.bookmarks.make_bookmark import make_bookmark
from crucible.memory.bookmarks.resume_tickets import current_session_id, earlier_session_ids, issue_ticket
from crucible.memory.summary.brief_updates import update_brief
from crucible.vault.events.spool import spool_folder
from crucible.vault.events.spool_reader import Spooled, load_spool
from crucible.vault.notes.session_lock import SessionHeld, SessionLock, hold_session, is_held
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name

_CLOCK_ERROR = timedelta(seconds=2)
"""Maximum error of a timestamp, since a file system may round it down."""
_DATABASE = (".db", ".sqlite")
_MARK = 300
"""Maximum bytes of a prompt's first line."""
_MOST_SHOWN = 10
"""Maximum changed files to list."""


class ResumeOptions(NamedTuple):
    """The options of `cru session resume`; `named` is the client, `more` are arguments to pass to it."""

    named: str | None
    native: bool
    fresh: bool
    budget: int | None
    force: bool
    goal: str
    more: tuple[str, ...]


class _Plan(NamedTuple):
    """Everything known before the client starts."""

    note: Note
    chosen: Chosen
    program: str
    native: Native | None
    folder: Path
    material: Material
    terminal: bool

    @property
    def session(self) -> Session:
        """The session as it was before the client runs."""
        return self.note.session


def continue_in_client(vault: Vault, note: Note, place: Workplace, options: ResumeOptions) -> None:
    """Run a client on the session and wait for it; raises `ClientFailed`, or the error that prevents the start."""
    chosen = choose_client(note.session, options.named)
    now = datetime.now(UTC)
    _check_earlier_names(vault, note.session)
    with hold_session(vault.root, note.session.id, client=chosen.name, now=now, force=options.force) as held:
        # The previous holder of the lock may have changed the note.
        note = vault.read(note.path)
        check_goes_on(note.session, force=options.force)
        if not options.force:
            _check_at_rest(vault, note, now)
        plan = _gather(vault, note, chosen, place, options, now)
        start = _decide(vault, plan, place.user, options)
        _say(plan)
        _run(vault, plan, start, place, held)


# --- gather ----------------------------------------------------------------------------------------------------------


def _check_earlier_names(vault: Vault, session: Session) -> None:
    """Refuse a session that is locked under an earlier name."""
    others = vault.session_ids()
    for name in earlier_session_ids(vault.root, session.id):
        if name not in others and is_held(vault.root, name):
            hint = "continue there, or end it there first"
            raise SessionHeld(f"{session.id}: locked by a process that started under its old name {name}", hint)


def _check_at_rest(vault: Vault, note: Note, now: datetime) -> None:
    if note.session.status is Status.ACTIVE:
        idle = timedelta(minutes=vault.settings.idle_minutes)
        spooled = list(_spooled(vault.root, note.session))
        running = (each for each in spooled if not each.has_ended and is_running(each))
        client = next((f"{each.client} {each.session}" for each in running), "")
        spools = (Path(spool_folder(str(vault.root), each.client), f"{each.session}.jsonl") for each in spooled)
        check_at_rest(note.session, [note.path, *spools], client, now=now, idle=idle)


def _spooled(root: Path, session: Session) -> Iterable[Spooled]:
    """Yield what clients' hooks have recorded about the session."""
    for client in HOOKED:
        try:
            yield from (each for each in load_spool(root, client) if f"{client}:{each.session}" in session.sources)
        except CrucibleError:
            continue


def _gather(vault: Vault, note: Note, chosen: Chosen, place: Workplace, options: ResumeOptions, now: datetime) -> _Plan:
    session = note.session
    program = check_installed(chosen.program, place.env, chosen.hint(RESUMABLE))
    terminal = all(os.isatty(each) for each in (0, 1))
    native = _native(session, chosen, place, options, terminal=terminal)
    # A client finds its own session only in the folder where it began.
    folder = native.folder if native else find_folder(session, place)
    if folder is None and options.force:
        folder = place.cwd
    if folder is None:
        raise CrucibleError(
            f"{session.id}: the folder of project {session.project!r} is unknown on this machine",
            "change to its folder, or add it to [projects] in your settings; --force continues here",
        )
    material = find_material(vault, session, folder, now, goal=options.goal)
    return _Plan(note, chosen, program, native, folder, material, terminal)


def _native(
    session: Session, chosen: Chosen, place: Workplace, options: ResumeOptions, *, terminal: bool
) -> Native | None:
    """Return the client's own session to continue; None if another client was used since, unless `--native` is set."""
    if options.fresh or (not options.native and chosen.source != last_client(session)):
        return None
    can = chosen.client and (chosen.client.native if terminal else chosen.client.piped_native)
    found = find_native(session, chosen.source, place) if can else None
    if found and found.folder:
        return found
    if options.native:
        if not chosen.client or not newest_source(session, chosen.source):
            why = f"{chosen.name} has no conversation for this session"
        elif not can:
            why = f"{chosen.client.title} continues its own sessions only in a terminal"
        elif found is None:
            why = f"{chosen.client.title} has no transcript of it on this machine"
        else:
            why = f"the folder in which {chosen.client.title} started no longer exists"
        raise CrucibleError(f"{session.id}: {why}", "remove --native to start a new session with the context")
    return None


# --- decide ----------------------------------------------------------------------------------------------------------


def _decide(vault: Vault, plan: _Plan, user: UserSettings, options: ResumeOptions) -> Start:
    """Return the command line and its prompt; the prompt's first line names the session for a later import."""
    # A note may contain anything, and every user of the machine can see a process's arguments.
    clean = Cleaning(redact_of(vault.settings.secrets))
    if plan.native:
        prompt = clean.text(drift_prompt(plan.material.drift, terminal=plan.terminal, goal=options.goal))
    else:
        prompt = _fresh_prompt(vault, plan, user, options)
    phase = find_extent(plan.session).phase
    # Issued even without a prompt: the ticket identifies a session that is renamed while the client runs.
    ticket = issue_ticket(
        vault.root,
        plan.session.id,
        clean.line(plan.chosen.source),
        plan.material.now,
        native=plan.native.transcript.native_id if plan.native else "",
        phase=clean.line(phase.name) if phase else "",
        fsync=vault.settings.fsync,
    )
    if prompt:
        prompt = f"{resume_mark(plan.session.id, ticket.token)}\n\n{prompt}"
    return _start(plan, options, prompt)


def _start(plan: _Plan, options: ResumeOptions, prompt: str) -> Start:
    return plan_start(plan.chosen, prompt, native=plan.native, terminal=plan.terminal, more=options.more)


def _fresh_prompt(vault: Vault, plan: _Plan, user: UserSettings, options: ResumeOptions) -> str:
    """Return the context, shortened if it must be passed as an argument and is too long for one."""
    budget = options.budget or vault.settings.resume.budget
    for _ in range(4):
        context = context_from_settings(vault.settings, plan.material, budget=budget, tokenizer=user.agents.tokenizer)
        size = _start(plan, options, context.text).longest + _MARK
        if size <= LONGEST_ARGUMENT:
            return context.text
        budget = max(1, min(budget, context.tokens) * LONGEST_ARGUMENT * 9 // (size * 10))
        warn(f"context cut to {budget:,} tokens to fit an argument of 128 KB")
    raise UsageError(
        f"{plan.session.id}: its context is {size // 1024} KB, but an argument can hold 128 KB",
        f"pass it on standard input: cru session resume {plan.session.id} --print | CLIENT",
    )


# --- act -------------------------------------------------------------------------------------------------------------


def _say(plan: _Plan) -> None:
    if problem := find_extent(plan.session).problem:
        warn(f"{plan.session.id}: {problem}")
    lines = drift_lines(plan.material.drift)
    for line in lines[:_MOST_SHOWN]:
        say(f"  {line}", style="yellow")
    if len(lines) > _MOST_SHOWN:
        say(f"  and {len(lines) - _MOST_SHOWN} more", style="yellow")
    say(confirmation(plan.material))


def _run(vault: Vault, plan: _Plan, start: Start, place: Workplace, held: SessionLock) -> None:
    begun, count = datetime.now(UTC), time.monotonic()
    code = 1
    with protect_finish() as client_is_gone:
        activated = mark_active(vault, plan.note.path)
        end = ClientEnd(activated, is_folded=plan.chosen.client is not None)
        try:
            code = _wait_for_client(vault, plan, start, place, held, client_is_gone)
            # The clock may have been set back in the meantime.
            begun = min(begun, datetime.now(UTC) - timedelta(seconds=time.monotonic() - count))
            fault = f"{plan.chosen.name} {ending_of(code)}" if code else ""
            met = vault.read(_current_path(vault, plan))
            end = end._replace(fault=fault, met=met.session)
            import_work(
                vault, note_name(met.path.name), plan.chosen.client, plan.native, place, begun, is_good=not fault
            )
        finally:
            # The note must not stay active, whatever failed.
            now = mark_stopped(vault, _current_path(vault, plan), end)
        _bookmark(vault, now.session, plan, begun, code)
        if has_news(plan.session, now.session):
            _update_brief(vault, now.session.id)
            finish_quietly(vault, vault.find(now.session.id))
    if end.fault:
        hint = f'the session is {now.session.status}; continue with "cru session resume {now.session.id}"'
        raise ClientFailed(end.fault, hint)


def _wait_for_client(
    vault: Vault, plan: _Plan, start: Start, place: Workplace, held: SessionLock, is_gone: Callable[[], None]
) -> int:
    # Direct the client's hooks and its log to this vault and this session.
    env = {**place.env, "CRUCIBLE_VAULT": str(vault.root), RESUMING_ENVIRONMENT: plan.session.id}
    env.pop("CRU_SESSION", None)  # it may name a different session
    if not plan.chosen.client:
        env["CRU_SESSION"] = plan.session.id
    command, client = start.command, plan.chosen.client
    try:
        with context_file(start.context, client.context_file if client else "") as file:
            if client and file:
                say(f"{client.title} takes no prompt when it continues a session; its instructions say what changed")
                command, added, _ = start_with_context(client, start.context, file, env, command[1:])
                env |= added
            return run_client(plan.program, command, plan.folder, env, stdin=start.stdin, started=held.started)
    finally:
        is_gone()
        held.ended()


def _current_path(vault: Vault, plan: _Plan) -> Path:
    """Return the note's path: it may have been moved, or the session renamed, while the client ran."""
    if plan.note.path.exists():
        return plan.note.path
    try:
        return vault.find(current_session_id(vault.root, plan.session.id))
    except SessionNotFound as error:
        kind = plan.chosen.client.name if plan.chosen.client else "auto"
        hint = f'the client\'s work is in its own log; run "cru import {kind}"'
        raise SessionNotFound(f"{plan.session.id}: its note is missing", hint) from error


def import_work(
    vault: Vault,
    session_id: str,
    client: ClientProfile | None,
    native: Native | None,
    place: Workplace,
    begun: datetime,
    *,
    is_good: bool,
) -> None:
    """Import what the client has written since `begun`; for the user's own command, what any client has written.

    `is_good` is False if the client failed.  Unreadable rows are reported and left for the next import.
    """
    options = ImportOptions(
        now=datetime.now(place.user.zone),
        projects=place.user.projects,
        client=Client.ENDED if is_good else Client.DIED,
        only_session=session_id,
    )
    for dialect in [DIALECTS[client.name]] if client else DIALECTS.values():
        try:
            paths = _written(dialect, native, place, begun)
            if paths:
                report = import_transcripts(vault, dialect, paths, options=options)
                _say_unreadable(report.unreadable, dialect)
        except (TranscriptError, OSError) as error:
            warn(f"{dialect.title}'s transcripts: {error}")


def _say_unreadable(rows: Sequence[UnreadableRow], dialect: Dialect) -> None:
    for row in rows:
        say(f"{row.path}:{row.line or 1}: {row.reason}", style="yellow")
    if any(not row.line for row in rows):
        say(f'     nothing is lost: fix this, then run "cru import {dialect.name}"', style="yellow")


def _written(dialect: Dialect, native: Native | None, place: Workplace, begun: datetime) -> list[Path]:
    """Return the client's files written since `begun`; if `native` was continued, only its file."""
    folder = dialect.default_folder(place.env, place.home)
    found = dialect.find(folder) if folder.is_dir() else ()
    # `native` was found before the client ran.
    transcripts: Iterable[Transcript] = [replace(native.transcript, last=None)] if native else found
    return [*dict.fromkeys(each.path for each in transcripts if _is_newer(dialect, each, begun - _CLOCK_ERROR))]


def _is_newer(dialect: Dialect, transcript: Transcript, then: datetime) -> bool:
    """True if the transcript was written to after `then`.  A database holds many sessions: the times of rows count."""
    if transcript.path.suffix in _DATABASE:
        return dialect.last_written(transcript) >= then
    return datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC) >= then


def _update_brief(vault: Vault, session_id: str) -> None:
    """Update the brief: for clients with hooks, the hooks do this."""
    try:
        problem = update_brief(vault, session_id, redact=redact_of(vault.settings.secrets)).problem
    except CrucibleError as error:
        problem = str(error)
    if problem:
        warn(problem)


def _bookmark(vault: Vault, now: Session, plan: _Plan, begun: datetime, code: int) -> None:
    """Bookmark a paused session if something was done in it, unless the client has already done so."""
    if now.status is not Status.PAUSED or not has_news(plan.session, now):
        return
    last = latest(vault.root, now.id)
    if last is None or last.at < begun or last.why is StopReason.TASK:
        why = StopReason.DIED if code < 0 else StopReason.ENDED
        redact = redact_of(vault.settings.secrets)
        make_bookmark(vault, now, why, now=datetime.now(UTC), redact=redact, folder=plan.folder)
