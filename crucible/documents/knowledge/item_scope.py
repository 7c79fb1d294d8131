"""Who sees which knowledge: a project sees its own, its domain's and everybody's; a domain its own and everybody's.

Owns the visibility, of plain values, so that an index can ask without a note.  Of which project a folder is, is for who asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from crucible.documents.knowledge.items import Item


class Place(NamedTuple):
    """For whom an item is, or from where somebody looks: a `scope` of `items.Scope`, and the names of project and domain.

    Who looks with the scope "" sees everything.  A project's domain is known to who asks: with an empty `domain` a project sees the knowledge of
    every domain.
    """

    scope: str = ""
    project: str = ""
    domain: str = ""

    @classmethod
    def of(cls, item: Item) -> Place:
        """For whom an item is."""
        return cls(item.scope.value, item.project, item.domain)

    @property
    def name(self) -> str:
        """What the scope is one of: the project's name, the domain's, "" for everybody's."""
        return {"project": self.project, "domain": self.domain}.get(self.scope, "")


EVERYTHING = Place()


def sees(viewer: Place, item: Place) -> bool:
    """Whether an item for that place is seen by the viewer; names are compared without regard to case."""
    if not viewer.scope or item.scope == "global":
        return True
    if item.scope == "domain":
        every = viewer.scope == "project" and not viewer.domain
        return viewer.scope != "global" and (every or _same(item.domain, viewer.domain))
    return viewer.scope == "project" and _same(item.project, viewer.project)


def same_place(one: Place, other: Place) -> bool:
    """Whether items of both count towards the same limit: of one project, of one domain, or everybody's."""
    return one.scope == other.scope and _same(one.name, other.name)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()
