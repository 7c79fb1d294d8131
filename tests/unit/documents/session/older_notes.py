"""Notes as version 0.1 wrote them: bookkeeping in the frontmatter, links without folders, no title."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"\n*<!-- crucible\n(.*?)-->\n", re.DOTALL)
_LINK = re.compile(r"\[\[sessions/([^|\]]+)\|\1\]\]")
_WITH_HEADING = re.compile(r"\[\[sessions/([^|\]]+#)")
_NEW = re.compile(r"^(?:title: .*|aliases:(?: .*|(?:\n  - .*)+)|date: .*|started_local: .*)\n", re.MULTILINE)


def older(text: str) -> str:
    """Turn the text of a new note into what version 0.1 would have written."""
    found = _COMMENT.search(text)
    body = _COMMENT.sub("\n", text) if found else text
    top, _, rest = body.removeprefix("---\n").partition("\n---\n")
    top = _NEW.sub("", f"{top}\n") + (found[1] if found else "")
    return older_links(f"---\n{top}---\n{rest}")


def older_links(text: str) -> str:
    """Take the folders out of the links that Crucible writes."""
    return _WITH_HEADING.sub(r"[[\1", _LINK.sub(r"[[\1]]", text))
