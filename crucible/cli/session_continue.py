"""Continue a session in a client: check it, start the client, then write down what it did.

The context is built from the note as it was; then the note becomes active, the client runs, its rows are imported, and
the note is paused or ended.  Whatever goes wrong, the note is not left active.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.cli.environment import user_settings
from crucible.cli.output import say, warn
from crucible.cli.session_context import build_context, folder_for, native_of, say_resume_problem
from crucible.cli.session_stop import finish_quietly
from crucible.cli.vault_access import here
from crucible.clients.client import LONGEST_ARGUMENT, ClientProfile
from crucible.clients.launch.session_marks import RESUMING_ENVIRONMENT, resume_mark
from crucible.clients.launch.terminal import ClientFailed, check_installed, ending_of, run_client, unbroken
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS, Dialect
from crucible.commands.imports.import_report import ImportOptions, UnreadableRow
from crucible.commands.imports.imports import import_transcripts
from crucible.commands.record.entries import Cleaning
from crucible.commands.resume.continue_session import (
    Chosen,
    Native,
    Start,
    check_goes_on,
    choose_client,
    confirmation,
    drift_lines,
    drift_prompt,
    last_client,
    newest_source,
    plan_start,
)
from crucible.commands.resume.resume_context import find_material
from crucible.commands.resume.resume_material import Material, check_at_rest, find_extent
from crucible.commands.resume.resume_status import End, has_news, settle, wake
from crucible.core.errors import CrucibleError, SessionNotFound, TranscriptError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.session import Session, Status
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.client_state import is_running
from crucible.integrations.hooks.sync import CLIENTS as HOOKED
from crucible.memory.bookmarks.bookmark import StopReason, latest
from crucible.memory.bookmarks.make_bookmark import mark
from crucible.memory.bookmarks.resume_tickets import issue_ticket, name_now, names_before
from crucible.memory.summary.brief_text import update_brief
from crucible.vault.events.spool import spool_folder
from crucible.vault.events.spool_reader import Spooled, load_spool
from crucible.vault.notes.session_lock import SessionHeld, SessionLock, hold_session, is_held
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_CLOCKS = timedelta(seconds=2)
"""A file system may round a time down."""
_DATABASE = (".db", ".sqlite")


def fold(
    vault: Vault,
    session_id: str,
    client: ClientProfile | None,
    native: Native | None,
    begun: datetime,
    *,
    is_good: bool,
) -> None:
    """Fold what was written since `begun`: the client's own, or any client's where a command line may have run one.

    `is_good` says that it ended well.  What cannot be read is told, and is left for the next import.
    """
    options = ImportOptions(
        now=datetime.now(UTC),
        projects=user_settings().projects,
        client=Client.ENDED if is_good else Client.DIED,
        only_session=session_id,
    )
    for dialect in [DIALECTS[client.name]] if client else DIALECTS.values():
        try:
            paths = _written(dialect, native, begun)
            if paths:
                report = import_transcripts(vault, dialect, paths, options=options)
                _tell(report.unreadable, dialect)
        except (TranscriptError, OSError) as error:
            warn(f"{dialect.title}'s transcripts: {error}")


def _tell(rows: Sequence[UnreadableRow], dialect: Dialect) -> None:
    for row in rows:
        say(f"{row.path}:{row.line or 1}: {row.reason}", style="yellow")
    if any(not row.line for row in rows):
        say(
            f"     nothing is lost: mend it, then `cru import {dialect.name}` writes down what was done",
            style="yellow",
        )


def _written(dialect: Dialect, native: Native | None, begun: datetime) -> list[Path]:
    """The client's files that were written to since; those of its own session alone, when that went on."""
    folder = dialect.default_folder(os.environ, Path(os.path.expanduser("~")))
    looked: Iterable[Transcript] = [native.transcript] if native else []
    if not native and folder.is_dir():
        looked = dialect.find(folder)
    return [*dict.fromkeys(each.path for each in looked if _is_younger(dialect, each, begun - _CLOCKS))]


def _is_younger(dialect: Dialect, transcript: Transcript, then: datetime) -> bool:
    """A database holds many sessions, and its newest rows may lie in a file beside it: there the rows tell."""
    if transcript.path.suffix in _DATABASE:
        last = dialect.reach(transcript).last
        return last is None or last >= then
    return datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC) >= then


# --- what hooks tell -------------------------------------------------------------------------------------------------


def _running_client(root: Path, session: Session) -> str:
    """The client that runs the session, by what its hooks told; "" when none does."""
    running = (each for each in _spooled(root, session) if not each.has_ended and is_running(each))
    return next((f"{each.client} {each.session}" for each in running), "")


def _spool_files(root: Path, session: Session) -> list[Path]:
    """What hooks write into while the session runs."""
    return [Path(spool_folder(str(root), each.client), f"{each.session}.jsonl") for each in _spooled(root, session)]


