"""Read shell commands that print, change, copy, remove, search and fetch files as acts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from crucible.analysis.tools.file_kinds import type_of
from crucible.analysis.tools.session_files import as_datum
from crucible.analysis.tools.shell_paths import (
    ActsOf,
    Command,
    arguments_of,
    change_file,
    outputs_of,
    run_act,
    write_file,
)
from crucible.analysis.tools.tool_acts import Act, Deed


def _nothing(_: Command) -> Iterator[Act]:
    return iter(())


def _run(step: Command) -> Iterator[Act]:
    """Yield a run without data."""
    return iter((run_act(step),))


def _reads(step: Command, words: Iterable[str]) -> Iterator[Act]:
    for name in step.names(words):
        step.files.learn(name)
        yield Act(Deed.READ, name, (as_datum(name),))


def _read(valued: str, *, skip: int = 0, given_by: str = "") -> ActsOf:
    """Read a command that prints files.

    `skip` arguments precede them, unless an option in `given_by` replaces those.
    """

    def read(step: Command) -> Iterator[Act]:
        named = any(word[:1] == "-" and word[:2] != "--" and set(word[1:]) & set(given_by) for word in step.words[1:])
        return _reads(step, arguments_of(step.words, valued)[0 if named else skip :])

    return read


def _sed(step: Command) -> Iterator[Act]:
    """Read `sed` and `perl`, which change files with `-i`; otherwise `sed` prints files and `perl` runs a script."""
    flags = [word for word in step.words[1:] if word[:1] == "-"]
    changes = any(word.startswith("--in-place") or _is_in_place(word) for word in flags)
    given = any(
        word[:2] in ("-e", "-f") or word.startswith("--expression") or (word[1:2] != "-" and word.endswith("e"))
        for word in flags
    )
    plain = arguments_of(step.words, "ef")
    # In `-pi -e CODE` and `-ne CODE`, the code is an option's value that looks like a file.
    skip = 1 if not given or any(len(word) > 2 and word[1] != "-" and word.endswith("e") for word in flags) else 0
    if not changes:
        if step.words[0] == "perl":
            return _run(step)
        return _reads(step, plain[skip:])
    return (change_file(step.files, name) for name in step.names(plain[skip:]))


def _is_in_place(word: str) -> bool:
    return word[1:2] == "i" or (word[:1] == "-" and word[1:2] != "-" and "i" in word[1:4] and word[1] in "pn")


def _tee(step: Command) -> Iterator[Act]:
    adds = "-a" in step.words or "--append" in step.words
    for name in step.names(arguments_of(step.words)):
        changes = adds and name in step.files
        yield (change_file if changes else write_file)(step.files, name)


def _copy(step: Command) -> Iterator[Act]:
    """Read `cp` and `mv`.  The target is a file, or the folder for a file with the source's name."""
    plain = arguments_of(step.words, "tSm")
    if len(plain) < 2:
        return
    *sources, target = plain
    for source in sources:
        into = len(sources) > 1 or target.endswith(("/", "/.", "..")) or target == "."
        [*origin], [*name] = (
            step.names([source]),
            step.names([f"{target}/{source.rpartition('/')[2]}" if into else target]),
        )
        if origin and name:
            step.files.write(name[0])
            yield Act(Deed.WRITE, name[0], (as_datum(origin[0]),), (as_datum(name[0]),))
            if step.words[0] == "mv":
                yield Act(Deed.DELETE, origin[0])


def _remove(step: Command) -> Iterator[Act]:
    for word in arguments_of(step.words):
        name = step.files.path_of(word.rstrip("/"), step.part.folder)
        if name:
            step.files.forget(name)
            yield Act(Deed.DELETE, name)


def _touch(step: Command) -> Iterator[Act]:
    for name in step.names(arguments_of(step.words, "drt")):
        if name not in step.files:
            yield write_file(step.files, name)


# --- searches --------------------------------------------------------------------------------------------------------


def _list(step: Command) -> Iterator[Act]:
    if any(word in ("-delete", "-exec", "-execdir") for word in step.words):
        return _run(step)
    return iter(() if step.part.piped else (Act(Deed.SEARCH, step.shown),))


def _grep(step: Command) -> Iterator[Act]:
    """Read a search, which reads the files in its arguments.  Names in its output need not be files."""
    given = any(word in ("-e", "-f", "--files") or word.startswith(("--regexp", "--file=")) for word in step.words)
    words = arguments_of(step.words, "efABCmdDgtTj")
    named = [name for name in step.names(words[0 if given else 1 :]) if name in step.files or type_of(name)]
    if step.part.piped and not named:
        return
    for name in named:
        step.files.learn(name)
    yield Act(Deed.SEARCH, step.shown, tuple(map(as_datum, named)))


_LOOKS = frozenset(
    """
    status log diff show blame rev-parse ls-files ls-tree describe shortlog cat-file rev-list version whatchanged
    for-each-ref show-ref name-rev merge-base ls-remote count-objects cherry
    """.split()  # noqa: SIM905
)
"""Subcommands of `git` that change nothing."""
_LISTS = {
    verb: frozenset(words)
    for verb, *words in map(
        str.split,
        (
            "tag -l --list -n -v --verify --contains --points-at --merged --no-merged --sort",
            "branch -a --all -r --remotes -l --list --show-current --contains --no-contains --points-at --merged --no-merged --sort",
            "config -l --list --get --get-all --get-regexp --get-urlmatch --show-origin get list",
            "remote show get-url",
            "reflog show exists",
            "stash list show",
            "worktree list",
            "submodule status summary",
            "notes list show",
            "symbolic-ref",
        ),
    )
}
"""Subcommands of `git` that may change something, with the arguments that make them only show information."""
_SHOWS_ALONE = {"stash": -1, "symbolic-ref": 1, "config": 1, "reflog": 1}
"""Maximum arguments with which the subcommand only shows information; -1 if it never does, 0 by default."""


