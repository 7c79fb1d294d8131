"""What came of a session's candidates, told: as text for a reader, as JSON for a program."""

from __future__ import annotations

from crucible.cli.capturing_dialogue import lines_of
from crucible.cli.output import say, write, write_json
from crucible.commands.capture.candidates import Proposal, Way
from crucible.commands.capture.capture import Captured
from crucible.commands.capture.capture_log import State
from crucible.commands.capture.friction import Interaction
from crucible.commands.capture.saving import KEPT_AS, Kept
from crucible.vault.notes.vault import Vault


def write_captured(vault: Vault, captured: Captured) -> None:
    """A line of data for each thing that was kept or waits for an answer; what to do next on stderr."""
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
    for problem in captured.problems:
        say(f"cru: {problem}", style="yellow")
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
    """The same in a few lines of talk, for a command that does something else: what was kept, and how many wait."""
    for kept in captured.kept:
        say(_kept_line(vault, kept))
    for problem in captured.problems:
        say(f"cru: {problem}", style="yellow")
    waiting = len(captured.suggested)
    if waiting:
        thing = "one thing waits" if waiting == 1 else f"{waiting} things wait"
        say(f"{thing} for your word: `cru capture {captured.session}`")


def _kept_line(vault: Vault, kept: Kept) -> str:
    candidate = kept.proposal.candidate
    what = KEPT_AS[candidate.kind]
    if kept.said.state is State.KEPT and kept.path:
        return f"kept {what}: {candidate.summary} → {vault.relative(kept.path)}"
    return f"not kept, {what}: {candidate.summary}: {kept.line}"


# --- for programs ----------------------------------------------------------------------------------------------------


def write_captured_json(vault: Vault, captured: Captured) -> None:
    """All of it; `number` is what `--accept` takes, and so is `candidate`."""
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
                    "asked_about": one.way is not Way.LIST,
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


def _proposal(one: Proposal) -> dict[str, object]:
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


def _kept(vault: Vault, one: Kept) -> dict[str, object]:
    return {
        **_proposal(one.proposal),
        "state": one.said.state.value,
        "id": one.said.item or None,
        "path": vault.relative(one.path) if one.path else None,
        "silent": one.said.silent,
        "why": one.line or None,
    }