def _spooled(root: Path, session: Session) -> Iterable[Spooled]:
    for client in HOOKED:
        try:
            yield from (each for each in load_spool(root, client) if f"{client}:{each.session}" in session.sources)
        except CrucibleError:
            continue


_MARK = 300
"""Bytes of a prompt's first line, at most."""
_SHOWN = 10
"""Changed files that are named."""


class ResumeOptions(NamedTuple):
    """The options of `cru session resume`; `named` is the client, `more` are its own arguments."""

    named: str | None
    native: bool
    fresh: bool
    budget: int | None
    force: bool
    goal: str
    more: tuple[str, ...]


class _Plan(NamedTuple):
    """All that is known before the client starts."""

    session: Session
    chosen: Chosen
    program: str
    native: Native | None
    folder: Path
    material: Material
    terminal: bool


def go_on(vault: Vault, path: Path, options: ResumeOptions) -> None:
    """Run a client with the session and wait for it; raises what keeps it from starting, and `ClientFailed`."""
    session = vault.read(path).session
    check_goes_on(session, force=options.force)
    chosen = choose_client(session, options.named)
    now = datetime.now(UTC)
    _check_earlier_names(vault, session)
    with hold_session(vault.root, session.id, client=chosen.name, now=now, force=options.force) as held:
        # Whoever held it until now may have written.
        session = vault.read(path).session
        check_goes_on(session, force=options.force)
        if not options.force:
            _check_at_rest(vault, session, path, now)
        plan = _plan(vault, session, chosen, options, now)
        start = _start(vault, plan, options)
        _say(plan)
        _run(vault, path, plan, start, held)


def _check_earlier_names(vault: Vault, session: Session) -> None:
    """Who holds it may have begun before it was renamed."""
    others = vault.session_ids()
    for name in names_before(vault.root, session.id):
        if name not in others and is_held(vault.root, name):
            hint = "go on there, or end it there first"
            raise SessionHeld(f"{session.id}: held by who began when it was called {name}", hint)


def _check_at_rest(vault: Vault, session: Session, path: Path, now: datetime) -> None:
    if session.status is Status.ACTIVE:
        idle = timedelta(minutes=vault.settings.idle_minutes)
        files = [path, *_spool_files(vault.root, session)]
        check_at_rest(session, files, _running_client(vault.root, session), now=now, idle=idle)


def _plan(vault: Vault, session: Session, chosen: Chosen, options: ResumeOptions, now: datetime) -> _Plan:
    program = check_installed(chosen.program, os.environ, chosen.hint)
    native = _native(session, chosen, options)
    known = native or native_of(session, last_client(session))
    # A client finds its own session only where that began.
    folder = native.folder if native else folder_for(session, known)
    if folder is None and options.force:
        folder = here()
    if folder is None:
        raise CrucibleError(
            f"{session.id}: nothing tells where project {session.project!r} lies on this machine",
            "go to its folder, or name that in your settings under [projects]; --force goes on here",
        )
    material = find_material(vault, session, folder, now, goal=options.goal)
    terminal = all(os.isatty(each) for each in (0, 1))
    return _Plan(session, chosen, program, native, folder, material, terminal)


def _native(session: Session, chosen: Chosen, options: ResumeOptions) -> Native | None:
    """The client's own session to go on in.  What another client did since, it does not know: then it is asked for."""
    if options.fresh or (not options.native and chosen.source != last_client(session)):
        return None
    found = native_of(session, chosen.source) if chosen.client else None
    if found and found.folder:
        return found
    if options.native:
        if not chosen.client or not newest_source(session, chosen.source):
            why = f"{chosen.name} has no session of its own that this one holds"
        elif found is None:
            why = f"{chosen.client.title} has no transcript of it on this machine"
        else:
            why = f"the folder in which {chosen.client.title} began is gone"
        raise CrucibleError(f"{session.id}: {why}", "leave --native out: a new session begins with the context")
    return None


def _say(plan: _Plan) -> None:
    say_resume_problem(plan.session)
    lines = drift_lines(plan.material.drift)
    for line in lines[:_SHOWN]:
        say(f"  {line}", style="yellow")
    if len(lines) > _SHOWN:
        say(f"  and {len(lines) - _SHOWN} more", style="yellow")
    say(confirmation(plan.material))


# --- what the client is told -----------------------------------------------------------------------------------------


def _start(vault: Vault, plan: _Plan, options: ResumeOptions) -> Start:
    """The command line with the prompt, whose first line says to importers whose session it is."""
    # A human may have written anything into his note, and an argument is shown to everybody on the machine.
    clean = Cleaning(redact_of(vault.settings.secrets))
    if plan.native:
        prompt = clean.text(drift_prompt(plan.material.drift, terminal=plan.terminal, goal=options.goal))
    else:
        prompt = _fresh(vault, plan, options)
    phase = find_extent(plan.session).phase
    # Also where nothing is said: by its ticket a session is found that is renamed while the client runs.
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
    return _started(plan, options, prompt)


