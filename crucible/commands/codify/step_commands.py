"""Choose the commands in a step's prose: those to run again, checks with their results, and lookups.

A command is kept if it has an effect outside the step's files. A lookup is kept if it reads from elsewhere or names a
parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise, takewhile

from crucible.analysis.tools.file_kinds import INTERPRETERS, is_test_file, languages_of, plain_words, type_of
from crucible.analysis.tools.shell_parser import ShellCommand, parse_script
from crucible.analysis.tools.shell_paths import command_text, leads_out
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.draft_steps import CHANGING, MERGES, PROVING, Remark, RemarkKind, is_merge, join_words
from crucible.core.patterns import late_pattern
from crucible.documents.session.session import Outcome

_FORGES = frozenset("git jj hg svn gh glab hub tea".split())  # noqa: SIM905
_PROGRAMS = _FORGES | frozenset(
    """
    npm yarn pnpm bun pip pip3 uv poetry pdm pipx conda cargo go gem bundle composer brew apt apt-get dnf apk mvn gradle dotnet nuget mix
    make gmake just task mise rake invoke nox tox turbo nx pre-commit
    docker podman kubectl helm terraform ansible-playbook aws gcloud az fly vercel netlify heroku wrangler goreleaser twine rsync scp
    """.split()  # noqa: SIM905
)
"""Programs whose commands change a repository, an environment or a service."""
_LOOKS = frozenset(
    """
    view list ls status show diff log search info get describe checks outdated audit help version why env run-list tail logs whoami doctor
    tree metadata doc graph
    """.split()  # noqa: SIM905
)
"""Subcommands of these programs that only show something."""
_SENDS = frozenset("-X --method -f -F --field --raw-field --input -d --data".split())  # noqa: SIM905
"""Options with which commands such as `gh api` change something."""
_VARIABLE = late_pattern(r"\$\{?[A-Za-z_]")
"""Matches a variable from a loop or an earlier assignment, whose value is lost."""
_ASKS = frozenset({"--help", "-h", "--version"})
_SELECTS = frozenset({"-run", "-k", "--filter", "--test"})
"""Options that select tests."""
_MODE = late_pattern(r"-.*=\D|-c\Z")
"""Matches options that turn a check into a different one."""
_AMOUNT = late_pattern(r"-v+|-q+|--?\w+=\d+\w?")
"""Matches options that control how much is printed, or how often."""
_MORE_WORDS = frozenset({"run", "exec", "tool"})
_SHOWS = frozenset({"diff", "log", "show"})
_TAKES_FILES = frozenset({"add", "rm", "restore", "stage", "reset"})
_HANDS_ON = frozenset("commit push merge rebase pull tag cherry-pick".split())  # noqa: SIM905
_NEW_BRANCH = frozenset({"-b", "-B", "-c", "--create"})
_RANGE = late_pattern(r"(?!.*:|.*\b(?=[a-f]*\d)[0-9a-f]{6,}\b)(?:origin/|.*[\w}]\.\.)")
_KEYED = late_pattern(r"(\w+)=.*\s", re.DOTALL)
_ID = late_pattern(r"\b\d{6,}\b")
_LONG = 40
"""Minimum code points of an option's value that counts as text that varies between runs."""
_TEXTS = {"-m": "message", "--message": "message", "-t": "title", "--title": "title", "-b": "body", "--body": "body"}  # fmt: skip


def _words(act: Act) -> tuple[str, ...]:
    return _words_of(act.command or act.what)


@lru_cache(maxsize=512)
def _words_of(command: str) -> tuple[str, ...]:
    parts = [part for part in parse_script(command) if part.words]
    words = plain_words(parts[-1].words) if parts else ()
    return (words[0], *words[3:]) if words[1:2] == ("-C",) else words


def _again(act: Act) -> str:
    """Return the command for another run, with `{{message}}`, `{{files}}` or `{{branch}}` for what varies."""
    parts = [part for part in parse_script(act.command) if part.words]
    if len(parts) != 1:
        return act.what
    words = list(parts[0].words)
    if words[1:2] == ["-C"]:
        del words[1:3]
    words = [words[0], *(_varied(word, before) for before, word in pairwise(words))]
    if words[0] == "git" and words[1:2] and words[1] in _TAKES_FILES:
        kept = [word for word in words[2:] if not _is_file(word)]
        words = [*words[:2], *kept, *["{{files}}"] * (len(kept) < len(words) - 2)]
    return _typed(parts[0], words)


