"""`cru capture`: find and keep what is worth remembering of a session."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from crucible.cli.capture_dialogue import lines_of, terminal_ask
from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import Door, flag, format_option, one_of
from crucible.cli.output import say, warn, write, write_json
from crucible.cli.recall_engine import similar_here
from crucible.cli.vault_access import folder_of, load_note, newest_here, open_vault
from crucible.commands.capture.candidates import CaptureProposal, Handling
from crucible.commands.capture.capture import Captured, Occasion, capture_session
from crucible.commands.capture.capture_log import CaptureState
from crucible.commands.capture.question import Interaction, Offer, OfferAnswer, accepted
from crucible.commands.capture.saving import KEPT_AS, KeptCandidate
from crucible.core.errors import UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.memory.knowledge.add_item import SimilarChoice
from crucible.vault.notes.vault import Vault


def write_captured(vault: Vault, captured: Captured) -> None:
    """Write a line for each candidate that was kept or is suggested; the next step goes to stderr."""
    for kept in captured.kept:
        write(_kept_line(vault, kept))
    for one in captured.silent:
        write(f"would keep {KEPT_AS[one.candidate.kind]}: {one.candidate.summary}")
    for number, one in enumerate(captured.suggested, 1):
        line, detail = lines_of(number, one, ticked=one.preselected)
        write(f"{line} ({one.candidate.confidence:.2f})")
        if detail:
            write(f"      → {detail}")
    _say_rest(captured)


def _say_rest(captured: Captured) -> None:
    warn(*captured.problems)
    if captured.skipped:
        say(f"{len(captured.skipped)} skipped; `cru capture {captured.session} --again` brings them back")
    if captured.deferred:
        say(f"{len(captured.deferred)} put off to the session's end")
    if captured.suggested:
        if not captured.budget.allows(Interaction.CAPTURE_PROMPT):
            say("you are not asked: the questions of this session are used up")
        say(f"`cru capture {captured.session} --accept 1,…` keeps those and skips the rest; or `all`, `none`")
    elif not (captured.kept or captured.silent or captured.skipped or captured.problems):
        say(f"{captured.session}: nothing in it waits to be kept")


def say_captured(vault: Vault, captured: Captured) -> None:
    """Report in a few lines what was kept and how many candidates wait, for other commands."""
    for kept in captured.kept:
        say(_kept_line(vault, kept))
    warn(*captured.problems)
    waiting = len(captured.suggested)
    if waiting:
        thing = "one thing waits" if waiting == 1 else f"{waiting} things wait"
        say(f"{thing} for your word: `cru capture {captured.session}`")


def _kept_line(vault: Vault, kept: KeptCandidate) -> str:
    candidate = kept.proposal.candidate
    what = KEPT_AS[candidate.kind]
    if kept.said.state is CaptureState.KEPT and kept.path:
        return f"kept {what}: {candidate.summary} → {vault.relative(kept.path)}"
    return f"not kept, {what}: {candidate.summary}: {kept.line}"


# --- for programs ----------------------------------------------------------------------------------------------------


def write_captured_json(vault: Vault, captured: Captured) -> None:
    """Write everything as JSON; `--accept` takes `number` and `candidate`."""
    budget = captured.budget
    write_json(
        {
            "session": captured.session,
            "kept": [_kept(vault, one) for one in captured.kept],
            "would_keep": [_proposal(one) for one in captured.silent],
            "suggested": [
                {
                    "number": number,
                    **_proposal(one),
                    "preselected": one.preselected,
                    "asked_about": one.way is not Handling.LIST,
                }
                for number, one in enumerate(captured.suggested, 1)
            ],
            "skipped": [_proposal(one) for one in captured.skipped],
            "deferred": [_proposal(one) for one in captured.deferred],
            "budget": {
                "limit": budget.limit,
                "spent": budget.spent,
                "left": budget.left,
                "prompts": budget.prompts,
            },
            "problems": list(captured.problems),
        }
    )


def _proposal(one: CaptureProposal) -> dict[str, object]:
    candidate, attribution = one.candidate, one.attribution
    return {
        "candidate": one.key,
        "kind": candidate.kind.value,
        "type": KEPT_AS[candidate.kind].value,
        "confidence": candidate.confidence,
        "summary": candidate.summary,
        "detail": candidate.detail,
        "cause": candidate.cause,
        "fix": candidate.fix,
        "finding": candidate.finding or None,
        "repeats": one.repeats or None,
        "phase": candidate.phase,
        "line": candidate.line,
        "source": candidate.source,
        "file": candidate.file or None,
        "attribution": None
        if attribution is None
        else {
            "category": attribution.category.value,
            "confidence": attribution.confidence,
            "preventable": attribution.preventable,
            "judge": attribution.judge,
        },
    }


def _kept(vault: Vault, one: KeptCandidate) -> dict[str, object]:
    return {
        **_proposal(one.proposal),
        "state": one.said.state.value,
        "id": one.said.item or None,
        "path": vault.relative(one.path) if one.path else None,
        "silent": one.said.silent,
        "why": one.line or None,
    }


@click.command
@click.argument("session", metavar="[ID]", type=SESSION, required=False, envvar="CRU_SESSION")
@click.option(
    "--accept",
    metavar="all|none|1,3",
    help="Keep these of the list (1,3 or 2-4) and skip the others; nothing is asked.",
)
@click.option("--task", metavar="TASK", default="", help="Only what this task of it found.")
@click.option(
    "--if-alike",
    "choice",
    type=one_of(SimilarChoice),
    help="What becomes of what is much like an item of knowledge; by default it is not kept, and the item is named.",
)
@flag("--again", "Also what was skipped before.")
@with_option
@flag("--dry-run", "Only list; keep nothing, ask nothing, note nothing.")
@format_option("text", "json")
@click.pass_obj
def capture(
    door: Door,
    /,
    session: str | None,
    accept: str | None,
    task: str,
    choice: str | None,
    named: str | None,
    format_: str,
    *,
    again: bool,
    dry_run: bool,
) -> int:
    """Find what is worth keeping of a session.

    Some candidates are kept without asking: what you or an agent recorded on purpose, decision records (ADRs), measurements of a command, and tests or programs that passed after the agent's first fix. On
    a terminal you are asked about the rest: a number ticks or unticks a candidate, a letter saves, edits, skips or shows preferences. Elsewhere they are listed, and --accept keeps those that you
    name. A candidate that you answered is not proposed again; one that an item of knowledge says already is not ticked.

    Without ID it is the session that CRU_SESSION names, else the newest one of the project that you stand in. The exit code is 1 when
    something that you accepted could not be kept.

    \b
      cru capture
      cru capture 2026-11-21-add-rate-limiter --dry-run
      cru capture 2026-11-21-add --with claude
      cru capture 2026-11-21-add --accept 1,3
      cru capture 2026-11-21-add --accept all --format json
    """
    if accept is not None and dry_run:
        raise UsageError("--accept and --dry-run exclude each other", "leave one of them out")
    vault = open_vault(door)
    note = load_note(vault, session or newest_here(vault))
    ask_first(vault, [note.path], named)
    redact = redact_of(vault.settings.secrets)
    given = None if accept is None else _AcceptedByOption(accept)
    told = capture_session(
        vault,
        note.path,
        now=datetime.now(UTC),
        ask=given or (terminal_ask(door, vault) if format_ == "text" else None),
        when=Occasion.ASKED,
        task=task,
        folder=folder_of(note.session.project or ""),
        redact=redact,
        similar=similar_here(vault),
        choice=SimilarChoice(choice) if choice else None,
        free=given is not None,
        again=again,
        dry=dry_run,
    )
    (write_captured_json if format_ == "json" else write_captured)(vault, told)
    if given:
        given.check()
    return 1 if given and given.is_in(told) else 0


class _AcceptedByOption:
    """The answer given by `--accept`; its errors are raised by `check`, after everything else is done."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chosen: frozenset[str] | None = None
        self._error: UsageError | None = None

    def __call__(self, offer: Offer) -> OfferAnswer:
        keys = [one.key for one in offer.proposals]
        try:
            at = accepted(self._text, keys)
        except UsageError as error:
            self._error = error
            return OfferAnswer()
        self._chosen = frozenset(keys[place] for place in at)
        chosen = tuple(one for one in offer.proposals if one.key in self._chosen)
        return OfferAnswer(chosen, tuple(key for key in keys if key not in self._chosen))

    def check(self) -> None:
        """Raise the error in the option, even if there was nothing to accept."""
        if self._error:
            raise self._error
        if self._chosen is None:
            accepted(self._text, ())

    def is_in(self, told: Captured) -> bool:
        """True if something that was accepted could not be kept."""
        kept = {one.proposal.key for one in told.kept if one.said.state in (CaptureState.KEPT, CaptureState.KNOWN)}
        return bool((self._chosen or frozenset()) - kept)