def _only_shows(verb: str, words: Sequence[str]) -> bool:
    """Return whether a subcommand of `git` with these arguments changes nothing."""
    lists = _LISTS.get(verb)
    if lists is None:
        return verb in _LOOKS
    plain = [word for word in words if word[:1] != "-"]
    flags = {word.partition("=")[0] for word in words if word[:1] == "-"}
    if lists & (flags | {*plain[:1]}):
        return True
    if verb == "reflog" and plain[:1] in (["expire"], ["delete"]):
        return False
    return len(plain) <= _SHOWS_ALONE.get(verb, 0) and not flags & _CHANGES


_CHANGES = frozenset("-d -D --delete -m -M --move -e --edit --unset --edit-description -u --unset-upstream".split())  # fmt: skip  # noqa: SIM905
"""Flags that change something without an argument."""


def _git(step: Command) -> Iterator[Act]:
    plain = arguments_of(step.words, "Cc")
    verb = plain[0] if plain else ""
    if verb == "grep":
        return _grep(step._replace(words=("grep", *plain[1:])))
    if verb in ("rm", "mv"):
        return (_remove if verb == "rm" else _copy)(step._replace(words=tuple(plain)))
    if _only_shows(verb, step.words[step.words.index(verb) + 1 :] if verb else ()):
        return iter(() if step.part.piped else (Act(Deed.SEARCH, step.shown),))
    if verb in ("checkout", "restore"):
        words = step.words[step.words.index(verb) :]
        deed = Deed.EDIT if _from_elsewhere(words) else Deed.REVERT
        if names := _restored(step, words):
            return (replace(change_file(step.files, name), deed=deed) for name in names)
    return iter((run_act(step),))


def _from_elsewhere(words: Sequence[str]) -> bool:
    """True if files are set to the content from a revision or from one side of a merge."""
    if any(word.startswith(("--source", "--ours", "--theirs", "-s")) for word in words):
        return True
    return "--" in words and any(word[:1] != "-" for word in words[1 : words.index("--")])


def _restored(step: Command, words: Sequence[str]) -> list[str]:
    """Return the files that `git checkout -- FILE` and `git restore FILE` restore; without `--`, only known files."""
    if words[0] == "restore":
        flags = {word for word in words if word[:1] == "-"}
        if flags & {"--staged", "-S"} and not flags & {"--worktree", "-W"}:
            return []  # restores only the index
        at = next((at for at, word in enumerate(words) if word == "--source"), len(words))
        return step.names(arguments_of((*words[:at], *words[at + 2 :]), "s"))
    if "--" in words:
        return step.names(words[words.index("--") + 1 :])
    return [name for name in step.names(arguments_of(words, "bB")) if name in step.files]


def _fetch(step: Command) -> Iterator[Act]:
    plain = arguments_of(step.words, "oHXduAebcFTPmwKU")
    url = next((word for word in plain if "://" in word), plain[0] if plain else step.shown)
    outputs = step.names(outputs_of(step.words, "-O" if step.words[0] == "wget" else "-o"))
    for name in outputs:
        step.files.write(name)
    yield Act(Deed.FETCH, step.files.shown(url), (), tuple(map(as_datum, outputs)))


_NOISE = """
    cd pushd popd pwd echo printf true false : export set unset alias source . sleep wait which type whoami date hostname uname
    clear exit return read trap ulimit mkdir rmdir chmod chown kill pkill killall ps top jobs fg bg disown umask shift break
    continue history seq yes id env printenv tput stty df free uptime lsof tr dirname basename realpath readlink stat
"""
"""Commands that neither read nor write data that a workflow would name."""
_FILTERS = """
    cat tac less more bat batcat nl wc uniq column fold rev strings hexdump od file md5sum sha1sum sha256sum b2sum diff cmp comm
    paste join base64 zcat gunzip
"""

SEARCHES = frozenset("grep egrep fgrep rg ag ack ugrep".split())  # noqa: SIM905
"""Commands whose output names the files that they found."""

CHANGERS = frozenset("cp mv install ln rm unlink shred trash tee touch".split())  # noqa: SIM905
"""Commands that change files, whether or not the files belong to the project."""

FILE_COMMANDS: Mapping[str, ActsOf] = {
    **dict.fromkeys(_NOISE.split(), _nothing),
    **dict.fromkeys(_FILTERS.split(), _read("")),
    **dict.fromkeys(("head", "tail"), _read("nc")),
    **dict.fromkeys(("sort", "cut", "xxd"), _read("ktdfcslo")),
    **dict.fromkeys(("awk", "gawk", "mawk"), _read("Fv", skip=1, given_by="f")),
    **dict.fromkeys(("jq", "yq"), _read("", skip=1)),
    **dict.fromkeys(("sed", "gsed", "perl"), _sed),
    **dict.fromkeys(("ls", "tree", "find", "fd", "fdfind", "du", "exa", "eza", "locate"), _list),
    **dict.fromkeys(SEARCHES, _grep),
    **dict.fromkeys(("cp", "mv", "install", "ln"), _copy),
    **dict.fromkeys(("rm", "unlink", "shred", "trash"), _remove),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh", "aria2c"), _fetch),
    "tee": _tee,
    "touch": _touch,
    "git": _git,
}
"""The functions that read these commands, by command name."""
