"""`cru knowledge capture`: find and keep what is worth remembering from a session."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime

import click

from crucible.cli.captured_data import write_captured_data
from crucible.cli.command_agent import ask_first, with_option
from crucible.cli.environment import human_is_there
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import Door, flag, format_option, is_data, one_of
from crucible.cli.output import clean, clean_line, given_width, say, warn, write
from crucible.cli.recall_engine import similar_here
from crucible.cli.table_output import cut_to
from crucible.cli.vault_access import folder_of, load_note, newest_here, open_vault
from crucible.commands.capture.candidates import PROMPTED, Candidate, CaptureProposal
from crucible.commands.capture.capture import Captured, Occasion, capture_session
from crucible.commands.capture.capture_log import CaptureState
from crucible.commands.capture.question import (
    Ask,
    Interaction,
    Offer,
    OfferAnswer,
    QuestionBudget,
    TypedAction,
    TypedLine,
    parse_accept,
    read_typed,
    set_preference,
)
from crucible.commands.capture.saving import KEPT_AS, KeptCandidate
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import load_vault_settings
from crucible.core.text import counted
from crucible.documents.markdown.containment import normal, normal_line
from crucible.memory.knowledge.add_item import SimilarChoice
from crucible.vault.notes.vault import Vault

_LABEL = {"adr": "ADR", "self_correction": "self-correction"}


def terminal_ask(door: Door, vault: Vault) -> Ask | None:
    """Return a function that asks the user; None without a terminal or if an agent runs the command."""
    return (lambda offer: _Dialogue(offer, vault).run()) if human_is_there(door) else None


def lines_of(number: int, proposal: CaptureProposal, *, ticked: bool) -> tuple[str, str]:
    """Return a candidate's line, `1 ✓ [decision] …`, and its reason ("" if the title already says it)."""
    candidate = proposal.candidate
    mark, label = "✓" if ticked else "?", _LABEL.get(candidate.kind.value, candidate.kind.value)
    return f"{number:>3} {mark} [{label}] {candidate.summary}", _reason_of(proposal)[:160]


def _reason_of(proposal: CaptureProposal) -> str:
    """Return the item that already says this, else the first line of the candidate's cause, reason or fix."""
    candidate = proposal.candidate
    if proposal.repeats:
        return f"already known: knowledge/{proposal.repeats}.md"
    why = candidate.detail.removeprefix("Why: ").partition("\n\n")[0]
    lines = (" ".join(text.split()) for text in (candidate.cause, why, candidate.fix))
    return next((line for line in lines if line and line != candidate.summary), "")


class _Dialogue:
    """Asks about the candidates of one session."""

    def __init__(self, offer: Offer, vault: Vault) -> None:
        self._offer, self._vault = offer, vault
        self._shown = list(offer.proposals)
        self._ticked = frozenset(at for at, one in enumerate(self._shown) if one.preselected)

    def run(self) -> OfferAnswer:
        """Ask until there is an answer; it is empty if the user quits."""
        try:
            while True:
                self._draw()
                if (answer := self._done(self._read())) is not None:
                    return answer
        except (click.Abort, EOFError, KeyboardInterrupt):
            say("")
            say('nothing saved or skipped; "cru knowledge capture" lists them again')
            return OfferAnswer()

    def _done(self, typed: TypedLine) -> OfferAnswer | None:
        """Return the answer, or None if the input only changed what is shown."""
        keys = tuple(one.key for one in self._shown)
        match typed.act:
            case TypedAction.SAVE:
                chosen = tuple(one for at, one in enumerate(self._shown) if at in self._ticked)
                rest = tuple(key for at, key in enumerate(keys) if at not in self._ticked)
                return OfferAnswer(chosen, rest)
            case TypedAction.SKIP:
                return OfferAnswer(skipped=keys)
            case TypedAction.DEFER:
                return OfferAnswer(deferred=keys)
            case TypedAction.LATER:
                return OfferAnswer()
            case TypedAction.TOGGLE:
                self._ticked ^= frozenset(typed.at)
            case TypedAction.EDIT:
                self._edit(typed.at[0])
            case TypedAction.PREFERENCES:
                _prefer(self._vault, self._offer.left)
            case TypedAction.UNKNOWN:
                say(typed.why, style="yellow")
        return None

    def _draw(self) -> None:
        offer, width = self._offer, given_width() or shutil.get_terminal_size().columns
        say("")
        what = f"Task {offer.task} is done" if offer.task else f"Knowledge from “{offer.title}”"
        say(cut_to(clean_line(f"{what}{'. Keep any of this?' if offer.task else ''}:"), width))
        for at, one in enumerate(self._shown):
            line, detail = lines_of(at + 1, one, ticked=at in self._ticked)
            say(cut_to(clean_line(line), width))
            if detail:
                say(cut_to(clean_line(f"      → {detail}"), width))
        defer = "  [d]efer to the session's end" if offer.task else ""
        say(f"[s]ave {len(self._ticked)} selected  [e]dit N  s[k]ip all  [p]references{defer}  [q] not now")

    def _read(self) -> TypedLine:
        text = click.prompt("A letter, or numbers to select and deselect", default="", show_default=False, err=True)
        return read_typed(str(text), len(self._shown), deferrable=bool(self._offer.task))

    def _edit(self, at: int) -> None:
        if (edited := _edited(self._shown[at].candidate)) is not None:
            self._shown[at] = self._shown[at]._replace(candidate=edited)
            self._ticked |= {at}


