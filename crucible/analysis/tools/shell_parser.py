"""Split a shell script into simple commands.

Nothing is run or expanded: `$NAME` stays as it is.  Any text can be parsed, in one pass.  An unclosed quote or
here-document ends with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern

_SHORT = 1000
"""Maximum code points in a script whose commands are cached."""
_DEEPEST = 4
"""Maximum depth of nested scripts and substitutions."""


class ShellCommand(NamedTuple):
    """One simple command.

    `words` are its words without quotes, redirections and wrappers such as `sudo`; `settings` are the `A=b` before
    them.  `takes`, `gives` and `adds` are the files after `<`, `>` and `>>`.  `fed` is the text of its here-document.
    `folder` is where earlier `cd` commands led, or "" for the script's own folder.  `piped` is True if it reads from a
    pipe.
    """

    words: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    fed: str | None = None
    folder: str = ""
    piped: bool = False


def parse_script(script: str, folder: str = "") -> tuple[ShellCommand, ...]:
    """Return all commands in a script, in order.

    Those in a substitution or nested script precede the command around them.
    """
    if len(script) > _SHORT:
        return tuple(_parts(script, folder, 0))
    return _cached_parts(script, folder)


@lru_cache(maxsize=512)
def _cached_parts(script: str, folder: str) -> tuple[ShellCommand, ...]:
    """Parse and cache: a session runs the same commands many times, and several callers parse them."""
    return tuple(_parts(script, folder, 0))


def _parts(script: str, folder: str, depth: int) -> Iterator[ShellCommand]:
    for draft in _Scanner(script, folder).drafts():
        if depth < _DEEPEST:
            for inner in draft.inner:
                yield from _parts(inner, draft.folder, depth + 1)
        part = draft.part()
        script_within = _script_of(part) if depth < _DEEPEST else None
        if script_within is not None:
            yield from _parts(script_within, part.folder, depth + 1)
            part = part._replace(words=(), fed=None)
        if part.words or part.takes or part.gives or part.adds:
            yield part


# --- one script ------------------------------------------------------------------------------------------------------

_TOKEN = late_pattern(
    r"(?P<blank>(?>(?:[ \t\r\f\v]|\\\r?\n)+))"
    r"|(?P<line>\n)"
    r"|(?P<within>\$\(|[<>]\(|`)"
    r"|(?P<redirect>(?:\d{1,3}|&)?(?:<<<|<<-?|>>|>\||>&|<&|<>|<|>))"
    r"|(?P<operator>&&|\|\||\|&|;;&?|[;&|()])"
    r"|(?P<single>'[^']*+(?:'|\Z))"
    r"|(?P<ansi>\$'(?>(?:[^'\\]|\\.)*)(?:'|\\?\Z))"
    r'|(?P<double>\$?")'
    r"|(?P<escape>\\(?:.|\Z))"
    r"|(?P<plain>[^\s\\'\"`$|&;<>()]++|\$|\s)",
    re.DOTALL,
)
_PLAIN = late_pattern(r"[\w@%+=:,./ -]*")
_DOUBLE_ESCAPE = late_pattern(r"\\([\"\\$`]|\n)")
_ANSI_ESCAPE = late_pattern(r"\\([ntr'\"\\])")
_ANSI_MEANS = {"n": "\n", "t": "\t", "r": "\r"}
_SETTING = late_pattern(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_KEYWORDS = frozenset("if then else elif while until do ! { time coproc".split())  # noqa: SIM905
_NO_COMMAND = frozenset("for select case function done fi esac } [[ (( [ test local declare".split())  # noqa: SIM905
_FOLDERS = frozenset({"cd", "pushd"})


@dataclass(slots=True)
class _Draft:
    """A command that is being read."""

    folder: str
    piped: bool = False
    words: list[str] = field(default_factory=list)
    redirects: list[tuple[str, str]] = field(default_factory=list)
    fed: str | None = None
    inner: list[str] = field(default_factory=list)

    def part(self) -> ShellCommand:
        words = self.words
        first = next((at for at, word in enumerate(words) if word not in _KEYWORDS), len(words))
        words = words[first:]
        count = next((at for at, word in enumerate(words) if not _SETTING.match(word)), len(words))
        settings, words = words[:count], words[count:]
        command = list(_unwrapped(words))
        compares = bool(words) and words[0] in ("[[", "((")
        if words and words[0] in _NO_COMMAND:
            words = command = []
        settings += [word for word in words[: len(words) - len(command)] if _SETTING.match(word)]
        files = {"<": list[str](), ">": list[str](), ">>": list[str]()}
        for kind, target in self.redirects:
            if not compares:
                files[kind].append(target)
        return ShellCommand(
            tuple(command),
            tuple(settings) if words else (),
            tuple(files["<"]),
            tuple(files[">"]),
            tuple(files[">>"]),
            self.fed,
            self.folder,
            self.piped and "xargs" not in words,
        )


class _Scanner:
    """Reads one script from start to end."""

    def __init__(self, script: str, folder: str) -> None:
        self._text = script
        self._draft = _Draft(folder)
        self._word: list[str] | None = None
        self._redirect = ""
        self._waiting: list[tuple[_Draft, str, bool]] = []
        self._folders: list[str] = []

    def drafts(self) -> Iterator[_Draft]:
        """Yield the commands line by line, since a here-document follows the line of its command."""
        held: list[_Draft] = []
        at, text = 0, self._text
        if _PLAIN.fullmatch(text):  # most scripts are plain words
            self._draft.words, at = text.split(), len(text)
        while at < len(text):
            if self._word is None and text[at] == "#":
                at = _line_end(text, at)
                continue
            token = _TOKEN.match(text, at)
            if token is None:  # impossible: the pattern matches any character
                break
            kind, at = token.lastgroup or "", token.end()
            if kind == "line":
                self._end_command(held, ";")
                at = self._read_documents(at)
                yield from held
                held.clear()
            elif kind == "operator":
                self._end_command(held, token[0])
            else:
                at = self._continue_command(kind, token, at)
        self._end_command(held, ";")
        yield from held

    def _continue_command(self, kind: str, token: re.Match[str], at: int) -> int:
        """Read a token that does not end the command; return where the next token begins."""
        if kind == "blank":
            self._end_word()
        elif kind == "redirect":
            self._end_word()
            self._redirect = token[0].lstrip("0123456789")
        elif kind == "double":
            end = _closing(self._text, at, '"')
            self._add_quoted(self._text[at : end - 1] if self._text[end - 1 : end] == '"' else self._text[at:end])
            return end
        elif kind == "within":
            end = _closing(self._text, at, "`" if token[0] == "`" else ")")
            self._draft.inner.append(self._text[at : max(at, end - 1)])
            self._add(self._text[token.start() : end])
            return end
        else:
            self._add(_unquoted(kind, token[0]))
        return at

    def _add(self, text: str) -> None:
        if self._word is None:
            self._word = []
        self._word.append(text)

    def _add_quoted(self, text: str) -> None:
        """Add text from double quotes, and collect its command substitutions."""
        at = 0
        while (found := _SUBSTITUTION.search(text, at)) is not None:
            at = found.end()
            if found[0][0] != "\\":
                end = _closing(text, at, "`" if found[0] == "`" else ")")
                self._draft.inner.append(text[at : max(at, end - 1)])
                at = end
        self._add(_DOUBLE_ESCAPE.sub(lambda m: "" if m[1] == "\n" else m[1], text))

    def _end_word(self) -> None:
        if self._word is None:
            return
        word, self._word = "".join(self._word), None
        redirect, self._redirect = self._redirect, ""
        if not redirect:
            self._draft.words.append(word)
        elif redirect in ("<<", "<<-"):
            self._waiting.append((self._draft, word, redirect == "<<-"))
        elif redirect == "<<<":
            self._draft.fed = word
        elif redirect in (">&", "<&") and (word.isdigit() or word == "-"):
            pass
        else:
            kind = ">>" if redirect in (">>", "&>>") else "<" if redirect[0] == "<" else ">"
            self._draft.redirects.append((kind, word))

    def _end_command(self, held: list[_Draft], operator: str) -> None:
        self._end_word()
        self._redirect = ""
        draft = self._draft
        folder = draft.folder
        if draft.words and draft.words[0] in _FOLDERS and operator not in ("|", "|&"):
            folder = _changed_folder(folder, draft.words[1:])
            draft.words = []
        if operator == "(":
            self._folders.append(folder)
        elif operator == ")" and self._folders:
            folder = self._folders.pop()
        if draft.words or draft.redirects or draft.inner or self._waits(draft):
            held.append(draft)
        self._draft = _Draft(folder, piped=operator in ("|", "|&"))

    def _waits(self, draft: _Draft) -> bool:
        return bool(self._waiting) and self._waiting[-1][0] is draft

    def _read_documents(self, at: int) -> int:
        """Read the here-documents that the previous line announced.  Return the position where they end."""
        for draft, name, tabs in self._waiting:
            lines: list[str] = []
            while at < len(self._text):
                end = _line_end(self._text, at)
                line, at = self._text[at:end], end + 1
                line = line.lstrip("\t") if tabs else line
                if line.rstrip("\r") == name:
                    break
                lines.append(line)
            draft.fed = "".join(f"{line}\n" for line in lines)
        self._waiting.clear()
        return min(at, len(self._text))


_SUBSTITUTION = late_pattern(r"\\.|\$\(|`", re.DOTALL)
_INNER = late_pattern(r"""\\.|\$\(|["'`()]|<<-?[ \t]*(?P<quote>['"]?)(?P<name>[A-Za-z_]\w*)(?P=quote)""", re.DOTALL)


def _closing(text: str, at: int, closer: str) -> int:
    """Return the position after the `closer` of a quote or bracket opened before `at`; if missing, the text's end."""
    opened = [closer]
    while opened and (found := _INNER.search(text, at)) is not None:
        sign, at, inside = found[0], found.end(), opened[-1]
        if sign[0] == "\\":
            continue
        if sign == inside:
            opened.pop()
        elif sign == "$(":
            opened.append(")")
        elif sign in ('"', "`"):
            opened.append(sign)
        elif inside != '"' and sign == "(":
            opened.append(")")
        elif inside != '"' and sign == "'":
            at = text.find("'", at) + 1 or len(text)
        elif inside != '"' and found["name"]:
            at = _after_document(text, at, found["name"])
    return len(text) if opened else at


