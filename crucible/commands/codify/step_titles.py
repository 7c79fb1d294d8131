"""Names of steps and of what they hand on: short, in one line, unique."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.core.patterns import late_pattern
from crucible.core.text.sentences import cut_at_word
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.titles import key_words
from crucible.documents.workflow.workflow import Datum, key_of

CHANGES = Datum("changes", "Files")
"""The files that a step changes; another run changes others."""
ANY, CHOSEN = "Carry out the request", "Make the changes that the user chooses"
"""Steps whose words say nothing about the work."""
_LONGEST = 80
_APOSTROPHE = late_pattern(r"['’]")
_WORD = late_pattern(r"\w+")


class Names:
    """Gives out names once; later ones of the same key get a number."""

    def __init__(self, key: Callable[[str], str] = key_of, joint: str = " ") -> None:
        self._key = key
        self._joint = joint
        self._taken: set[str] = set()
        self._last: dict[str, int] = {}

    def claim(self, name: str) -> str:
        """The name, with a number if it is taken."""
        first = key = self._key(name)
        found = name
        while key in self._taken:
            self._last[first] = self._last.get(first, 1) + 1
            found = f"{name}{self._joint}{self._last[first]}"
            key = self._key(found)
        self._taken.add(key)
        return found


def tidy_name(name: str) -> str:
    """A short name of one line; "" without a letter or digit, since no marker could match it."""
    short = cut_at_word(normal_line(name), _LONGEST)
    return short if any(map(str.isalnum, short)) else ""


def slug_of(name: str, kind: str) -> str:
    """A name of one word for what a step hands on: `find_how_retries_done_report`."""
    words = _WORD.findall(_APOSTROPHE.sub("", key_words(name, 32)).casefold())
    return "_".join([*(words[:-1] if words[-1:] == [kind] else words), kind])


# --- names of work ---------------------------------------------------------------------------------------------------

_VERBS = {Deed.WRITE: "write", Deed.EDIT: "edit", Deed.DELETE: "delete"}
_PROOFS = {Deed.TEST: "the tests", Deed.CHECK: "the checks"}


def work_name(acts: Sequence[Act]) -> str:
    """The work in a few words: `Edit limiter.py and run the tests`; "" for nothing that has a name."""
    parts = [*_changes(acts), *_proofs(acts)] or [*_others(acts)]
    joined = join_words(parts)
    return tidy_name(joined[:1].upper() + joined[1:])


def join_words(words: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _changes(acts: Sequence[Act]) -> Iterable[str]:
    """The changed files, each once, by what was done to it first."""
    done: dict[str, Deed] = {}
    for act in acts:
        if act.deed in _VERBS:
            for path in [datum.name for datum in act.writes] or [act.what]:
                done.setdefault(_file(path), act.deed)
    if done.pop(CHANGES.name, None):
        yield "make the changes"
    for deed, verb in _VERBS.items():
        files = [file for file, first in done.items() if first is deed]
        if files:
            yield f"{verb} {_listed(files)}"


def _proofs(acts: Sequence[Act]) -> Iterable[str]:
    deeds = {act.deed for act in acts}
    if Deed.BUILD in deeds:
        yield "build"
    run = [words for deed, words in _PROOFS.items() if deed in deeds]
    if run:
        yield f"run {_listed(run)}"


def _others(acts: Sequence[Act]) -> Iterable[str]:
    """The commands, else the tools, else what was looked at."""
    for deed, verb in _OTHERS.items():
        found = dict.fromkeys(act.what for act in acts if act.deed is deed and act.what)
        if found:
            cut = _file if deed is Deed.READ else (lambda what: cut_at_word(normal_line(what), 50))
            yield f"{verb} {_listed(list(dict.fromkeys(map(cut, found))))}"
            return


_OTHERS = {
    Deed.RUN: "run",
    Deed.OTHER: "use",
    Deed.READ: "read",
    Deed.FETCH: "look up",
    Deed.SEARCH: "search for",
}


def _listed(names: Sequence[str]) -> str:
    if len(names) <= 2:
        return " and ".join(names)
    return f"{names[0]}, {names[1]} and {len(names) - 2} more"


def _file(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path
