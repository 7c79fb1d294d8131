"""Knowledge on a team's server: for whom an item is, and what its weight depends on.

Owns the columns that only items have, from a vault's shelf and back.  An item is weighed when it is asked for, by the settings of who asks: what
is worked out changes every day, and differs between vaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, NamedTuple

from crucible.documents.knowledge.item_scope import EVERYTHING, Place
from crucible.documents.knowledge.item_weight import Facts
from crucible.search.postgres.terms import aware
from crucible.search.question_words import plain
from crucible.search.recall import Question

Shelved = tuple[Place, Facts]
"""For whom an item is, and what its weight depends on."""

_LONGEST = 200
"""Code points of a domain."""
_MOST_USES = 2**31 - 1


class _Columns(NamedTuple):
    """As the table `sessions` has them, none of which a session fills."""

    item_type: str | None = None
    item_scope: str | None = None
    item_domain: str | None = None
    item_verified: bool | None = None
    item_used: int | None = None
    item_useful: int | None = None
    item_last_used: datetime | None = None
    item_changed: datetime | None = None


ITEM_COLUMNS = _Columns._fields
"""In the order in which `item_of` takes them."""


def columns_of_item(item: Shelved | None) -> Mapping[str, Any]:
    """What is kept of an item, by column; of a session nothing."""
    if item is None:
        return _Columns()._asdict()
    place, facts = item
    uses, useful = (min(count, _MOST_USES) for count in (facts.use_count, facts.useful_count))
    domain = plain(place.domain)[:_LONGEST]
    return _Columns(
        facts.type,
        place.scope,
        domain,
        facts.verified,
        uses,
        useful,
        aware(facts.last_used),
        aware(facts.changed),
    )._asdict()


def item_of(row: Sequence[Any], project: str) -> Shelved:
    """An item again, of its columns; what an older Crucible pushed without them is an observation of its project."""
    kept = _Columns(*row)
    place = Place(kept.item_scope or "project", project, kept.item_domain or "")
    uses, useful = kept.item_used or 0, kept.item_useful or 0
    return place, Facts(
        kept.item_type or "", bool(kept.item_verified), uses, useful, kept.item_last_used, kept.item_changed
    )


def digest_of_item(item: Shelved) -> str:
    """Changes whenever an item is seen by others or weighs something else."""
    place, facts = item
    return blake2b(repr((*place, *map(str, facts))).encode(), digest_size=8).hexdigest()


def viewer_of(question: Question) -> Place:
    """Who looks, where nobody says it: the project that is asked about, else one who sees everything."""
    return Place("project", question.project) if question.project else EVERYTHING
