"""The files of a session: their paths relative to the project, as names of data, and which were written so far."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import islice

from crucible.analysis.tools.file_kinds import is_test_file, type_of
from crucible.core.patterns import UNSEEN, late_pattern
from crucible.documents.markdown.containment import normal_line
from crucible.documents.recording.call_lines import one_line
from crucible.documents.workflow.workflow import Datum

_LONGEST = 160
_SHOWN = 200
_MOST = 64
"""Maximum number of files per type that a command without arguments reads."""

_ILLEGAL = late_pattern(r"[`,;|<>\"*?\\]|::+|\[\[+|\]\]+|%%+")
_ARROW = late_pattern(r"[-=]+>|[→⟶⇒➔➜]")
_BLANKS = late_pattern(r"\s+")


def datum_name(text: str) -> str:
    """Turn a text into the name of a datum: one line without commas, backticks, arrows and `::`; "" if nothing is left.

    An arrow becomes `-`, other illegal characters become `_`.  Spaces are kept, since names are written as code spans.
    """
    name = _BLANKS.sub(" ", UNSEEN.sub("", normal_line(text[:_LONGEST_PATH])))
    name = _ILLEGAL.sub("_", _ARROW.sub("-", name)).lstrip(" :").rstrip(" .:")
    return name if len(name) <= _LONGEST else name[-_LONGEST:].lstrip(" ._:/")


_LONGEST_PATH = 4096
_ENDS_OF_FOLDERS = ("/", "/.", "/..")
_HAS_LETTER = late_pattern(r"[^\W_]")
_NOWHERE = ("/dev/", "/proc/", "/sys/")
_SCHEME = late_pattern(r"[A-Za-z][\w+.-]+://")
_UNKNOWN = late_pattern(r"[$*?{}<>|`\n\x00]|\[[^\]]*\]\*")
_HIDDEN = late_pattern(r"/\.\w[^/]*/")
"""A client's own files: plans, memories, logs."""
_DRIVE = late_pattern(r"[A-Za-z]:[\\/]")


class Files:
    """The files known so far.  Absolute paths are made relative to `roots`, of which the first is the project's folder.

    Share one object with the session's subagents, so that each sees the files that the others wrote.
    """

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self.roots: list[str] = []
        self._known: set[str] = set()
        self._written: defaultdict[str | None, dict[str, int]] = defaultdict(dict)
        self._tests: defaultdict[str | None, dict[str, None]] = defaultdict(dict)
        self._count = 0
        self._added: Sequence[str] = ()
        self.add_roots(roots)

    def add_roots(self, roots: Sequence[str]) -> None:
        """Add several folders.  The same tuple again costs nothing."""
        if roots is not self._added:
            self._added = roots
            for root in roots:
                self.add_root(root)

    # --- names -------------------------------------------------------------------------------------------------------

    def add_root(self, root: str) -> None:
        """Add a folder to which absolute paths are made relative."""
        folder = _slashes(root).rstrip("/")
        if folder and folder not in self.roots:
            self.roots.append(folder)

    def shown(self, text: str) -> str:
        """Return a text on one line of at most 200 code points, with paths relative to the first root."""
        return one_line(self.seen_from("", text), _SHOWN)

    def seen_from(self, folder: str, text: str) -> str:
        """Return a text with its paths relative to a folder in the project; "" is the project's folder."""
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
        """Return a folder relative to the project; "" for the project's folder, or if it is outside or unknown."""
        if not folder:
            return ""
        path = posixpath.normpath(normal_line(_slashes(folder)))
        for root in self.roots:
            path = path.removeprefix(f"{root}/") if path != root else "."
        is_known = not _UNKNOWN.search(path) and not _is_absolute(path) and path.split("/")[0] not in (".", "..")
        return path if is_known else ""

    def is_outside(self, folder: str) -> bool:
        """True if a folder is outside the project or unknown."""
        path = posixpath.normpath(normal_line(_slashes(folder)))
        is_known = not self.roots or self._inside_root(path)
        return "$" in path or (_is_absolute(path) and not is_known)

    def is_root(self, folder: str) -> bool:
        """Return whether a folder is the first root, from which relative paths start."""
        return _slashes(folder).rstrip("/") in self.roots[:1] or folder in (".", "./")

    def path_of(self, path: str, folder: str = "") -> str:
        """Return a file's name; "" for anything else, such as a glob, a variable, a device, a URL or a folder (`x/`).

        A relative path starts from `folder`, which is relative or absolute.
        """
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
            if _HIDDEN.search(path):
                return ""
            parts = path.split("/")
            tails = ("/".join(parts[at:]) for at in range(max(1, len(parts) - 12), len(parts)))
            return next((tail for tail in tails if tail in self._known), parts[-1])
        while path.startswith("../"):
            path = path[3:]
        return path

    # --- what is known -----------------------------------------------------------------------------------------------

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def learn(self, name: str) -> None:
        """Add a file that exists."""
        if name in self._known:
            return
        self._known.add(name)
        if is_test_file(name):
            self._tests[type_of(name)][name] = None

    def write(self, name: str) -> None:
        """Add a file that was written or changed."""
        self._count += 1
        self._written[type_of(name)][name] = self._count
        self.learn(name)

    def forget(self, name: str) -> None:
        """Remove a file, or a folder with its files."""
        inside = f"{name}/"
        for gone in [name, *(known for known in self._known if known.startswith(inside))]:
            self._known.discard(gone)
            self._written[type_of(gone)].pop(gone, None)
            self._tests[type_of(gone)].pop(gone, None)

    def written(self, types: Iterable[str]) -> tuple[str, ...]:
        """Return the files of these types that were written or changed, in that order; at most the last 64 per type."""
        found = (pair for kind in sorted(types) for pair in islice(reversed(self._written[kind].items()), _MOST))
        return tuple(name for name, _ in sorted(found, key=lambda pair: pair[1]))

    def tests(self, types: Iterable[str]) -> tuple[str, ...]:
        """Return the known test files of these types, at most 64 of each."""
        return tuple(name for kind in sorted(types) for name in islice(self._tests[kind], _MOST))


def as_datum(name: str) -> Datum:
    """Return a file as a datum with its type."""
    return Datum(name, type_of(name))


def _slashes(path: str) -> str:
    """Return a path with slashes if it is a Windows path."""
    return path.replace("\\", "/") if _DRIVE.match(path) or "/" not in path else path


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or bool(_DRIVE.match(path))