def _edited(candidate: Candidate) -> Candidate | None:
    """Let the user edit a candidate, in an editor if one is configured; None if unchanged."""
    if os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip():
        try:
            text = click.edit(f"{candidate.summary}\n\n{candidate.detail}\n", extension=".md")
        except click.ClickException as error:
            warn(clean_line(error.format_message()))
            return None
        except (OSError, UnicodeError) as error:  # a full disk, or the editor saved a file that is not text
            warn(f"{clean_line(str(error))}; unchanged")
            return None
        if text is None:
            return None
        summary, _, detail = normal(text).partition("\n")
    else:
        summary = click.prompt("Summary", default=clean_line(candidate.summary), err=True)
        detail = clean(candidate.detail).replace("\n", " ")
        detail = click.prompt("Detail", default=detail, show_default=bool(candidate.detail), err=True)
    if not normal_line(summary):
        say("empty summary; unchanged", style="yellow")
        return None
    return candidate._replace(summary=normal_line(summary), detail=normal(detail))


def _prefer(vault: Vault, left: int) -> None:
    """Show the vault's preferences and let the user change them; errors are reported in one line."""
    try:
        while _change_preference(vault, left):
            pass
    except CrucibleError as error:
        warn(error)


def _change_preference(vault: Vault, left: int) -> bool:
    """Show the preferences and what is left of the budget, and change one; returns False if the user goes back."""
    settings = load_vault_settings(vault.root).capture
    friction = "/".join(map(str, settings.friction))
    on_end, silent, unique = (str(on).lower() for on in (settings.prompt_on_end, settings.silent, settings.deduplicate))
    least = f"{settings.min_confidence:g}"
    say("")
    say("Preferences of this vault, in .crucible/config.toml under [capture]:")
    say(f"  1 prompt_on_end = {on_end}: ask at a session's end")
    say(f"  2 min_confidence = {least}: propose nothing below this; ask from {PROMPTED:g}")
    say(f"    silent = {silent}, deduplication = {unique}, budget = {friction}, {left} left")
    typed = str(click.prompt("1 or 2 to change, Enter to go back", default="", show_default=False, err=True)).strip()
    if typed == "1":
        set_preference(vault.root, "prompt_on_end", not settings.prompt_on_end)
    elif typed == "2":
        share = click.prompt("From 0 to 1", type=click.FloatRange(0, 1), default=settings.min_confidence, err=True)
        set_preference(vault.root, "min_confidence", float(share))
    return typed in ("1", "2")


def write_captured(vault: Vault, captured: Captured) -> None:
    """Write a line for each candidate that was kept or is suggested, and the next step to stderr."""
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
        say(f'{len(captured.skipped)} skipped; "cru knowledge capture {captured.session} --again" proposes them again')
    if captured.deferred:
        say(f"{len(captured.deferred)} deferred to the session's end")
    if captured.suggested:
        say(_budget_line(captured.budget))
        say(
            f'"cru knowledge capture {captured.session} --accept 1,…" keeps these and skips the rest; --accept also takes all or none'
        )
    elif not (captured.kept or captured.silent or captured.skipped or captured.problems):
        say(f"{captured.session}: nothing to keep")


def _budget_line(budget: QuestionBudget) -> str:
    """Say how much of the question budget is left at the session's end."""
    if not budget.allows(Interaction.CAPTURE_PROMPT):
        return f"The session's question budget is used up ({budget.limit} points): nothing more is asked at its end."
    return f"{budget.left} of {counted(budget.limit, 'point')} of the session's question budget left"


