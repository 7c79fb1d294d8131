"""The files that a session had to do with, by the names under which a workflow knows them.

Owns how a path becomes such a name (seen from the project, never absolute, legal as the name of a datum) and what a file
reads when it is run: the files that it imports, as its written content says or, where nothing is known of that, as its name says.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from crucible.acts.kinds import is_test_file, type_of
from crucible.note.contain import normal_line
from crucible.patterns import UNSEEN, late_pattern
from crucible.session.calls import one_line
from crucible.workflow.model import Datum

__all__ = ["Files", "as_datum", "datum_name"]

_LONGEST = 160
_SHOWN = 200
_MOST = 64
"""Files that one file reads when it is run."""

_ILLEGAL = late_pattern(r"[`,;|<>\"*?\\]|::+|\[\[+|\]\]+|%%+")
_ARROW = late_pattern(r"[-=]+>|[→⟶⇒➔➜]")
_BLANKS = late_pattern(r"\s+")


def datum_name(text: str) -> str:
    """A text as the name of a datum: one line without commas, backticks, arrows, `::`; "" when nothing is left.

    What is not legal is `_`, or `-` for an arrow; blanks in it stay, for such a name is written as a code span.
    """
    name = _BLANKS.sub(" ", UNSEEN.sub("", normal_line(text[:_LONGEST_PATH])))
    if not _plain(name):
        name = _ILLEGAL.sub("_", _ARROW.sub("-", name)).lstrip(" :").rstrip(" .:")
    return name if len(name) <= _LONGEST else name[-_LONGEST:].lstrip(" ._:/")


_PLAIN = late_pattern(r"[\w./@+-]*\w")


def _plain(name: str) -> bool:
    return bool(_PLAIN.fullmatch(name)) and "->" not in name


_LONGEST_PATH = 4096
_ENDS_OF_FOLDERS = ("/", "/.", "/..")
_SIMPLE = late_pattern(
    r"(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}/){0,2}[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,30}[A-Za-z0-9_])?"
)
"""Relative paths, no longer than a name may be, that are their own names."""
_HAS_LETTER = late_pattern(r"[^\W_]")
_NOWHERE = ("/dev/", "/proc/", "/sys/")
_SCHEME = late_pattern(r"[A-Za-z][\w+.-]+://")
_UNKNOWN = late_pattern(r"[$*?{}<>|`\n\x00]|\[[^\]]*\]\*")
_DRIVE = late_pattern(r"[A-Za-z]:[\\/]")


class _File(NamedTuple):
    """What is known of a file: what it imports, and whether that is all."""

    imports: tuple[str, ...] = ()
    whole: bool = False


_NOTHING = _File()


class Files:
    """The files known so far; `roots` are the folders that absolute paths are seen from, the project's first.

    Share one between a session and those that it delegated to, so that what one wrote the other may import.
    With `names_only` it is not asked what files import, and which are tests: an act tells no more than the files that it names.
    """

    def __init__(self, roots: Sequence[str] = (), *, names_only: bool = False) -> None:
        self.roots: list[str] = []
        self._names_only = names_only
        self._known: dict[str, _File] = {}
        self._inside: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self._written: defaultdict[str | None, dict[str, int]] = defaultdict(dict)
        self._tests: defaultdict[str | None, dict[str, None]] = defaultdict(dict)
        self._count = 0
        for root in roots:
            self.add_root(root)

    # --- names -------------------------------------------------------------------------------------------------------

    def add_root(self, root: str) -> None:
        """Another folder that absolute paths are seen from."""
        folder = _slashes(root).rstrip("/")
        if folder and folder not in self.roots:
            self.roots.append(folder)

    def shown(self, text: str) -> str:
        """A text in one line of at most 200 code points, with paths as seen from the first root."""
        return one_line(self.seen_from("", text), _SHOWN)

    def seen_from(self, folder: str, text: str) -> str:
        """A text with the paths in it as seen from a folder of the project, "" for the project's own."""
        if not self.roots or self.roots[0] not in text:
            return text
        back = "../" * (folder.count("/") + 1) if folder else ""
        root = re.escape(self.roots[0])
        inner = rf"(?P<inner>{root}/{re.escape(folder)}/)|" if folder else ""
        found = re.compile(rf"(?<![\w.~-])(?:{inner}(?P<path>{root}/)|{root}(?![\w.-]))")
        return found.sub(
            lambda m: "" if folder and m["inner"] else back if m["path"] else back.rstrip("/") or ".", text
        )

    def folder_of(self, folder: str) -> str:
        """A folder as seen from the project; "" for the project's own, for one outside of it and for what cannot be known."""
        if not folder:
            return ""
        path = posixpath.normpath(normal_line(_slashes(folder)))
        for root in self.roots:
            path = path.removeprefix(f"{root}/") if path != root else "."
        is_known = (
            not _UNKNOWN.search(path) and not _is_absolute(path) and path.split("/")[0] not in (".", "..")
        )
        return path if is_known else ""

    def is_root(self, folder: str) -> bool:
        """Whether a folder is the first of the roots, from which relative paths are seen."""
        return _slashes(folder).rstrip("/") in self.roots[:1] or folder in (".", "./")

    def path_of(self, path: str, folder: str = "") -> str:
        """The name of a file; "" for what is none: a glob, a variable, a device, a URL, a folder by its `/`.

        `folder` is where a relative path is seen from: a relative folder, or an absolute one.
        """
        if (
            not folder
            and _SIMPLE.fullmatch(path)
            and _HAS_LETTER.search(path)
            and not self._inside_root(path)
        ):
            return path
        path = normal_line(_slashes(path[: _LONGEST_PATH + 1].strip()))
        if not path or len(path) > _LONGEST_PATH or path.endswith(_ENDS_OF_FOLDERS) or path == "-":
            return ""
        if path.startswith(_NOWHERE) or _UNKNOWN.search(path) or _SCHEME.match(path):
            return ""
        if folder and not _is_absolute(path) and not _UNKNOWN.search(folder):
            path = f"{normal_line(_slashes(folder)).rstrip('/')}/{path}"
        name = datum_name(self._relative(path))
        return "" if name.startswith("/") or not _HAS_LETTER.search(name) or ".." in name.split("/") else name

    def _inside_root(self, path: str) -> bool:
        return any(path == root or path.startswith(f"{root}/") for root in self.roots)

    def _relative(self, path: str) -> str:
        path = posixpath.normpath(path)
        if path in self.roots:
            return ""
        for root in self.roots:
            if path.startswith(f"{root}/"):
                return path[len(root) + 1 :]
        if _is_absolute(path):
            parts = path.split("/")
            tails = ("/".join(parts[at:]) for at in range(max(1, len(parts) - 12), len(parts)))
            return next((tail for tail in tails if tail in self._known), parts[-1])
        while path.startswith("../"):
            path = path[3:]
        return path

    # --- what is known -----------------------------------------------------------------------------------------------

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def learn(self, name: str, text: str | None = None, *, whole: bool = False) -> None:
        """A file is there; `text` is its content or, unless that is `whole`, a part of it."""
        before = self._known.get(name)
        if before is None:
            before = self._known[name] = _NOTHING
            for folder in _above(name):
                self._inside[folder][name] = None
            if not self._names_only and is_test_file(name):
                self._tests[type_of(name)][name] = None
        if self._names_only:
            return
        found = _imported(name, text) if text else ()
        imports = tuple(dict.fromkeys([*before.imports, *found]))[:_MOST]
        self._known[name] = _File(imports, before.whole or whole)

    def write(self, name: str, text: str | None) -> None:
        """A file has this content now and nothing else; None when that is not known."""
        if name in self._known:
            self._known[name] = _File()
        self._note_written(name)
        self.learn(name, text, whole=text is not None)

    def change(self, name: str, text: str | None = None) -> None:
        """A file was changed; `text` is what was put into it."""
        self._note_written(name)
        self.learn(name, text)

    def copy(self, origin: str, name: str) -> None:
        """A file has the content of another."""
        self._note_written(name)
        self.learn(origin)
        self.learn(name)
        self._known[name] = self._known[origin]

    def forget(self, name: str) -> None:
        """A file, or a folder, is there no more."""
        for gone in [name, *self._inside.pop(name, {})]:
            self._known.pop(gone, None)
            self._written[type_of(gone)].pop(gone, None)
            self._tests[type_of(gone)].pop(gone, None)
            for folder in _above(gone):
                self._inside[folder].pop(gone, None)

    def _note_written(self, name: str) -> None:
        if self._names_only:
            return
        self._count += 1
        self._written[type_of(name)][name] = self._count

    def inside(self, folder: str) -> tuple[str, ...]:
        """The known files in a folder and below, at most 64."""
        return tuple(islice(self._inside.get(folder, ()), _MOST))

    def written(self, types: Iterable[str]) -> tuple[str, ...]:
        """The files of some types that were written or changed, in that order; the last 64 of each type."""
        found = (
            pair for kind in sorted(types) for pair in islice(reversed(self._written[kind].items()), _MOST)
        )
        return tuple(name for name, _ in sorted(found, key=lambda pair: pair[1]))

    def tests(self, types: Iterable[str]) -> tuple[str, ...]:
        """The known files of tests of some types, at most 64 of each."""
        return tuple(name for kind in sorted(types) for name in islice(self._tests[kind], _MOST))

    # --- imports -----------------------------------------------------------------------------------------------------

    def imported_by(self, name: str) -> tuple[str, ...]:
        """The known files that a file imports; by its name, when its content is not known and it is one of tests."""
        if self._names_only:
            return ()
        file = self._known.get(name, _File())
        found = self._resolved(name, file.imports)
        if found or file.whole:
            return found
        return tuple(other for other in _tested(name) if other in self._known)[:1]

    def imported_in(self, code: str, folder: str, ending: str) -> tuple[str, ...]:
        """The known files that a piece of code imports, which is run in a folder."""
        if self._names_only:
            return ()
        here = f"{folder}/-.{ending}" if folder and not _is_absolute(folder) else f"-.{ending}"
        return self._resolved(here, _imported(here, code))

    def closure(self, names: Iterable[str]) -> tuple[str, ...]:
        """These files and all that they import, each once, at most 64 or as many as were given."""
        found = list(dict.fromkeys(names))
        seen = set(found)
        for name in found:
            for other in self.imported_by(name):
                if other not in seen and len(found) < _MOST:
                    seen.add(other)
                    found.append(other)
        return tuple(found)

    def _resolved(self, name: str, imports: Sequence[str]) -> tuple[str, ...]:
        folder, tested = name.rpartition("/")[0], _tested(name)
        found: dict[str, None] = {}
        for wanted in imports:
            places = list(_places(wanted, folder))
            known = next((place for place in places if place in self._known), None)
            # A test names what it tests: a module of that name is a file of this project though nothing was seen of it.
            known = known or next((place for place in places if place in tested), None)
            if known and known != name:
                found[known] = None
        return tuple(found)


