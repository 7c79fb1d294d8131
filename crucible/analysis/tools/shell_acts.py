"""Read a shell script as acts: what its commands ran, tested, checked, built and wrote by redirection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from crucible.analysis.tools.file_kinds import (
    INTERPRETERS,
    changes_files,
    is_known_tool,
    kind_of,
    languages_of,
    plain_words,
    type_of,
)
from crucible.analysis.tools.session_files import Files, as_datum
from crucible.analysis.tools.shell_acts_of_files import CHANGERS, FILE_COMMANDS
from crucible.analysis.tools.shell_parser import ShellCommand, parse_script
from crucible.analysis.tools.shell_paths import Command, change_file, outputs_of, patch_acts, run_act, write_file
from crucible.analysis.tools.tool_acts import BUILD, TEST, Act, Deed, ToolKind
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.session.session import Outcome
from crucible.documents.workflow.workflow import Datum


def command_acts(script: str, files: Files, outcome: Outcome = Outcome.OK) -> tuple[Act, ...]:
    """Return the acts of a script, command by command.

    If there are none, return one act: `RUN` if unknown files changed, else `PLAN`.  `files` collects the files that
    were written.  Since it is unknown which command in a script failed, all acts have the call's outcome.
    """
    acts: list[Act] = []
    fallback = Deed.PLAN
    for part in parse_script(script):
        found = _acts(part, files)
        acts.extend(act if act.outcome is outcome else replace(act, outcome=outcome) for act in found)
        if not found and part.words and part.words[0] in CHANGERS:  # `rm -rf "$OUT"`
            fallback = Deed.RUN
    return tuple(acts) or (Act(fallback, files.shown(script), outcome=outcome),)


def is_command(name: str) -> bool:
    """Return whether a word is a known command."""
    return name in FILE_COMMANDS or name in INTERPRETERS or kind_of((name,)) is not None or is_known_tool(name)


def _acts(part: ShellCommand, files: Files) -> list[Act]:
    step = Command(part, plain_words(part.words), files)
    taken = [as_datum(name) for name in step.names(part.takes)]
    acts = list(_command_acts(step)) if step.words else []
    given = [*((path, False) for path in part.gives), *((path, True) for path in part.adds)]
    made = [_redirected(step, name, adds=adds) for path, adds in given for name in step.names([path])]
    if made and all(act.deed in (Deed.READ, Deed.PLAN, Deed.SEARCH) for act in acts):
        sources = [datum for act in acts for datum in act.reads]
        return [_with(act, reads=[*act.reads, *sources, *taken]) for act in made]
    if made and acts:
        acts[-1] = _with(acts[-1], writes=[*acts[-1].writes, *(datum for act in made for datum in act.writes)])
    if taken and acts:
        acts[-1] = _with(acts[-1], reads=[*acts[-1].reads, *taken])
    elif taken:
        acts = [Act(Deed.READ, datum.name, (datum,)) for datum in taken]
    return acts


def _with(act: Act, reads: Iterable[Datum] | None = None, writes: Iterable[Datum] | None = None) -> Act:
    """Return the act with other data, without duplicates."""
    return replace(
        act,
        reads=act.reads if reads is None else tuple(dict.fromkeys(reads)),
        writes=act.writes if writes is None else tuple(dict.fromkeys(writes)),
    )


def _redirected(step: Command, name: str, *, adds: bool) -> Act:
    """Return the act of redirecting a command's output to a file."""
    return (change_file if adds and name in step.files else write_file)(step.files, name)


def _command_acts(step: Command) -> Iterator[Act]:
    """Yield the acts of a command, except its redirections."""
    name = step.words[0]
    if name in ("apply_patch", "patch") or step.words[:2] == ("git", "apply"):
        return _patch(step)
    if (reader := FILE_COMMANDS.get(name)) is not None:
        return reader(step)
    if changes_files(step.words):
        names = [name for name in step.names(step.words[1:]) if type_of(name)]
        return iter([change_file(step.files, name) for name in names]) if names else _run(step)
    if (kind := kind_of(step.words)) is not None:
        return iter([_checked(step, kind)])
    return _run(step)


# --- running, checking, building -------------------------------------------------------------------------------------


def _patch(step: Command) -> Iterator[Act]:
    """Yield an act for each file in a patch from a here-document or an argument.

    For a patch file, yield only the command.
    """
    acts = patch_acts("\n".join([*step.words[1:2], step.part.fed or ""]), step.files, step.part.folder)
    return iter(acts) if acts else _run(step)


def _run(step: Command) -> Iterator[Act]:
    """Yield the act of any other command, which reads the script that it runs and the known files in its arguments."""
    ending = INTERPRETERS.get(step.words[0], "")
    code = _code(step) if ending else None
    reads = _run_files(step, ending, code)
    if code and (acts := _inline_code_acts(step, code, reads)):
        yield from acts
        return
    writes = [name for name in step.names(outputs_of(step.words)) if type_of(name)]
    for name in writes:
        step.files.write(name)
    yield run_act(step, (name for name in reads if name not in writes), writes)


def _inline_code_acts(step: Command, code: str, imported: Iterable[str]) -> list[Act]:
    """Return the acts of inline code that writes or changes files."""
    touched = _touched_files(code)
    reads, writes = step.names(touched.reads), step.names(touched.writes)
    acts = [(change_file if name in reads else write_file)(step.files, name) for name in writes]
    if acts:
        others = [as_datum(name) for name in [*imported, *reads] if name not in writes]
        acts[0] = _with(acts[0], reads=[*acts[0].reads, *others])
    return acts


