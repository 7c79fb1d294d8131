"""What a template is to whoever fills it in: `templates` has two kinds, and loading it takes longer than most of its callers may."""

from __future__ import annotations

from typing import Protocol


class Renderer(Protocol):
    """A template; which values it is given is its caller's to say."""

    def render(self, **values: object) -> str:
        """The text with these values."""
        ...