def as_datum(name: str) -> Datum:
    """A file as a datum, with the type of its kind."""
    return Datum(name, type_of(name))


def _slashes(path: str) -> str:
    """With slashes, where it is one of Windows'."""
    return path.replace("\\", "/") if _DRIVE.match(path) or "/" not in path else path


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or bool(_DRIVE.match(path))


# --- imports ---------------------------------------------------------------------------------------------------------

_PYTHON_IMPORT = late_pattern(
    r"(?:^|[\n;])[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+([\w, \t]*)|import[ \t]+([\w., \t]+))"
)
_SCRIPT_IMPORT = late_pattern(r"(?:\bfrom|\bimport|\brequire\(|\bimport\()[ \t]*['\"]([^'\"\n]{1,300})['\"]")
_SOURCED = late_pattern(r"(?:^|\n)[ \t]*(?:source|\.)[ \t]+['\"]?([\w./-]{1,300})")
_INCLUDED = late_pattern(r"#[ \t]*include[ \t]*\"([^\"\n]{1,300})\"")
_RUBY = late_pattern(r"\brequire(?:_relative)?[ \t(]+['\"]([^'\"\n]{1,300})['\"]")
_RUST = late_pattern(r"(?:^|\n)[ \t]*(?:pub[ \t]+)?mod[ \t]+(\w+)[ \t]*;")
_MOST_TEXT = 1 << 18