def _run_files(step: Command, ending: str, code: str | None) -> tuple[str, ...]:
    """Return the script that is run, then the known files in the arguments."""
    files = step.files
    scripts = list(_scripts(step, ending)) if code is None else step.names(_touched_files(code).reads)
    given = step.names(word.partition("::")[0] for word in step.words[1:] if word[:1] != "-")
    taken = {name for name in step.names(_inputs(step.words)) if type_of(name)}
    return tuple(dict.fromkeys([*scripts, *(name for name in given if name in files or name in taken)]))


def _inputs(words: Sequence[str]) -> Iterator[str]:
    """Yield the values of options that name an input file in most commands: `-f FILE`, `--config FILE`."""
    for at, word in enumerate(words[1:-1], 1):
        if word in ("-f", "--file", "--config", "--input", "-i", "-r", "--requirement"):
            yield words[at + 1]


def _scripts(step: Command, ending: str) -> Iterator[str]:
    """Yield the file that is run: `app.py` for `python app.py`, `run.sh` for `./run.sh`, a module's file if known."""
    path = step.part.words[0]
    if ending:
        path = next((word for word in step.words[1:] if word[:1] not in ("-", "") and word != "run"), "")
    elif "/" not in path or path.startswith(("/usr/", "/bin/", "/opt/")):
        path = step.words[0].replace(".", "/") + ".py" if step.words != step.part.words else ""
    for name in step.names([path]):
        if name in step.files or (type_of(name) and path == step.part.words[0]) or ending:
            step.files.learn(name)
            yield name


def _code(step: Command) -> str | None:
    """Return an interpreter's inline code, from an argument or a here-document; None if it runs a file."""
    for at, word in enumerate(step.words[1:], 1):
        if word in ("-c", "-e", "--eval", "-r", "-E", "-p"):
            return "\n".join(step.words[at + 1 : at + 2])
        if word[:1] != "-":
            return None
    return step.part.fed or ""


def _checked(step: Command, kind: ToolKind) -> Act:
    """Return the act of a check.  Without files in its arguments, it reads all written files in its languages.

    A test always reads both.
    """
    files, languages = step.files, languages_of(step.words)
    named = list(_checked_files(step, kind))
    for name in named:
        files.learn(name)
    if kind is TEST or not any(type_of(name) in languages for name in named):
        named += [*(files.tests(languages) if kind is TEST and not named else ()), *files.written(languages)]
    writes = step.names(outputs_of(step.words)) if kind is BUILD else []
    reads = tuple(as_datum(name) for name in dict.fromkeys(named) if name not in writes)
    made = (*map(as_datum, writes), kind.gives)
    return Act(kind.deed, files.shown(step.repeated), reads, made, command=step.typed)


def _checked_files(step: Command, kind: ToolKind) -> Iterator[str]:
    """Yield the files in the arguments, and the command itself if it is a script."""
    if kind is TEST and step.words[0] not in INTERPRETERS:
        yield from _scripts(step, "")
    for word in step.words[1:]:
        path = word.partition("::")[0]
        if path[:1] in ("-", "") or "=" in path:
            continue
        name = step.files.path_of(path.rstrip("/"), step.part.folder)
        if name and (name in step.files or type_of(name)):
            yield name


# --- the files of inline code -----------------------------------------------------------------------------------------

_MOST_TEXT = 1 << 17

_GIVEN = r"""(?:(?P<name>[A-Za-z_]\w{0,60})|[rb]?(?P<quote>['"])(?P<text>[^'"\n]{1,300})(?P=quote))"""
_SET = late_pattern(r"""\b([A-Za-z_]\w{0,60})[ \t]*=[ \t]*(?:(?:pathlib\.)?Path\([ \t]*)?['"]([^'"\n]{1,300})['"]""")
_OPENED = late_pattern(
    rf"""\bopen\([ \t]*{_GIVEN}[ \t]*(?:,[ \t]*(?:mode[ \t]*=[ \t]*)?['"](?P<mode>[rwaxbt+]{{1,4}})['"])?"""
)
_PATHS = late_pattern(
    rf"""(?:\bPath\([ \t]*{_GIVEN}[ \t]*\)|\b(?P<path>[A-Za-z_]\w{{0,60}}))\.(?P<verb>read|write)_(?:text|bytes)\("""
)
_NODE = late_pattern(rf"""\b(?P<verb>read|write|append)File(?:Sync)?\([ \t]*{_GIVEN}""")


class _Touched(NamedTuple):
    """Paths as the code spells them, without duplicates."""

    reads: tuple[str, ...]
    writes: tuple[str, ...]


def _touched_files(code: str) -> _Touched:
    """Return the paths that code reads and writes: `open("a")`, `Path("a").write_text(…)`, `writeFileSync("a", …)`."""
    code = code[:_MOST_TEXT]
    named = dict(_SET.findall(code))
    reads: dict[str, None] = {}
    writes: dict[str, None] = {}
    for path, is_written, is_read in _uses(code, named):
        if is_written:
            writes[path] = None
        if is_read:
            reads[path] = None
    return _Touched(tuple(reads), tuple(writes))


def _uses(code: str, named: dict[str, str]) -> Iterator[tuple[str, bool, bool]]:
    """Yield each path, whether it is written, and whether it is read."""
    for found in _OPENED.finditer(code):
        mode = found["mode"] or "r"
        if path := found["text"] or named.get(found["name"], ""):
            yield path, any(c in mode for c in "wax+"), "r" in mode or "a" in mode or "+" in mode
    for found in _PATHS.finditer(code):
        if path := found["text"] or named.get(found["name"] or found["path"], ""):
            yield path, found["verb"] == "write", found["verb"] == "read"
    for found in _NODE.finditer(code):
        if path := found["text"] or named.get(found["name"], ""):
            yield path, found["verb"] != "read", found["verb"] != "write"
