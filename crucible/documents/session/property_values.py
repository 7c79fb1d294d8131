"""Values of properties that repeat what a note says elsewhere: links, the title, the local day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo

from crucible.core.patterns import late_pattern
from crucible.core.zones import in_zone
from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.wikilinks import LinkText, escape_links, parse_linktext
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.session import SESSIONS


def link_to(session_id: str, folder: str = SESSIONS) -> str:
    """The wikilink to a note: `[[sessions/ID|ID]]`, or `[[ID]]` without a folder.

    With its folder, a link means one note only, however many have its name.
    """
    return f"[[{folder}/{session_id}|{session_id}]]" if folder and "/" not in session_id else f"[[{session_id}]]"


def id_in(link: str) -> str:
    """The note's name in a wikilink, or in a bare id."""
    return linktext_of(link).target.rpartition("/")[2]


def title_properties(title: str) -> dict[str, Value]:
    """`title` and `aliases`, by which Obsidian finds and shows a note."""
    shown = escape_links(normal_line(title))
    return {"title": shown, "aliases": [shown]} if shown else {}


def changed_title(properties: Mapping[str, Value], old: str, new: str) -> dict[str, Value]:
    """The values of `title` and `aliases` after the heading changed; only those that repeated the old one."""
    before, after = escape_links(normal_line(old)), escape_links(normal_line(new))
    aliases = properties.get("aliases")
    values: dict[str, Value] = {"title": after} if properties.get("title") == before else {}
    if isinstance(aliases, list) and before in aliases and before != after:
        values["aliases"] = [after if one == before else one for one in aliases if one != after]
    return values


def day_properties(started: datetime, zone: tzinfo | None) -> dict[str, Value]:
    """`date` and `started_local`: the user's day and time, without a zone, as Obsidian's dates have none."""
    local = in_zone(started, zone).replace(microsecond=0, tzinfo=None)
    return {"date": local.date().isoformat(), "started_local": local.isoformat()}


def project_value(project: str, target: str = "") -> str:
    """The property `project`: a link to the project's note at `target`, or the name if there is no note."""
    can_link = target and not _NO_ALIAS.search(project) and not _NO_ALIAS.search(target)
    return f"[[{target}|{project}]]" if can_link else escape_links(project)


_NO_ALIAS = late_pattern(r"[\[\]|#^\\\x00-\x1f]|%%|<%|\A\s|\s\Z")


def linktext_of(text: str) -> LinkText:
    """Parse a link with or without brackets."""
    inner = text.strip(" \t")
    is_link = inner.startswith("[[") and inner.endswith("]]")
    return parse_linktext(inner[2:-2]) if is_link else LinkText(inner)
