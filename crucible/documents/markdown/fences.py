"""Find complete fences, and escape their info strings and their text, by the rules of both formats.

An incomplete fence is treated as prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, seal_rendered, unseal_rendered

_LANGUAGES = """
    apache applescript asciidoc asm astro awk bash bat batch bazel bibtex c c++ cc cfg clj clojure cmake cmd coffee
    console cpp cr crystal cs csharp csproj css csv cue cxx cython d dart diff django docker dockerfile dosini dotenv
    ebnf ejs elixir elm env erb erl erlang ex exs f90 fish fortran fs fsharp gherkin git gitignore gleam glsl go gomod
    gotmpl gql gradle graphql groovy h haml handlebars haskell haxe hbs hcl hlsl hpp hs html http ini java javascript
    jinja jinja2 jl js json json5 jsonc jsonl jsonnet jsp jsx julia just justfile kotlin kt kts latex less liquid lisp
    llvm log lua m make makefile markdown matlab md mdx mk ml mm mojo mustache nasm nginx nim nix objc objective-c
    objectivec ocaml odin output pascal patch perl php pl plain plaintext plist postgres powershell prisma prolog
    properties proto protobuf ps1 psql pug pwsh py py3 pycon python python3 r racket raku rb re regex rego rst ruby
    rust rs sass sc scala scheme scss sh shell shell-session shellscript sol solidity sparql sql sqlite starlark
    stderr stdout svelte svg swift systemd tcl terminal terraform tex text tf thrift toml traceback ts tsv tsx twig
    txt typescript typst v vb vbnet verilog vhdl vim viml vue wasm wat wgsl xml yaml yml zig zsh
"""
LANGUAGES = frozenset(_LANGUAGES.split())
"""Info strings of fences that only select syntax highlighting."""

_OLD_FENCE_WORDS = frozenset({"tasks", "session-toon", "dataview", "dataviewjs", "query", "base", "mermaid"})
"""The info strings that format 1 escapes."""


class Part(NamedTuple):
    """A part of a text: prose, or a complete fence.  A fence at the margin is `alone`: it is rendered separately."""

    text: str
    alone: bool = False


def by_parts(text: str, prose: Callable[[str], str], fence: Callable[[list[str]], list[str]]) -> list[Part]:
    """Apply `prose` to prose, and `fence` to the lines of each complete fence."""
    fences = whole_fences(text)
    if not fences:
        return [Part(prose(text))]
    lines, parts, at = text.split("\n"), list[Part](), 0
    for first, end in fences:
        if at < first:
            parts.append(Part(prose("\n".join(lines[at:first]))))
        parts.append(Part("\n".join(fence(lines[first:end])), lines[first][:1] in "`~"))
        at = end
    if at < len(lines):
        parts.append(Part(prose("\n".join(lines[at:]))))
    return parts


def joined(parts: Iterable[Part]) -> str:
    """Join the parts into text."""
    return "\n".join(part.text for part in parts)


def seal_parts(parts: Iterable[Part], before: str = "", after: str = "") -> str:
    """Apply `seal_rendered` to the parts; parts that are rendered together are escaped together."""
    runs = [(alone, joined(run)) for alone, run in groupby(parts, key=lambda part: part.alone)]
    last = len(runs) - 1
    return "\n".join(
        seal_rendered(text) if alone else seal_rendered(text, before if at == 0 else "", after if at == last else "")
        for at, (alone, text) in enumerate(runs)
    )


_OPENER = late_pattern(r"( *)((?:[-+*]|1[.)]) {1,4})?(`{3,}(?!.*`)|~{3,})(.*)")
_CLOSER = late_pattern(r"[ \t]*(`{3,}|~{3,})[ \t]*$")
_ITEM = late_pattern(r"([-+*]|[0-9]{1,9}[.)]) {1,4}(?=[^ \t])")
_DEEPEST = 4
_MIDDLE_OF_PARAGRAPH = frozenset({"-", "+", "*", "1.", "1)"})  # the list markers that may interrupt a paragraph
_INFO = late_pattern(r"(\s*)(\\*)(.*)", re.DOTALL)
_WORD = late_pattern(r"[\w-]+")
_ESCAPED = late_pattern(r"\\([!-/:-@\[-`{-~])")


def _is_new(word: str, rest: str) -> bool:
    """True if a plugin may act on a fence with this first word: any word that is not a known language."""
    return word.lower() not in LANGUAGES or "{" in rest or "quickadd" in rest


def _is_old(word: str, rest: str) -> bool:  # noqa: ARG001  format 1 checked the word alone
    found = _WORD.match(word)
    return found is not None and found[0].lower() in _OLD_FENCE_WORDS


_Acts = Callable[[str, str], bool]


def _reads(info: str) -> str:
    """Decode entities and escapes in an info string, as Markdown parsers do first."""
    read = _ESCAPED.sub(r"\1", info)
    if "&" in read:
        import html  # noqa: PLC0415  a large table, and few fences have entities

        read = html.unescape(read)
    return read.strip()


def _acts(line: str, acts: _Acts) -> bool:
    """True if a plugin may act on a fence with this first line."""
    opener = _OPENER.match(line)
    read = _reads(opener[4].lstrip().lstrip("\\")) if opener else ""
    word, *rest = read.split(None, 1) or [""]
    return bool(word) and acts(word, "".join(rest))


def _change_info(line: str, by: int, acts: _Acts) -> str:
    """Add `by` backslashes before the info string of a fence, if a plugin may act on it."""
    opener = _OPENER.match(line)
    info = opener and _INFO.match(opener[4])
    if not opener or not info or not _acts(line, acts):
        return line
    return line[: opener.start(4)] + info[1] + "\\" * max(0, len(info[2]) + by) + info[3]


_ACTING_START = r"(?:\$?=|dice[\w+-]*:|button)"
"""The start of a fence's text that a plugin acts on."""
_FENCE_START = late_pattern(rf"\s*(?=\\*{_ACTING_START})")
_SEALED_FENCE_START = late_pattern(rf"(\s*)\\(?=\\*{_ACTING_START})")