def _is_file(word: str) -> bool:
    is_none = word[:1] == "-" or word in (".", ":/") or word.startswith(("origin/", "HEAD", "{{"))
    return not is_none and ("/" in word or "." in word)


def _typed(part: ShellCommand, words: Iterable[str]) -> str:
    """Return a command with other words, in its original folder."""
    text = command_text(part._replace(words=tuple(words), fed=None))
    return f"cd {part.folder} && {text}" if part.folder else text


def _varied(word: str, option: str) -> str:
    """Generalize a word of a command."""
    if " " in word and (option in _TEXTS or len(word) > _LONG or "\n" in word):
        if keyed := _KEYED.match(word):
            return f"{keyed[1]}={{{{{keyed[1]}}}}}"
        return f"{{{{{_TEXTS.get(option) or (option[2:] if option[:2] == '--' else 'text')}}}}}"
    return "{{branch}}" if option in _NEW_BRANCH else word


def generalized_check(act: Act) -> str:
    """Return a check with all its options, and with `{{tests}}` or `{{files}}` in place of the code it was run on."""
    return _generalized_check(act.what, is_test=act.deed is Deed.TEST)


@lru_cache(maxsize=512)
def _generalized_check(command: str, *, is_test: bool) -> str:
    parts = parse_script(command)
    if len(parts) != 1:
        return command
    given = "{{tests}}" if is_test else "{{files}}"
    words, kept = parts[0].words, list(parts[0].words[:1])
    for before, word in pairwise(words):
        if before in _SELECTS and kept[-1] == given:
            continue
        is_selected = is_test and word.partition("=")[0] in _SELECTS
        kept.append(given if is_selected or _is_part(word, before, words) else word)
    if given not in kept:
        return command
    first = kept.index(given) + 1
    return _typed(parts[0], [*kept[:first], *(word for word in kept[first:] if word != given)])


def _is_part(word: str, option: str, words: Sequence[str]) -> bool:
    """True for a test, a file in the checked language or a folder, but not for an option's value."""
    if word[:1] in ("-", "/") or "=" in word or word.startswith("./...") or option in ("-o", "-f"):
        return False
    if "::" in word or is_test_file(word):
        return True
    program = plain_words(words)[:1]
    if (program[:1] and program[0] in INTERPRETERS) or (len(option) > 2 and option[:2] == "--" and word[:2] != "./"):
        return False
    kind = type_of(word)
    return kind in languages_of(program) if kind else "/" in word


def is_variant(act: Act) -> bool:
    """True for a check with options that make it a different one."""
    return any(map(_MODE.match, act.what.split()))


def _looks(words: Sequence[str]) -> bool:
    plain = [word for word in words[1:] if word[:1] != "-"]
    if plain[:1] == ["api"]:
        return not _SENDS.intersection(words)
    if plain[:1] and plain[0] in _MORE_WORDS and words[0] not in ("gh", "glab"):
        return False
    return not plain or bool(_LOOKS.intersection(plain[:2]))


def has_effect(act: Act) -> bool:
    """True for a successful command that changed something, and for a project script."""
    if act.deed is not Deed.RUN or act.outcome is Outcome.FAILED:
        return False
    words = _words(act)
    return (
        not _ASKS.intersection(words)
        and bool(words)
        and ((words[0] in _PROGRAMS and not _looks(words)) or (bool(act.writes) and bool(act.reads)))
    )


def _looks_elsewhere(act: Act) -> bool:
    """True if an act reads an address, a forge or another branch; web searches do not count."""
    if act.deed is Deed.FETCH:
        return "://" in act.what
    words = _words(act) if act.deed in (Deed.RUN, Deed.SEARCH) else ()
    if _ASKS.intersection(words):
        return False
    if words[:1] == ("git",):
        return words[1:2] != () and words[1] in _SHOWS and any(map(_RANGE.match, words[2:]))
    return len(words) > 1 and words[0] in _PROGRAMS and _looks(words)


def _folder(act: Act) -> str:
    """Return the `cd` before a command."""
    return act.command.partition(" && ")[0] if act.command.startswith("cd ") else ""


