"""`cru session learn`: extract cases from sessions and export them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import click

from crucible.analysis.failure_causes import TEMPLATE
from crucible.analysis.review.agent_questions import BUDGET, Agent
from crucible.cli.command_agent import agent_if_any, as_agent, ask_first, say_spent, user_budget
from crucible.cli.environment import absolute_path
from crucible.cli.id_arguments import SESSION
from crucible.cli.id_choices import choose_id
from crucible.cli.index_access import session_filters
from crucible.cli.learn_options import (
    CHOICES,
    JSONL,
    MARKDOWN,
    PUZZLE,
    WAYS,
    SelectedSessions,
    linked_sessions,
    select_sessions,
)
from crucible.cli.learn_report import (
    CaseTally,
    count_rows,
    propose_rules,
    say_exported,
    say_kept,
    say_puzzles,
    write_preview,
)
from crucible.cli.options import WORKERS, Door, flag, format_option, with_options, workers_of
from crucible.cli.output import PROBLEMS_FOUND, Show, bar, clean_line, say, warn, write_json_lines
from crucible.cli.vault_access import newest_here_named, open_vault
from crucible.clients.client import Answer
from crucible.commands.learn.case import Case, CaseStatus, CaseType, Puzzle
from crucible.commands.learn.case_folder import write_case_notes
from crucible.commands.learn.case_gathering import CaseFilter, Gatherer
from crucible.commands.learn.export import Export, export_files, export_stream
from crucible.commands.learn.gathering_processes import gather_all
from crucible.commands.learn.puzzle_cases import attribute, judge_case
from crucible.commands.learn.puzzle_files import exports_folder, write_puzzles
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.selection import Dedupe, Families, SelectedCases, Splits, parse_splits, select_cases
from crucible.commands.learn.training_rows import Shape
from crucible.core.errors import UsageError
from crucible.core.processes import Workers
from crucible.core.secrets.redaction import caching_redact, redact_of
from crucible.core.secrets.scanner import Redact
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import CASES, WORKFLOWS

_PATIENCE = 4
"""Maximum consecutive unanswered questions; after that, the agent is not asked again."""


class Improver:
    """Assigns categories to cases before export; `problems` counts cases that the agent could not judge."""

    def __init__(self, vault: Vault, redact: Redact, judge: Agent | None, *, by_rules: bool) -> None:
        self.redact = redact
        self.problems = 0
        self._agent = judge
        self._failed = 0
        self._by_rules = by_rules
        self._template = TEMPLATE.of(vault.settings)
        self._budget = user_budget() if judge else BUDGET

    def say_spent(self) -> None:
        """Report what the agent's answers cost."""
        say_spent(self._agent)

    def improved(self, case: Case, *, settled: bool = False) -> Case:
        """Return the case with its category; unchanged if `settled`, reviewed by the user or judged by an agent."""
        known = case.body.attribution if isinstance(case.body, Puzzle) else None
        is_judged = known is not None and not known.judge.startswith("rules")
        if settled or is_judged or case.review is not CaseStatus.PROPOSED:
            return case
        if self._agent is None or self._failed >= _PATIENCE:
            return attribute(case) if self._by_rules and not known else case
        # Each case gets the full time-out: a user who has hundreds judged expects to wait.
        agent = _Counted(self._agent.renewed().about("attribution", case.place.session))
        judged, problem = judge_case(case, agent, self.redact, self._template, self._budget)
        self._failed = 0 if agent.answered else self._failed + agent.asked
        if self._failed >= _PATIENCE:
            warn("the agent does not answer, so it will not be asked again")
        if problem:
            self.problems += 1
            warn(f"{case.id}: judged by rules: {problem}")
        return judged


