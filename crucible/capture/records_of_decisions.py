"""Files that record decisions of architecture: which paths are such files, and which calls made or changed one.

Owns the names of their folders and files, in the languages of the usual teams.  Reading one, listing them, and code about them are none.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.acts.model import Deed
from crucible.knowledge.steps import Step
from crucible.patterns import late_pattern

__all__ = ["is_decision_record", "records_of", "subject_of"]

_TEXT = r"\.(?:md|mdx|markdown|adoc|asciidoc|asc|rst|txt|org|textile)"
_FOLDER = r"(?:m?adrs?|adls?|log4brains|[\w-]*(?:decisi[oó]n|decis[õo]|d[ée]cision|entscheidung|besluit|decyzj)[\w-]*)"
_RECORD = late_pattern(
    rf"(?:^|/)[._]?(?:\d+[-_.])?{_FOLDER}/(?:[^/]+/){{0,3}}[^/]+{_TEXT}$|(?:^|/)(?:arch|architecture|architektur)/(?:[^/]+/)?\d{{2,5}}[-_][^/]+{_TEXT}$"
    rf"|(?:^|/)(?:\d{{2,5}}[-_.])?m?adr[-_ ][^/]+{_TEXT}$"
)
_NO_RECORD = late_pattern(
    rf"(?:^|/)(?:readme|index|_?template|adr-template|template-\w+|toc|summary|overview|changelog|contributing|glossary|\.[^/]*)(?:[-_.][^/]*)?{_TEXT}$"
    r"|(?:^|/)(?:templates?|node_modules|fixtures|testdata)/|manual|tutorial|howto|guide"
)
_NUMBER = late_pattern(r"^(?:m?adr[-_ ]?)?\d{1,8}[-_. ]+|^m?adr[-_ ]+")
_TOOL = late_pattern(
    r"\b(?:m?adrs?|log4brains|pyadr|phpadr)\b.{0,40}?\b(?:new|add|create|init|accept|supersede|propose|generate)\b"
)
_PATH = late_pattern(r"[\w./\-À-ÿ]{4,300}")
_WORDS = late_pattern(r"[-_. ]+")


def is_decision_record(path: str) -> bool:
    """Whether a path is that of a record of a decision: `docs/adr/0007-use-sqlite.md`."""
    low = path.replace("\\", "/").casefold()
    return bool(_RECORD.search(low)) and not _NO_RECORD.search(low)


def records_of(step: Step) -> Iterator[str]:
    """The records that a call made or changed, seen from the project."""
    if not step.passed:
        return
    put = [datum.name for act in step.acts for datum in act.writes]
    is_made = any(_TOOL.search(act.what) for act in step.acts if act.deed is Deed.RUN)
    made = [path.rstrip(".") for path in _PATH.findall(step.result[:1000])] if is_made else []
    yield from dict.fromkeys(filter(is_decision_record, (*put, *made)))


def subject_of(path: str) -> str:
    """What a record is about, by its name: `use sqlite` of `docs/adr/0007-use-sqlite.md`."""
    stem = path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    plain = _NUMBER.sub("", stem.casefold())
    return _WORDS.sub(" ", plain or stem).strip()