def _started(plan: _Plan, options: ResumeOptions, prompt: str) -> Start:
    return plan_start(plan.chosen, prompt, native=plan.native, terminal=plan.terminal, more=options.more)


def _fresh(vault: Vault, plan: _Plan, options: ResumeOptions) -> str:
    """The context, cut by its budget until an argument can hold it where it has to be one."""
    budget = options.budget or vault.settings.resume.budget
    for _ in range(4):
        context = build_context(vault, plan.material, budget)
        size = _started(plan, options, context.text).longest + _MARK
        if size <= LONGEST_ARGUMENT:
            return context.text
        budget = max(1, min(budget, context.tokens) * LONGEST_ARGUMENT * 9 // (size * 10))
        warn(f"an argument holds 128 KB, so the context is cut to {budget:,} tokens")
    raise UsageError(
        f"{plan.session.id}: its context is larger than an argument can be, {size // 1024} of 128 KB",
        "without a terminal it is standard input, which holds any size: "
        f"cru session resume {plan.session.id} --print | CLIENT",
    )


# --- the client, and after it ----------------------------------------------------------------------------------------


def _run(vault: Vault, path: Path, plan: _Plan, start: Start, held: SessionLock) -> None:
    begun, count = datetime.now(UTC), time.monotonic()
    code = 1
    with unbroken() as client_is_gone:
        woken = wake(vault, path)
        end = End(woken, is_folded=plan.chosen.client is not None)
        try:
            code = _client(vault, plan, start, held, client_is_gone)
            # Somebody may have set the clock back meanwhile.
            begun = min(begun, datetime.now(UTC) - timedelta(seconds=time.monotonic() - count))
            path = _found(vault, path, plan)
            fault = ending_of(code)
            fault = fault and f"{plan.chosen.name} {fault}"
            end = end._replace(fault=fault, met=vault.read(path).session)
            fold(vault, note_name(path.name), plan.chosen.client, plan.native, begun, is_good=not fault)
        finally:
            # Whatever went wrong, it is not left active.
            now = settle(vault, _found(vault, path, plan), end).session
        _bookmark(vault, now, plan, begun, code)
        if has_news(plan.session, now):
            _brief(vault, now.id)
            finish_quietly(vault, vault.find(now.id))
    if end.fault:
        hint = f"the session is {now.status}: `cru session resume {now.id}` goes on with it"
        raise ClientFailed(end.fault, hint)


def _client(vault: Vault, plan: _Plan, start: Start, held: SessionLock, is_gone: Callable[[], None]) -> int:
    told = _environment(vault, plan)
    try:
        return run_client(plan.program, start.command, plan.folder, told, stdin=start.stdin, started=held.started)
    finally:
        is_gone()
        held.ended()


def _found(vault: Vault, path: Path, plan: _Plan) -> Path:
    """Where the note is now: somebody may have moved it to another folder meanwhile, or renamed the session."""
    if path.exists():
        return path
    try:
        return vault.find(name_now(vault.root, plan.session.id))
    except SessionNotFound as error:
        kind = plan.chosen.client.name if plan.chosen.client else "auto"
        hint = f"what the client did is in its own log: `cru import {kind}` writes it into a note"
        raise SessionNotFound(f"{plan.session.id}: its note is gone", hint) from error


def _environment(vault: Vault, plan: _Plan) -> dict[str, str]:
    """The client's hooks, and what it logs, are about this vault and this session."""
    told = {**os.environ, "CRUCIBLE_VAULT": str(vault.root), RESUMING_ENVIRONMENT: plan.session.id}
    told.pop("CRU_SESSION", None)  # it may be another one
    return told if plan.chosen.client else told | {"CRU_SESSION": plan.session.id}


def _brief(vault: Vault, session_id: str) -> None:
    """Bring it up to date, as hooks do where a client has them."""
    try:
        problem = update_brief(vault, session_id, redact=redact_of(vault.settings.secrets)).problem
    except CrucibleError as error:
        problem = str(error)
    if problem:
        warn(problem)


def _bookmark(vault: Vault, now: Session, plan: _Plan, begun: datetime, code: int) -> None:
    """Where the session stands now, when it was gone on with and nobody told that already."""
    if now.status is not Status.PAUSED or not has_news(plan.session, now):
        return
    last = latest(vault.root, now.id)
    if last is None or last.at < begun or last.why is StopReason.TASK:
        why = StopReason.DIED if code < 0 else StopReason.ENDED
        redact = redact_of(vault.settings.secrets)
        mark(vault, now, why, now=datetime.now(UTC), redact=redact, folder=plan.folder)
