"""Files that record decisions of architecture: which paths are such files, and which calls made or changed one.

Owns the names of their folders and files, in the languages of the usual teams.  Reading one, listing them, and code about them are none.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.acts.model import Deed
from crucible.capture.steps import Step
from crucible.patterns import late_pattern
from crucible.session.model import Outcome

__all__ = ["is_decision_record", "records_of", "subject_of"]

_TEXT = r"\.(?:md|mdx|markdown|adoc|asciidoc|asc|rst|txt|org|textile)"
_FOLDER = (
    r"(?:adrs?|madrs?|architecture[-_ ]?decisions?|architectur(?:e|al)[-_ ]decision[-_ ]?(?:records?|logs?)|decision[-_ ]?(?:records?|logs?)|design[-_ ]decisions?"
    r"|decisions|(?:arch|architecture|project|tech|technical)[-_ ]?decisions|decision[-_ ]?(?:register|history|docs?)|decided|adls?|architecture[-_ ]?(?:log|records)|log4brains|entscheidungen|architektur-?entscheidungen|entscheidungs(?:protokolle?|log)|d[ée]cisions?-d-architecture|d[ée]cisions|decisiones|decisioni|decis[õo]es|besluiten|decyzje)"
)
_RECORD = late_pattern(
    rf"(?:^|/)[._]?(?:\d+[-_.])?{_FOLDER}/(?:[^/]+/){{0,3}}[^/]+{_TEXT}$|(?:^|/)(?:arch|architecture|architektur)/(?:[^/]+/)?\d{{2,5}}[-_][^/]+{_TEXT}$|(?:^|/)m?adr[-_ ]?\d[^/]*{_TEXT}$|(?:^|/)m?adr[-_][^/]+{_TEXT}$|(?:^|/)\d{{2,5}}[-_.](?:[^/]+[-_.])?adr(?:[-_.][^/]*)?{_TEXT}$",
)
_NO_RECORD = late_pattern(
    rf"(?:^|/)(?:readme|index|_?template|adr-template|template-\w+|toc|summary|contents?|overview|changelog|contributing|glossary|\.[^/]*|0{{2,5}}[-_](?:template|index))(?:[-_.][^/]*)?{_TEXT}$|(?:^|/)(?:adr-)?(?:templates?|node_modules|fixtures|testdata)/|(?:manual|tutorial|howto|guide)"
)
_NUMBER = late_pattern(r"^(?:m?adr[-_ ]?)?\d{1,8}[-_. ]+|^m?adr[-_ ]+")
_TOOL = late_pattern(
    r"(?:^|[;&|]\s*|\b(?:npx|bunx|uvx|pnpm|yarn|npm exec)\s+(?:-\S+\s+)*)(?:adr|madr|log4brains|adr-tools|dotnet-adr|adr-log|adrs|pyadr|adr-kit|phpadr|adr-j)\b.{0,40}?\b(?:new|add|create|init|accept|supersede|propose|generate|toc)\b"
)
_OWN_TOOL = late_pattern(
    r"(?:^|[;&|]\s*|\b(?:make|just|task|rake|bash|sh|python3?|node|npm run|pnpm|yarn|mix|cargo|invoke|npx)\s+)[\w./:-]*(?:m?adr|decision)[\w.:-]*(?!.*\b(?:list|ls|show|search|status|lint|check|test|validate|serve|preview|log)\b)"
)
"""A project's own script for it: `./scripts/new-adr.sh`, `make adr`."""
_PUTS = late_pattern(
    r"(?:>>?|-o|--output|--out|\bof=)[ =]?[ \t]*[\"']?([\w./\-À-ÿ]{4,300})|\b(?:sd|yq -i|ed|ex|sponge|rsync|scp|ruby -[a-z]*i\S*|prettier --write|mdformat|dos2unix|ambr|vim? -[ce]\S*|nvim --headless)\b[^;&|\n]{0,200}?[ \"']([\w./\-À-ÿ]{4,300})[\"']?(?=\s*(?:$|[;&|<\n]))"
)
"""A file that something is put into, by whatever program."""
_PATH = late_pattern(r"[\w./\-À-ÿ]{4,300}")
_WORDS = late_pattern(r"[-_. ]+")


def is_decision_record(path: str) -> bool:
    """Whether a path is that of a record of a decision: `docs/adr/0007-use-sqlite.md`."""
    low = path.replace("\\", "/").casefold()
    return bool(_RECORD.search(low)) and not _NO_RECORD.search(low)


def records_of(step: Step) -> Iterator[str]:
    """The records that a call made or changed, seen from the project."""
    if step.outcome is not Outcome.OK:
        return
    found = dict.fromkeys(
        act.what for act in step.acts if act.deed in (Deed.WRITE, Deed.EDIT) and is_decision_record(act.what)
    )
    if not found and step.script:
        found = dict.fromkeys(_made_by_tool(step))
    yield from found


def _made_by_tool(step: Step) -> Iterator[str]:
    """What `adr new "…"` and its like say that they made, and what a program put into a file that is not known to write."""
    script = step.script[:2000].partition("<<")[0]
    if _TOOL.search(script[:400]) or _OWN_TOOL.search(script[:400]):
        told = (path.rstrip(".") for path in _PATH.findall(step.result[:1000]))
        yield from (path for path in told if is_decision_record(path))
    yield from (path for found in _PUTS.finditer(script) if is_decision_record(path := found[1] or found[2]))


def subject_of(path: str) -> str:
    """What a record is about, by its name: `use sqlite` of `docs/adr/0007-use-sqlite.md`."""
    stem = path.replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    plain = _NUMBER.sub("", stem.casefold())
    return _WORDS.sub(" ", plain or stem).strip()