def _after_document(text: str, at: int, name: str) -> int:
    """Return the position after a here-document; the end of the text if it is not closed."""
    while (at := text.find(f"\n{name}", at)) >= 0:
        at += len(name) + 1
        if text[at : at + 1] in ("", "\n", "\r", ")"):
            return at
    return len(text)


def _unquoted(kind: str, text: str) -> str:
    if kind == "single":
        return text[1:].removesuffix("'")
    if kind == "ansi":
        return _ANSI_ESCAPE.sub(lambda m: _ANSI_MEANS.get(m[1], m[1]), text[2:].removesuffix("'"))
    if kind == "escape":
        return "" if text == "\\\n" else text[1:]
    return text


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _changed_folder(folder: str, words: Sequence[str]) -> str:
    """Return the folder after `cd` with these arguments."""
    to = next((word for word in words if not word.startswith("-")), "")
    if to.startswith(("/", "~")) or not folder:
        return to
    return f"{folder}/{to}" if to and len(folder) < 512 else folder


# --- wrappers --------------------------------------------------------------------------------------------------------

_WRAPPERS = {
    "sudo": "ugpCD", "doas": "uC", "env": "uCS", "nohup": "", "time": "fo", "timeout": "sk", "nice": "n", "ionice": "cn",
    "command": "", "builtin": "", "exec": "a", "stdbuf": "ioe", "setsid": "", "xargs": "nIPdLsE", "watch": "n",
    "caffeinate": "t", "chronic": "", "unbuffer": "",
}  # fmt: skip
"""Commands that run another command, and their short options that take a value."""