class _Counted:
    """An agent wrapper that counts questions and answers."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self.asked = self.answered = 0

    def ask(self, prompt: str) -> Answer:
        self.asked += 1
        answer = self._agent.ask(prompt)
        self.answered += 1
        return answer


def improver_of(vault: Vault, redact: Redact, named: str | None, *, judge: bool, by_rules: bool) -> Improver:
    """Return the judge of cases: the agent if `judge` is set and one is configured, else the rules if either is set."""
    asked = agent_if_any(named, "--judge") if judge else None
    if judge and asked is None:
        say("no agent is configured, so built-in rules judge the causes of failures")
    agent = as_agent(asked, vault.root, "attribution") if asked else None
    return Improver(vault, redact, agent, by_rules=by_rules or judge)


_STDOUT = "-"


class _ExportOptions(NamedTuple):
    """The options for the form and the destination of an export."""

    export: str | None
    shape: str | None
    output: str | None
    split: str | None
    licence: str | None
    no_metadata: bool
    judge: bool
    named: str | None
    rules: str | None
    write: bool
    yes: bool
    force: bool


class _CaseSelection(NamedTuple):
    """The options that select cases and limit their number."""

    wanted: CaseFilter
    dedupe: Dedupe | None
    limit: int | None
    seed: int | None


@click.command
@click.argument("sessions", metavar="[ID]...", type=SESSION, nargs=-1)
@flag("--all", "Use all sessions, or all that match the filters.", "every")
@session_filters
@with_options(CHOICES)
@with_options(WAYS)
@with_options(WORKERS)
@format_option()
@click.pass_obj
def learn(
    door: Door,
    /,
    sessions: tuple[str, ...],
    *,
    every: bool,
    jobs: int | None,
    scheduler: str | None,
    copy: str | None,
    format_: str,
    **given: Any,
) -> int:
    """Extract learning cases: failures and fixes, corrections, decisions, delegated work and workflows.

    \b
    - Without --export, cases are only counted. "jsonl" writes training
      data, "markdown" one note per case in cases/ for review, "puzzle"
      puzzle files.
    - Cases that you edited or reviewed are exported as they are in cases/,
      without rejected ones.
    - Without ID, --type and --export use the newest session of this
      project; --all uses all sessions. Subagents are included.
    - --with first asks an agent what mattered. With --judge, it names the
      causes of failures instead.
    - Secrets are redacted again; exports outside the vault also omit e-mail
      addresses and user names in paths.

    Exit code: 3 if a note could not be read.

    \b
      cru session learn --all
      cru session learn --since 30d --export markdown
      cru session learn --all --accepted --export jsonl -o cases.jsonl
      cru session learn --all --export jsonl -o data --split train=0.9,test=0.1
      cru session learn 2026-11-21-add-rate-limiter --type puzzle --export puzzle
      cru session learn --all --rules
    """
    has_purpose = bool(given["export"] or given["types"])
    options = _ExportOptions(**{name: given.pop(name) for name in _ExportOptions._fields})
    workers = workers_of(jobs, scheduler, copy)
    selection = _selection(given)
    _check(options, selection, format_)
    _splits(selection, options)  # reports invalid options before the long work begins
    vault = open_vault(door)
    _check_place(vault, options.output)
    # A rule recurs across sessions, so all sessions are read by default.
    is_unselected = options.rules is not None and not sessions and not any(given.values())
    if not (sessions or every or is_unselected or any(given.values())):
        sessions = (newest_here_named(vault) if has_purpose else choose_id(door, "session"),)
    chosen = select_sessions(vault, sessions, given, every=every or is_unselected)
    if chosen.paths and not options.judge:
        ask_first(vault, chosen.paths, options.named)
    redact = caching_redact(redact_of(vault.settings.secrets))
    if options.rules is not None:
        is_whole = propose_rules(
            vault, chosen.paths, redact, options.rules, format_, write_file=options.write, yes=options.yes
        )
        return 0 if is_whole and chosen.complete else PROBLEMS_FOUND
    improve = improver_of(
        vault,
        redact,
        options.named,
        judge=options.judge,
        by_rules=options.export == MARKDOWN,  # skipped for row exports, where it would double the run time
    )
    gatherer = Gatherer(vault, redact, selection.wanted)
    seen = CaseTally(exporting=options.export is not None)
    with bar("learning") if chosen.paths else nullcontext(lambda *_: None) as show:
        picked = select_cases(
            _cases(gatherer, chosen, workers, seen, show), selection.dedupe, selection.limit, selection.seed
        )
        report = _export_cases(_LearnRun(vault, chosen, gatherer, seen, selection, options, improve), picked)
    report(format_, door)
    seen.report(picked.dropped)
    improve.say_spent()
    if selection.wanted.accepted and not seen.cases:
        say('none of these cases is accepted; list them with "cru case list", accept with "cru case accept"')
    return PROBLEMS_FOUND if seen.problems or not chosen.complete or improve.problems else 0


def _selection(given: dict[str, Any]) -> _CaseSelection:
    types = given.pop("types")
    wanted = CaseFilter(
        frozenset(map(CaseType, types)) or frozenset(CaseType),
        given.pop("min_tokens"),
        given.pop("max_tokens"),
        verified=given.pop("verified"),
        accepted=given.pop("accepted"),
    )
    if wanted.least is not None and wanted.most is not None and wanted.least > wanted.most:
        raise UsageError("--min-tokens is more than --max-tokens", "lower --min-tokens or raise --max-tokens")
    dedupe = given.pop("dedupe")
    return _CaseSelection(wanted, Dedupe(dedupe) if dedupe else None, given.pop("limit"), given.pop("seed"))


_GOES_WITH = {
    "shape": (JSONL,),
    "split": (JSONL,),
    "licence": (JSONL,),
    "no_metadata": (JSONL,),
    "output": (JSONL, PUZZLE),
    "force": (PUZZLE,),
    "judge": (JSONL, MARKDOWN),  # puzzle files contain no judgement
}


def _check(options: _ExportOptions, selection: _CaseSelection, format_: str) -> None:
    if options.rules is not None and options.export:
        raise UsageError("--rules and --export cannot be used together", "remove one of them")
    if (options.write and options.rules is None) or (options.yes and not options.write):
        raise UsageError("--yes requires --write, and --write requires --rules", "add the missing option")
    for name, exports in _GOES_WITH.items():
        if getattr(options, name) not in (None, False) and options.export not in exports:
            option = "--" + name.replace("_", "-")
            raise UsageError(
                f"{option} requires --export {' or '.join(exports)}", f"remove {option}, or change --export"
            )
    if options.export == PUZZLE and options.output == _STDOUT:
        raise UsageError("puzzles are files and cannot go to stdout", "name a folder: -o puzzles")
    if options.export == JSONL and options.output in (None, _STDOUT) and format_ != "text":
        raise UsageError(
            f"--format {format_} would mix with the rows on standard output", "write to a file: -o cases.jsonl"
        )
    if selection.seed is not None and selection.limit is None and options.split is None:
        raise UsageError("--seed requires --limit or --split", "remove it, or add one of them")


def _check_place(vault: Vault, output: str | None) -> None:
    """Refuse an output inside the vault's own folders; warn about any other place in the vault."""
    if output in (None, _STDOUT):
        return
    target = Path(os.path.realpath(absolute_path(str(output))))
    own = (vault.sessions, *(vault.root / name for name in (CASES, WORKFLOWS, ".crucible")))
    inside = next(filter(target.is_relative_to, own), None)
    if inside:
        raise UsageError(f"{output}: is inside the vault's {vault.relative(inside)}/", "choose another folder: -o data")
    within = target.relative_to(vault.root).parts if target.is_relative_to(vault.root) else (".",)
    if not any(part.startswith(".") for part in within):
        say(f"{clean_line(str(output))} is inside the vault, so Obsidian shows it; consider another folder")


