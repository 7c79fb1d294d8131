"""What of a briefing fits into a budget.

Owns what is left out first: the last item of the lowest rank that stands last, what has to do with the coming work after all else of its rank.
Where the work stands is no item, so it stays even where it alone is too much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from crucible.briefing.model import Cut, Rank, Section

__all__ = ["Fitted", "fit"]

Render = Callable[[Sequence[Section], Sequence[Cut]], str]


class Fitted(NamedTuple):
    """What is left, what is not, and the text of both."""

    sections: tuple[Section, ...]
    left_out: tuple[Cut, ...]
    text: str
    size: int


def fit(sections: Sequence[Section], render: Render, size_of: Callable[[str], int], budget: int) -> Fitted:
    """As many items as the budget holds; `size_of` measures the rendered text."""
    places = [(n, m) for n, section in enumerate(sections) for m in range(len(section.items))]

    def key(place: tuple[int, int]) -> tuple[Rank, bool, int, int]:
        item = sections[place[0]].items[place[1]]
        return item.rank, item.related, -place[0], -place[1]

    order = sorted(places, key=key)

    def fitted(count: int) -> Fitted:
        kept, left_out = _without(sections, {*order[:count]})
        text = render(kept, left_out)
        return Fitted(kept, left_out, text, size_of(text))

    gone = bisect_left(range(len(order)), True, key=lambda count: fitted(count).size <= budget)
    # What was left out is told, so one item less may be a longer text: then the next smaller one is looked for.
    tried = (fitted(count) for count in range(gone, len(order)))
    return next((one for one in tried if one.size <= budget), None) or fitted(len(order))


def _without(
    sections: Sequence[Section], gone: Collection[tuple[int, int]]
) -> tuple[tuple[Section, ...], tuple[Cut, ...]]:
    kept: list[Section] = []
    count: Counter[Rank] = Counter()
    for n, section in enumerate(sections):
        count.update(item.rank for m, item in enumerate(section.items) if (n, m) in gone)
        count.update({item.rank: section.more for item in section.items[-1:] if section.more})
        items = tuple(item for m, item in enumerate(section.items) if (n, m) not in gone)
        kept += [section._replace(items=items)] if items else []
    return tuple(kept), tuple(
        Cut(rank.word if count[rank] > 1 else rank.name.lower(), count[rank]) for rank in sorted(count)
    )