_SHELLS = frozenset("bash sh zsh dash ksh fish ash".split())  # noqa: SIM905


def _unwrapped(words: Sequence[str]) -> Sequence[str]:
    """Return the command without wrappers: `sudo -u me timeout 9 make test` becomes `make test`."""
    at = 0
    while at < len(words):
        wrapper = words[at].rpartition("/")[2]
        if wrapper not in _WRAPPERS:
            return words[at:]
        found = _after_options(words, at + 1, _WRAPPERS[wrapper])
        if wrapper == "timeout":
            found += 1
        if found >= len(words) or (wrapper == "command" and words[at + 1].startswith("-")):
            return words[at:]
        at = found
    return words[at:]


def _after_options(words: Sequence[str], at: int, valued: str) -> int:
    while at < len(words):
        word = words[at]
        if len(word) == 2 and word[0] == "-" and word[1] in valued:
            at += 1
        elif not word.startswith("-") and not _SETTING.match(word):
            break
        at += 1
    return at


def _script_of(part: ShellCommand) -> str | None:
    """Return the inline script of a shell or `eval`; None for any other command, and for a script in a file."""
    if not part.words:
        return None
    name = part.words[0].rpartition("/")[2]
    if name == "eval":
        return " ".join(part.words[1:])
    if name not in _SHELLS:
        return None
    for at, word in enumerate(part.words[1:], 1):
        if not word.startswith("-"):
            return None
        if not word.startswith("--") and "c" in word:
            return " ".join(part.words[at + 1 : at + 2])
    return part.fed
