"""What a step's work says in its prose: the commands to run again, the checks and what they showed, and where to look.

A command is kept if it had an effect outside the files that the data flow names: version control, forges, package managers, task
runners and publishing.  A lookup is kept if it reads from elsewhere, or if it names a parameter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from crucible.acts.kinds import plain_words
from crucible.acts.model import Act, Deed
from crucible.acts.shell import take_apart
from crucible.acts.touching import command_text, leads_out
from crucible.codify.model import Remark, RemarkKind
from crucible.codify.stretches import CHANGING, PROVING
from crucible.session.model import Outcome

__all__ = ["has_effect", "lines_of"]

_PROGRAMS = frozenset(
    """
    git jj hg svn gh glab hub tea
    npm yarn pnpm bun pip pip3 uv poetry pdm pipx conda cargo go gem bundle composer brew apt apt-get dnf apk mvn gradle dotnet nuget mix
    make gmake just task mise rake invoke nox tox turbo nx pre-commit
    docker podman kubectl helm terraform ansible-playbook aws gcloud az fly vercel netlify heroku wrangler goreleaser twine rsync scp
    """.split()  # noqa: SIM905
)
"""Programs whose commands leave something behind in a repository, an environment or a service."""
_LOOKS = frozenset(
    [
        "view",
        "list",
        "ls",
        "status",
        "show",
        "diff",
        "log",
        "search",
        "info",
        "get",
        "describe",
        "checks",
        "outdated",
        "audit",
        "help",
        "version",
        "why",
        "env",
        "run-list",
        "tail",
        "logs",
        "whoami",
        "doctor",
        "tree",
        "metadata",
    ]
)
"""Their subcommands that only show something."""
_SENDS = frozenset({"-X", "--method", "-f", "-F", "--field", "--raw-field", "--input", "-d", "--data"})
"""Options with which `gh api` and the like change something."""
_VARIABLE = "'$"
"""A variable of a loop, which nobody knows any more."""
_MORE_WORDS = frozenset({"run", "exec", "tool"})


_LONG = 40
"""Code points of an option's value from which on it is a text, which is written for each run."""
_FILES = 5


def _words(act: Act) -> tuple[str, ...]:
    parts = [part for part in take_apart(act.command or act.what) if part.words]
    return plain_words(parts[-1].words) if parts else ()


def _again(act: Act) -> str:
    """The command for another run: `{{message}}` for a text that an option gives, `{{files}}` for many files."""
    parts = [part for part in take_apart(act.command) if part.words]
    if len(parts) != 1:
        return act.what
    words, files = list(parts[0].words), 0
    for at, word in enumerate(words[1:], 1):
        option = words[at - 1]
        if " " in word and (option in _TEXTS or len(word) > _LONG or "\n" in word):
            words[at] = f"{{{{{_TEXTS.get(option) or (option[2:] if option[:2] == '--' else 'text')}}}}}"
        files += "/" in word and word[:1] != "-"
    if words[1:3] == ["-C", "."]:
        del words[1:3]
    if files > _FILES:
        words = [*(word for word in words if "/" not in word), "{{files}}"]
    text = command_text(parts[0]._replace(words=tuple(words), fed=None))
    return f"cd {parts[0].folder} && {text}" if parts[0].folder else text


_TEXTS = {
    "-m": "message",
    "--message": "message",
    "-t": "title",
    "--title": "title",
    "-b": "body",
    "--body": "body",
}


def _looks(words: Sequence[str]) -> bool:
    plain = [word for word in words[1:] if word[:1] != "-"]
    if plain[:1] == ["api"]:
        return not _SENDS.intersection(words)
    if plain[:1] and plain[0] in _MORE_WORDS and words[0] not in ("gh", "glab"):
        return False
    return not plain or bool(_LOOKS.intersection(plain[:2]))


def has_effect(act: Act) -> bool:
    """True for a command that succeeded and left something behind, and for a script of the project."""
    if act.deed is not Deed.RUN or act.outcome is Outcome.FAILED:
        return False
    words = _words(act)
    return bool(words) and (
        (words[0] in _PROGRAMS and not _looks(words)) or (bool(act.writes) and bool(act.reads))
    )


def _looks_elsewhere(act: Act) -> bool:
    if act.deed is Deed.FETCH:
        return True
    words = _words(act) if act.deed is Deed.RUN else ()
    return bool(words) and words[0] in _PROGRAMS and words[0] != "git" and _looks(words) and len(words) > 1


def lines_of(acts: Sequence[Act], parameters: Sequence[str] = ()) -> Iterator[Remark]:
    """A remark for each command worth repeating; `parameters` are the values that make a lookup one."""
    looked: set[tuple[str, ...]] = set()
    is_changed = any(act.deed in CHANGING for act in acts)
    for act in acts:
        if leads_out(act.what) or _VARIABLE in act.what:
            continue
        if act.deed in PROVING:
            ended = "failed" if act.outcome is Outcome.FAILED else "passed" if act.verdict else ""
            kind = RemarkKind.LOOK if ended == "failed" and not is_changed else RemarkKind.CHECK
            yield Remark(kind, act.what, ": ".join(filter(None, (ended, act.verdict))))
        elif has_effect(act):
            yield Remark(RemarkKind.RUN, _again(act))
        elif _looks_elsewhere(act) or (
            act.deed is Deed.SEARCH and any(value in act.what for value in parameters)
        ):
            where = tuple(takewhile(lambda word: word[:2] not in ("--", "-q"), _words(act))) or (act.what,)
            if where not in looked:
                looked.add(where)
                yield Remark(RemarkKind.LOOK, act.what)