# --- gathering and exporting -----------------------------------------------------------------------------------------


def _cases(
    gatherer: Gatherer, chosen: SelectedSessions, workers: Workers | None, seen: CaseTally, show: Show
) -> Iterator[Case]:
    """Yield the cases of the chosen sessions in order; if all are chosen, also the reviewed cases of deleted ones."""
    for done, gathered in enumerate(gather_all(gatherer, chosen.paths, workers)):
        show(done, len(chosen.paths))
        yield from seen.counted(gathered)
    for session in sorted({*gatherer.reviewed} - chosen.known) if chosen.every else ():
        yield from seen.counted(gatherer.reviewed_only(session))


class _LearnRun(NamedTuple):
    """Everything that one run of the command needs."""

    vault: Vault
    chosen: SelectedSessions
    gatherer: Gatherer
    seen: CaseTally
    selection: _CaseSelection
    options: _ExportOptions
    improve: Improver


def _export_cases(task: _LearnRun, picked: SelectedCases) -> Callable[[str, Door], None]:
    """Export the cases; returns a function that reports the result."""
    options, seen = task.options, task.seen
    if options.export is None:
        rows = count_rows(picked.cases)
        return lambda format_, door: write_preview(rows, format_, door)
    # Notes that the user edited are not overwritten, so their cases need not be judged.
    keeps = options.export == MARKDOWN
    cases = (task.improve.improved(case, settled=keeps and seen.is_edited(case)) for case in picked.cases)
    if keeps:
        kept = write_case_notes(task.vault, cases, task.gatherer.heading, seen.place, seen.report_problem)
        return lambda format_, _: say_kept(task.vault, kept, format_)
    scrubber = Scrubber(task.improve.redact, os.path.expanduser("~"))
    if options.export == PUZZLE:
        folder = exports_folder(task.vault.root) if options.output is None else Path(absolute_path(options.output))
        put = write_puzzles(folder, cases, scrubber, force=options.force)
        return lambda format_, _: say_puzzles(put, format_)
    return _export_rows(task, cases, scrubber)


def _export_rows(task: _LearnRun, cases: Iterable[Case], scrubber: Scrubber) -> Callable[[str, Door], None]:
    export, output = _row_export(task), task.options.output
    sides = [*export.splits.shares] if export.splits else []
    if output in (None, _STDOUT):
        streamed = export_stream(cases, export, scrubber, write_json_lines)
        return lambda _, __: say_exported(streamed, None, sides)
    done = export_files(cases, export, scrubber, Path(absolute_path(str(output))))
    return lambda format_, _: say_exported(done, format_, sides)


def _row_export(task: _LearnRun) -> Export:
    options, redact = task.options, task.improve.redact
    splits = _splits(task.selection, options)
    return Export(
        Shape(options.shape or Shape.MESSAGES),
        splits,
        Families(linked_sessions(task.chosen)) if splits else Families(),
        redact(options.licence or "unspecified")[0],
        redact(task.vault.root.name)[0],
        metadata=not options.no_metadata,
    )


def _splits(selection: _CaseSelection, options: _ExportOptions) -> Splits | None:
    return parse_splits(options.split, seed=selection.seed or 0) if options.split else None