def _imported(name: str, text: str) -> tuple[str, ...]:
    """What a text imports, as paths without or with an ending, in order; a module's dots are slashes, `./` is its folder."""
    text = text[:_MOST_TEXT]
    match type_of(name):
        case "Python" | "Notebook":
            found = _python_modules(text)
        case "JavaScript" | "TypeScript" | "Vue" | "Svelte":
            found = (m for m in _SCRIPT_IMPORT.findall(text) if m.startswith("."))
        case "Shell":
            found = iter(_SOURCED.findall(text))
        case "C" | "Cpp" | "ObjectiveC":
            found = iter(_INCLUDED.findall(text))
        case "Ruby":
            found = iter(_RUBY.findall(text))
        case "Rust":
            found = iter(_RUST.findall(text))
        case _:
            found = iter(())
    return tuple(dict.fromkeys(found))[:_MOST]


def _python_modules(text: str) -> Iterator[str]:
    for origin, names, modules in _PYTHON_IMPORT.findall(text):
        if origin:
            dots = len(origin) - len(origin.lstrip("."))
            base = ("./" if dots == 1 else "../" * (dots - 1)) + origin.lstrip(".").replace(".", "/")
            yield base.rstrip("/") or base
            for name in names.split(","):
                if word := name.split(" as ")[0].strip():
                    yield f"{base.rstrip('/')}/{word}"
        for module in modules.split(","):
            if word := module.split(" as ")[0].strip():
                yield word.replace(".", "/")