def seal_fence(lines: list[str], form: int) -> list[str]:
    """Escape the lines of a complete fence."""
    if form < FORMAT:
        return [_change_info(lines[0], 1, _is_old), *lines[1:]]
    return _sealed_inside(_change_info(lines[0], 1, _is_new), lines[1:])


def _sealed_inside(opener: str, lines: list[str]) -> list[str]:
    """Escape the text within a fence.  Markdown reads it as code, but some plugins as a query or a field."""
    inner = "\n".join(lines)
    found = _FENCE_START.match(inner)
    if found and (inner[found.end() : found.end() + 1] != "b" or "button-" in inner):
        inner = f"{found[0]}\\{inner[found.end() :]}"
    return [opener, *inner.split("\n")]


def unseal_fence(lines: list[str], form: int) -> list[str]:
    """The inverse of `seal_fence`, applied after `unseal_rendered`."""
    if form < FORMAT:
        return [_change_info(lines[0], -1, _is_old), *lines[1:]]
    inner = "\n".join(lines[1:])
    if found := _SEALED_FENCE_START.match(inner):
        inner = f"{found[1]}{inner[found.end() :]}"
    return [_change_info(lines[0], -1, _is_new), *inner.split("\n")]


def whole_fences(text: str) -> list[tuple[int, int]]:
    """Return the first line and the end of each fence that remains a fence wherever the text is inserted.

    The opener is at column n after spaces or one list marker, all lines up to the closer are blank or indented by n,
    and the first line that looks like a closer is indented by exactly n.  From column 4 on, the opener must be in a
    list item of this text, since it could otherwise continue a paragraph.
    """
    if "```" not in text and "~~~" not in text:
        return []
    lines = text.split("\n")
    candidates = _candidates(lines)
    deep = any(opener.end(1) > 3 for _, opener, _ in candidates)
    found, items, at = list[tuple[int, int]](), _Items(), 0
    shallow: dict[int, int] = {}
    for first, opener, closer in candidates:
        if first < at:
            continue
        if deep:
            items.enter(lines[at : first + 1])
            at = first + 1
        if items.fit(opener) and _whole(lines, first, opener.start(3), closer, shallow):
            found.append((first, closer + 1))
            at = closer + 1
    return found


