"""Architecture decision records (ADRs): recognise their paths, the calls that write them, and read one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.analysis.tools.session_moments import Moment
from crucible.analysis.tools.tool_acts import Deed
from crucible.core.patterns import late_pattern
from crucible.documents.markdown.containment import cut, normal
from crucible.documents.markdown.fences import fenced_lines

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
_PROPERTIES = late_pattern(r"(?s)\A---[ \t]*\n.*?\n---[ \t]*\n")
_TITLE = late_pattern(r"(?m)^(?:#|=) +(\S.*?)[ \t#]*$")
_HEADING = late_pattern(r"^#{1,6}[ \t]+(\S.*?)[ \t#]*$")
_SHOWN = 20_000
"""Code points of a record that are kept."""


class DecisionRecord(NamedTuple):
    """A record's title ("" if it has none) and text."""

    title: str
    text: str


def is_decision_record(path: str) -> bool:
    """True for the path of a decision record: `docs/adr/0007-use-sqlite.md`."""
    low = path.replace("\\", "/").casefold()
    return bool(_RECORD.search(low)) and not _NO_RECORD.search(low)


def records_of(moment: Moment) -> Iterator[str]:
    """The records that a call made or changed, seen from the project."""
    if not moment.passed:
        return
    put = [datum.name for act in moment.acts for datum in act.writes]
    is_made = any(_TOOL.search(act.what) for act in moment.acts if act.deed is Deed.RUN)
    made = [path.rstrip(".") for path in _PATH.findall(moment.result[:1000])] if is_made else []
    yield from dict.fromkeys(filter(is_decision_record, (*put, *made)))


def subject_of(path: str) -> str:
    """What a record is about, by its name: `use sqlite` of `docs/adr/0007-use-sqlite.md`."""
    stem = path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    plain = _NUMBER.sub("", stem.casefold())
    return _WORDS.sub(" ", plain or stem).strip()


def read_record(text: str, file: str) -> DecisionRecord:
    """The title of a record, and its text without properties; headings are bold lines, since they could not be told from an item's own."""
    text = _PROPERTIES.sub("", normal(text.removeprefix("\ufeff")))
    found = _TITLE.search(text)
    whole = (text[: found.start()] + text[found.end() :] if found else text).strip()
    body = whole if len(whole) <= _SHOWN else f"{cut(whole, _SHOWN)}\n\nThe rest is in {file}."
    lines = body.split("\n")
    code = fenced_lines(lines)
    shown = (line if at in code else _HEADING.sub(r"**\1**", line) for at, line in enumerate(lines))
    return DecisionRecord(found[1] if found else "", "\n".join(shown))
