"""What of a briefing is shown for the workflow that is about to run, and the line that says so.

Owns that: who carries something out does without the conventions that have nothing to do with it, and what has to do with the workflow is kept longest of
its rank.  What a workflow is for, and what is like it, is `likeness`', as for the digest.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.briefing.likeness import Aim, Leaning, rank_alike
from crucible.briefing.model import Item, Rank, Section

__all__ = ["aimed", "explain"]

_WORDS = {
    Leaning.PLANNING: "which plans: all sections are shown",
    Leaning.EXECUTING: "which carries something out: conventions that have nothing to do with it are left out",
    Leaning.NEITHER: "of which nothing tells whether it plans or carries out: all sections are shown",
}


def aimed(sections: Sequence[Section], aim: Aim) -> list[Section]:
    """What is shown for the workflow, what has to do with it marked as that."""
    items = [item for section in sections for item in section.items]
    related = {at for at, alike in rank_alike([item.text for item in items], aim) if alike}
    found, at = list[Section](), 0
    for section in sections:
        marked = [item._replace(related=at + n in related) for n, item in enumerate(section.items)]
        at += len(marked)
        kept = tuple(item for item in marked if _is_shown(item, aim))
        if kept:
            found.append(section._replace(items=kept))
    return found


def _is_shown(item: Item, aim: Aim) -> bool:
    return item.related or item.rank is not Rank.CONVENTION or aim.leaning is not Leaning.EXECUTING


def explain(aim: Aim, name: str) -> str:
    """The line that says what was shown and why; `name` is the workflow's, quoted."""
    return f"For the workflow `{name}`, {_WORDS[aim.leaning]}; what has to do with it is kept longest."
