"""The files that a shell command or a patch names, and the command as text."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from crucible.analysis.tools.session_files import Files, as_datum
from crucible.analysis.tools.shell_parser import ShellCommand
from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern


class Command(NamedTuple):
    """A command to read as acts.  `words` are its `plain_words`."""

    part: ShellCommand
    words: tuple[str, ...]
    files: Files

    def names(self, words: Iterable[str]) -> list[str]:
        """Return the names of the files among these words."""
        found = (self.files.path_of(word, self.part.folder) for word in words)
        return list(dict.fromkeys(name for name in found if name))

    @property
    def shown(self) -> str:
        """Return the command with paths relative to the project."""
        return self.files.shown(command_text(self.part))

    @property
    def repeated(self) -> str:
        """Return the command as a user would type it in the project's folder, with `cd` if it ran in another one.

        The path of a program outside the project is reduced to the program's name, and settings with absolute paths are
        dropped; arguments are kept.
        """
        folder = self.files.folder_of(self.part.folder)
        settings = [self.files.seen_from(folder, text) for text in self.part.settings]
        words = [self.files.seen_from(folder, text) for text in self.part.words]
        if leads_out(words[0]):
            words[0] = words[0].rpartition("/")[2]
        kept = tuple(setting for setting in settings if not leads_out(setting))
        text = command_text(self.part._replace(settings=kept, words=tuple(words)))
        return f"cd {shlex.quote(folder)} && {text}" if folder else text

    @property
    def typed(self) -> str:
        """Return the command like `repeated`, but also with `cd` to a folder outside the project."""
        is_outside = self.part.folder and self.files.is_outside(self.part.folder)
        return f"cd {shlex.quote(self.part.folder)} && {self.repeated}" if is_outside else self.repeated


def leads_out(text: str) -> bool:
    """Return whether a text has an absolute path, which is valid only on one machine."""
    return bool(_ABSOLUTE.search(text))


_ABSOLUTE = late_pattern(
    r"(?<![^\s=:,'\"(])(?:/(?!dev/(?:null|stdin|stdout|stderr)\b)[^\s/:=]|~[\w/]|[A-Za-z]:[\\/](?!/))"
)

ActsOf: TypeAlias = Callable[[Command], Iterator[Act]]


def arguments_of(words: Sequence[str], valued: str = "") -> list[str]:
    """Return the arguments without options.  `valued` are the short options whose value is the next word."""
    found: list[str] = []
    at = 1
    while at < len(words):
        word = words[at]
        if word == "--":
            return [*found, *words[at + 1 :]]
        if len(word) > 1 and word[0] == "-":
            at += len(word) == 2 and word[1] in valued
        elif word:
            found.append(word)
        at += 1
    return found


def outputs_of(words: Sequence[str], short: str = "-o") -> Iterator[str]:
    """Yield the files named by `-o FILE` and `--output FILE`."""
    for at, word in enumerate(words):
        if word in (short, "--output", "--out", "--outfile", "--output-document") and words[at + 1 :]:
            yield words[at + 1]


def run_act(step: Command, reads: Iterable[str] = (), writes: Iterable[str] = ()) -> Act:
    """Return the act of running a command."""
    data = tuple(map(as_datum, reads)), tuple(map(as_datum, writes))
    return Act(Deed.RUN, step.shown, *data, command=step.typed)


def write_file(files: Files, name: str) -> Act:
    """Return the act of writing an entire file."""
    files.write(name)
    return Act(Deed.WRITE, name, (), (as_datum(name),))


def change_file(files: Files, name: str) -> Act:
    """Return the act of editing a file."""
    files.write(name)
    datum = as_datum(name)
    return Act(Deed.EDIT, name, (datum,), (datum,))


def patch_acts(patch: str, files: Files, folder: str = "") -> list[Act]:
    """Return the acts of a patch, file by file; none if the text is not a patch."""
    acts: list[Act] = []
    for one in patched_files(patch):
        if name := files.path_of(one.path, folder):
            acts.extend(_patched(files, one.verb, name, files.path_of(one.origin, folder)))
    return acts


def _patched(files: Files, verb: str, name: str, origin: str) -> Iterator[Act]:
    if verb == "Add":
        yield write_file(files, name)
    elif verb == "Update":
        yield change_file(files, name)
    elif verb == "Delete":
        files.forget(name)
        yield Act(Deed.DELETE, name)
    elif origin:
        files.write(name)
        files.forget(origin)
        yield Act(Deed.WRITE, name, (as_datum(origin),), (as_datum(name),))
        yield Act(Deed.DELETE, origin)


# --- commands as text ------------------------------------------------------------------------------------------------


def command_text(part: ShellCommand) -> str:
    """Return the command as a user would type it, without redirections."""
    words = (word if _SAFE.fullmatch(word) else shlex.quote(word) for word in part.words)
    return " ".join([*map(_setting_text, part.settings), *words])


def _setting_text(setting: str) -> str:
    """Return a setting with its value quoted again.  Variables in it are still expanded."""
    name, _, value = setting.partition("=")
    if value and not _SAFE.fullmatch(value.replace("$", "")):
        value = '"' + _QUOTED.sub(r"\\\g<0>", value) + '"' if "$" in value else shlex.quote(value)
    return f"{name}={value}"


_QUOTED = late_pattern(r'["\\`]')
_SAFE = late_pattern(r"[\w@%+=:,./*?~\[\]{}^!-]+")


# --- patches ---------------------------------------------------------------------------------------------------------


class Patched(NamedTuple):
    """One file in a patch.  `verb` is `Add`, `Update`, `Delete` or `Move`; `origin` is the path before a move."""

    verb: str
    path: str
    origin: str = ""


_HEAD = late_pattern(r"\*\*\* (Add|Update|Delete) File: (.+?)[ \t\r]*")
_MOVED = late_pattern(r"\*\*\* Move to: (.+?)[ \t\r]*")


def patched_files(patch: str) -> Iterator[Patched]:
    """Yield the files in an `apply_patch` or a unified diff."""
    verb = path = moved = before = ""
    mark = "*** " if "*** Begin Patch" in patch or _HEAD.search(patch) else "+++ "
    for line in [*patch.split("\n"), f"{mark}End"]:
        if line.startswith(mark):
            if (found := _MOVED.fullmatch(line)) and path:
                moved = found[1]
                continue
            if path:
                yield Patched("Move", moved, path) if moved else Patched(verb, path)
            verb, path, moved, before = *_head(line, before), "", ""
        elif line.startswith("--- "):
            before = _diffed(line)


def _head(line: str, before: str) -> tuple[str, str]:
    """Return the verb and path that a header line names.  `before` is the path in a diff's `---` line."""
    if head := _HEAD.fullmatch(line):
        return head[1], head[2]
    if not line.startswith("+++ ") or not before:
        return "", ""
    after = _diffed(line)
    if after == "/dev/null":
        return "Delete", before
    return ("Add" if before == "/dev/null" else "Update"), after


def _diffed(line: str) -> str:
    """Return the path in `--- a/limiter.py` or `+++ b/limiter.py`."""
    path = line[4:].partition("\t")[0].strip()
    return path[2:] if path.startswith(("a/", "b/")) else path