def say_captured(vault: Vault, captured: Captured) -> None:
    """Report what was kept and how many candidates are pending; used by other commands."""
    for kept in captured.kept:
        say(_kept_line(vault, kept))
    warn(*captured.problems)
    if waiting := len(captured.suggested):
        thing = "one candidate waits" if waiting == 1 else f"{waiting} candidates wait"
        say(f'{thing} for your decision: "cru knowledge capture {captured.session}"')


def _kept_line(vault: Vault, kept: KeptCandidate) -> str:
    candidate, what = kept.proposal.candidate, KEPT_AS[kept.proposal.candidate.kind]
    if kept.record.state is CaptureState.KEPT and kept.path:
        return f"kept {what}: {candidate.summary} → {vault.relative(kept.path)}"
    return f"not kept, {what}: {candidate.summary}: {kept.line}"


@click.command
@click.argument("session", metavar="[ID]", type=SESSION, required=False, envvar="CRU_SESSION")
@click.option(
    "--accept",
    metavar="all|none|1,3",
    help="Keep these candidates (1,3 or 2-4), skip the others, and do not ask.",
)
@click.option("--task", metavar="TASK", default="", help="Only candidates from this task of the session.")
@click.option(
    "--if-alike",
    "choice",
    type=one_of(SimilarChoice),
    help="How to handle a candidate similar to a knowledge item; by default it is not kept.",
)
@flag("--again", "Include candidates that were skipped before.")
@with_option
@flag("--dry-run", "List candidates; keep and record nothing.")
@format_option()
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
    """Find knowledge in a session, and choose what to keep.

    \b
    - Kept without asking: what you or an agent recorded on purpose,
      decision records (ADRs), measurements, and tests that passed after the
      agent's first fix.
    - On a terminal you are asked about the rest. Elsewhere candidates are
      listed, and --accept keeps the ones you choose.
    - Answered candidates are not proposed again; known ones are not
      preselected.
    - Without ID, uses the session in CRU_SESSION, else the newest one of
      this project.

    Exit code: 1 if something that you accepted, or everything, could not be kept.

    \b
      cru knowledge capture
      cru knowledge capture 2026-11-21-add-rate-limiter --dry-run
      cru knowledge capture 2026-11-21-add --with claude
      cru knowledge capture 2026-11-21-add --accept 1,3
      cru knowledge capture 2026-11-21-add --accept all --format json
    """
    if accept is not None and dry_run:
        raise UsageError("--accept and --dry-run cannot be used together", "remove one of them")
    vault = open_vault(door)
    note = load_note(vault, session or newest_here(vault))
    ask_first(vault, [note.path], named)
    given = None if accept is None else _AcceptedByOption(accept)
    captured = capture_session(
        vault,
        note.path,
        now=datetime.now(UTC),
        ask=given or (terminal_ask(door, vault) if format_ == "text" else None),
        when=Occasion.ASKED,
        task=task,
        folder=folder_of(vault.root, note.session.project or ""),
        redact=redact_of(vault.settings.secrets),
        similar=similar_here(vault),
        choice=SimilarChoice(choice) if choice else None,
        free=given is not None,
        again=again,
        dry=dry_run,
    )
    if is_data(format_):
        write_captured_data(vault, captured, format_)
    else:
        write_captured(vault, captured)
    if given:
        given.check()
    has_failed = given.has_failed(captured) if given else bool(captured.problems and not captured.kept)
    return 1 if has_failed else 0


class _AcceptedByOption:
    """The answer given by `--accept`.  `check` raises errors in the option after all other work is done."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._chosen: frozenset[str] | None = None
        self._error: UsageError | None = None

    def __call__(self, offer: Offer) -> OfferAnswer:
        keys = [one.key for one in offer.proposals]
        try:
            self._chosen = frozenset(keys[place] for place in parse_accept(self._text, keys))
        except UsageError as error:
            self._error = error
            return OfferAnswer()

        chosen = tuple(one for one in offer.proposals if one.key in self._chosen)
        return OfferAnswer(chosen, tuple(key for key in keys if key not in self._chosen))

    def check(self) -> None:
        """Raise the option's error, even if there was nothing to accept."""
        if self._error:
            raise self._error
        if self._chosen is None:
            parse_accept(self._text, ())

    def has_failed(self, captured: Captured) -> bool:
        """True if an accepted candidate could not be kept."""
        kept = [one for one in captured.kept if one.record.state in (CaptureState.KEPT, CaptureState.KNOWN)]
        return bool((self._chosen or frozenset()) - {one.proposal.key for one in kept})
