"""Ask on the terminal which candidates of a session to keep: numbers tick, letters act."""

from __future__ import annotations

import os
import shutil

import click

from crucible.cli.command_agent import human_is_there
from crucible.cli.options import Door
from crucible.cli.output import clean, clean_line, given_width, say, warn
from crucible.cli.table_output import cut_to
from crucible.commands.capture.candidates import PROMPTED, Candidate, CaptureProposal
from crucible.commands.capture.question import (
    Ask,
    Offer,
    OfferAnswer,
    TypedAction,
    TypedLine,
    read_typed,
    set_preference,
)
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import load_vault_settings
from crucible.documents.markdown.containment import normal, normal_line
from crucible.vault.notes.vault import Vault

_LABEL = {"adr": "ADR", "self_correction": "self-correction"}
_LONGEST_SHOWN = 160


def terminal_ask(door: Door, vault: Vault) -> Ask | None:
    """A function that asks the user; None without a terminal or if an agent runs it."""
    return (lambda offer: _Dialogue(offer, vault).run()) if human_is_there(door) else None


def lines_of(number: int, proposal: CaptureProposal, *, ticked: bool) -> tuple[str, str]:
    """A candidate's line, `1 ✓ [decision] …`, and its reason ("" if the title says it already)."""
    candidate = proposal.candidate
    label = _LABEL.get(candidate.kind.value, candidate.kind.value)
    mark = "✓" if ticked else "?"
    return f"{number:>3} {mark} [{label}] {candidate.summary}", _reason_of(proposal)[:_LONGEST_SHOWN]


def _reason_of(proposal: CaptureProposal) -> str:
    """The item that repeats it, else the first line of its cause, reason or fix."""
    candidate = proposal.candidate
    if proposal.repeats:
        return f"known already: knowledge/{proposal.repeats}.md"
    why = candidate.detail.removeprefix("Why: ").partition("\n\n")[0]
    lines = (" ".join(text.split()) for text in (candidate.cause, why, candidate.fix))
    return next((line for line in lines if line and line != candidate.summary), "")


class _Dialogue:
    """One question and its answer."""

    def __init__(self, offer: Offer, vault: Vault) -> None:
        self._offer, self._vault = offer, vault
        self._shown = list(offer.proposals)
        self._ticked = frozenset(at for at, one in enumerate(self._shown) if one.preselected)

    def run(self) -> OfferAnswer:
        """Ask until there is an answer; leaving gives an empty one."""
        try:
            while True:
                self._draw()
                typed = self._read()
                if (answer := self._done(typed)) is not None:
                    return answer
        except (click.Abort, EOFError, KeyboardInterrupt):
            say("")
            say("nothing is decided; `cru capture` lists them again")
            return OfferAnswer()

    def _done(self, typed: TypedLine) -> OfferAnswer | None:
        """The answer, or None if the input only changed the question."""
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
                _prefer(self._vault)
            case TypedAction.UNKNOWN:
                say(typed.why, style="yellow")
        return None

    def _draw(self) -> None:
        offer, width = self._offer, given_width() or shutil.get_terminal_size().columns
        say("")
        what = f"Task {offer.task} is done" if offer.task else f"Worth keeping of “{offer.title}”"
        say(cut_to(clean_line(f"{what}{', and this may be worth keeping' if offer.task else ''}:"), width))
        for at, one in enumerate(self._shown):
            line, detail = lines_of(at + 1, one, ticked=at in self._ticked)
            say(cut_to(clean_line(line), width))
            if detail:
                say(cut_to(clean_line(f"      → {detail}"), width))
        defer = "  [d]efer to the session's end" if offer.task else ""
        say(f"[s]ave {len(self._ticked)} ticked  [e]dit N  s[k]ip all  [p]references{defer}  [q] not now")

    def _read(self) -> TypedLine:
        asked = "A letter, or numbers to tick and untick"
        text = click.prompt(asked, default="", show_default=False, err=True)
        return read_typed(str(text), len(self._shown), deferrable=bool(self._offer.task))

    def _edit(self, at: int) -> None:
        one = self._shown[at]
        edited = _edited(one.candidate)
        if edited is not None:
            self._shown[at] = one._replace(candidate=edited)
            self._ticked |= {at}


def _edited(candidate: Candidate) -> Candidate | None:
    """The candidate as the user edited it, in an editor if one is configured; None if unchanged."""
    if os.environ.get("VISUAL", "").strip() or os.environ.get("EDITOR", "").strip():
        try:
            text = click.edit(f"{candidate.summary}\n\n{candidate.detail}\n", extension=".md")
        except click.ClickException as error:
            warn(f"{clean_line(error.format_message())}")
            return None
        except (OSError, UnicodeError) as error:  # a full disk; an editor that saved something else than text
            warn(f"{clean_line(str(error))}; it stays as it was")
            return None
        if text is None:
            return None
        summary, _, detail = normal(text).partition("\n")
    else:
        summary = click.prompt("Summary", default=clean_line(candidate.summary), err=True)
        detail = click.prompt(
            "Detail",
            default=clean(candidate.detail).replace("\n", " "),
            show_default=bool(candidate.detail),
            err=True,
        )
    if not normal_line(summary):
        say("without a summary it stays as it was", style="yellow")
        return None
    return candidate._replace(summary=normal_line(summary), detail=normal(detail))


def _prefer(vault: Vault) -> None:
    """Show the vault's preferences and change the two about questions; a file error is one line."""
    try:
        _change_preferences(vault)
    except CrucibleError as error:
        warn(error)


def _change_preferences(vault: Vault) -> None:
    while True:
        settings = load_vault_settings(vault.root).capture
        friction = "/".join(map(str, settings.friction))
        say("")
        say("Preferences of this vault, in .crucible/config.toml under [capture]:")
        say(f"  1 prompt_on_end = {str(settings.prompt_on_end).lower()}: ask at a session's end")
        say(
            f"  2 min_confidence = {settings.min_confidence:g}: less sure is not proposed; you are asked from {PROMPTED:g} on"
        )
        say(
            f"    silent = {str(settings.silent).lower()}, deduplication = {str(settings.deduplicate).lower()}, budget = {friction}"
        )
        typed = str(
            click.prompt("1 or 2 changes it, Enter goes back", default="", show_default=False, err=True)
        ).strip()
        if typed not in ("1", "2"):
            return
        if typed == "1":
            set_preference(vault.root, "prompt_on_end", not settings.prompt_on_end)
            continue
        share = click.prompt("From 0 to 1", type=click.FloatRange(0, 1), default=settings.min_confidence, err=True)
        set_preference(vault.root, "min_confidence", float(share))
