"""What kind of note a frontmatter says that it is.

Owns the one rule for `type`: small and capital letters are the same, and a list of one or more, which Obsidian makes where its user wants
several, counts as a workflow where one of them is.
"""

from __future__ import annotations

from crucible.documents.markdown.yaml_scalars import Value

__all__ = ["WORKFLOW", "kind_of"]

WORKFLOW = "workflow"


def kind_of(value: Value) -> str:
    """The property `type` in small letters: `workflow` where that is one of several, else the first; "" for none."""
    values = value if isinstance(value, list) else [value]
    kinds = [kind for each in values if isinstance(each, str) and (kind := each.strip().casefold())]
    return WORKFLOW if WORKFLOW in kinds else next(iter(kinds), "")