_ENDED = (
    ".py",
    ".ts",
    ".tsx",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".vue",
    ".rb",
    ".rs",
    "/__init__.py",
    "/index.ts",
    "/index.js",
    "/mod.rs",
)


def _places(wanted: str, folder: str) -> Iterator[str]:
    """Where an import may lie: beside the file, then from the project's folder, then in its `src`."""
    folders = [folder] if wanted.startswith(".") else [folder, *_above(folder), "", "src", "lib"]
    for base in dict.fromkeys(folders):
        path = posixpath.normpath(posixpath.join(base, wanted))
        if path.startswith(".."):
            continue
        yield path
        stem = path.rpartition(".")[0] if path.endswith((".js", ".mjs", ".jsx")) else path
        for ending in _ENDED:
            yield f"{stem}{ending}"


def _above(path: str) -> Iterator[str]:
    """The folders that a path lies in, the nearest first, at most 12."""
    for _ in range(12):
        path = path.rpartition("/")[0]
        if not path:
            return
        yield path


_TEST_NAME = late_pattern(r"tests?[_-](?P<a>.+)|(?P<b>.+?)[_.-](?:tests?|specs?)|(?P<c>.+[a-z])Tests?")


def _tested(name: str) -> tuple[str, ...]:
    """Where the file lies that a file of tests tests, by their names: `test_limiter.py` tests `limiter.py`."""
    folder, _, file = name.rpartition("/")
    stem, dot, ending = file.rpartition(".")
    found = _TEST_NAME.fullmatch(stem[:200]) if dot else None
    if not found:
        return ()
    tested = f"{found['a'] or found['b'] or found['c']}.{ending}"
    folders = [folder, *_above(folder), "", "src", "lib"]
    return tuple(dict.fromkeys(f"{base}/{tested}" if base else tested for base in folders))