def fenced_lines(lines: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines that belong to complete fences, markers included."""
    return frozenset(at for first, end in whole_fences("\n".join(lines)) for at in range(first, end))


def _candidates(lines: list[str]) -> list[tuple[int, re.Match[str], int]]:
    """Yield each line that may open a fence, with the first later line that looks like its closer.

    Openers are paired in one pass from the end, since a search per opener took seconds for thousands of unclosed ones.
    """
    after: dict[str, list[tuple[int, int]]] = {
        "`": [],
        "~": [],
    }  # (-length, line): the nearest and shortest is last
    found: list[tuple[int, re.Match[str], int]] = []
    for at in range(len(lines) - 1, -1, -1):
        line = lines[at]
        if "```" not in line and "~~~" not in line:
            continue
        if opener := _OPENER.match(line):
            ahead = after[opener[3][0]]
            fitting = bisect_left(ahead, (1 - len(opener[3]),)) - 1
            if fitting >= 0:
                found.append((at, opener, ahead[fitting][1]))
        if closer := _CLOSER.match(line):
            ahead, length = after[closer[1][0]], len(closer[1])
            while ahead and -ahead[-1][0] <= length:
                ahead.pop()
            ahead.append((-length, at))
    found.reverse()
    return found


def _whole(lines: list[str], at: int, column: int, closer: int, shallow: dict[int, int]) -> bool:
    """True if all lines up to the closer are indented by `column`.  `shallow` caches lines that are not."""
    indent = " " * column
    if not lines[closer].startswith(indent) or lines[closer][column] not in "`~":
        return False
    if column == 0:
        return True
    if at < shallow.get(column, -1) < closer:
        return False
    for number in range(at + 1, closer):
        if lines[number].strip(" \t") and not lines[number].startswith(indent):
            shallow[column] = number
            return False
    return True


class _Items:
    """The columns of the list items known to be open, updated line by line."""

    __slots__ = ("_after_blank", "_columns", "_parent")

    def __init__(self) -> None:
        self._columns: list[int] = []
        self._parent = 0
        self._after_blank = True

    def enter(self, lines: Sequence[str]) -> None:
        """Process lines that are outside fences."""
        for line in lines:
            self._enter(line)

    def _enter(self, line: str) -> None:
        text = line.lstrip(" ")
        if not text:
            self._after_blank = True
            return
        indent, left = len(line) - len(text), False
        if text[0] == "\t":
            self._columns.clear()
        while self._columns and self._columns[-1] > indent:
            self._columns.pop()
            left = True
        self._parent = self._columns[-1] if self._columns else 0
        item = _ITEM.match(text)
        certain = self._after_blank or left or (item is not None and item[1] in _MIDDLE_OF_PARAGRAPH)
        if item and certain and indent - self._parent <= 3:
            self._columns.append(indent + item.end())
        self._after_blank = False

    def fit(self, opener: re.Match[str]) -> bool:
        """True if the last line is neither indented code nor part of a paragraph at its column."""
        indent = opener.end(1)
        return indent <= 3 or (indent - self._parent <= 3 and len(self._columns) <= _DEEPEST)


def convert_fence(lines: list[str]) -> list[str]:
    """Convert the lines of a complete fence from format 1 to format 2."""
    opener, *inner = lines
    return _sealed_inside(opener if _acts(opener, _is_old) else _change_info(opener, 1, _is_new), inner)


def contain_code(text: str) -> str:
    """Escape untrusted text for use within one of our fences."""
    return seal_rendered("\n".join(_sealed_inside("", text.split("\n"))[1:]))


def uncontain_code(text: str, form: int = FORMAT) -> str:
    """The inverse of `contain_code`; `form` is the note's `format`."""
    return text if form < FORMAT else "\n".join(unseal_fence(["", *unseal_rendered(text).split("\n")], form)[1:])