def _looks_up(act: Act, parameters: Sequence[str]) -> bool:
    """True for an MCP tool that only shows something and received a parameter's value."""
    tool = act.what.partition(" ")[0].split("_")
    return act.deed is Deed.OTHER and bool(_LOOKS.intersection(tool)) and any(value in act.what for value in parameters)


def publishes(acts: Iterable[Act]) -> bool:
    """True if work was committed, pushed, merged, or sent to a forge."""
    return any(_handed_on(act) for act in acts)


def _handed_on(act: Act) -> str:
    """Return the verb of a command that publishes work, "" for any other."""
    words = [word for word in _words(act) if word[:1] != "-"]
    if not (_by_forge(act) and has_effect(act)) or leads_out(_folder(act)) or _VARIABLE.search(_folder(act)):
        return ""
    if words[0] in ("gh", "glab"):
        return words[2] if words[2:] and words[2].isalpha() else words[1]
    return words[1] if words[1] in _HANDS_ON else ""


def _by_forge(act: Act) -> bool:
    words = _words(act) if act.deed in (Deed.RUN, Deed.SEARCH) and act.outcome is Outcome.OK else ()
    return len(words) > 1 and words[0] in _FORGES


def commands_name(acts: Iterable[Act]) -> str:
    """Return a step's name from its version control commands, such as `Commit and push`."""
    verbs = [verb for verb in dict.fromkeys(map(_handed_on, acts)) if verb and verb != "api"][:3]
    return join_words(verbs).capitalize()


def command_remarks(acts: Iterable[Act], parameters: Sequence[str] = ()) -> Iterator[Remark]:
    """Yield a remark for each command worth repeating, by its last run. Checks come before commits."""
    acts = tuple(acts)
    found: dict[tuple[str, ...], Remark] = {}
    is_changed = any(act.deed in CHANGING for act in acts)
    merges = 0
    for act in acts:
        begun, aborted, _ = act.what.partition(" --abort")
        if aborted:  # as in `git rebase --abort`: the aborted command is a dead end
            found.pop(next((key for key in reversed(found) if found[key].text.startswith(begun)), ()), None)
            continue
        one = _line(act, parameters, is_changed=is_changed)
        if one is None or any(leads_out(text) or _VARIABLE.search(text) for text in (one.text, _folder(act))):
            continue
        merges += is_merge(act)
        key: tuple[str, ...] = (one.text,)
        if one.kind is RemarkKind.CHECK:
            key = (*(word for word in one.text.split() if not _AMOUNT.fullmatch(word)), str(merges))
        if one.kind is RemarkKind.LOOK and act.deed not in PROVING:
            key = tuple(takewhile(lambda word: word[:2] not in ("--", "-q"), one.text.split())) or key
            found.setdefault(key, one)
        else:
            found.pop(key, None)
            found[key] = one
    yield from _checked_first(found.values())


def _checked_first(lines: Iterable[Remark]) -> list[Remark]:
    """Move checks after a commit to before the commit, up to the next merge."""
    sorted_: list[Remark] = []
    commit: int | None = None
    for one in lines:
        if one.kind is RemarkKind.CHECK and commit is not None:
            sorted_.insert(commit, one)
            commit += 1
            continue
        if one.text.startswith(("git add ", "git commit ")):
            commit = len(sorted_) if commit is None else commit
        elif one.text.startswith(MERGES):
            commit = None
        sorted_.append(one)
    return sorted_


def _line(act: Act, parameters: Sequence[str], *, is_changed: bool) -> Remark | None:
    if act.deed in PROVING:
        ended = "failed" if act.outcome is Outcome.FAILED else "passed" if act.verdict else ""
        kind = RemarkKind.LOOK if ended == "failed" and not is_changed else RemarkKind.CHECK
        return Remark(kind, act.what, ": ".join(filter(None, (ended, act.verdict))))
    if has_effect(act):
        return Remark(RemarkKind.RUN, _ID.sub("{{id}}", _again(act)))
    if _looks_elsewhere(act) or _looks_up(act, parameters):
        return Remark(RemarkKind.LOOK, _ID.sub("{{id}}", act.what.partition(" -- ")[0]))
    return None
