"""Which template a context is made with: the vault's own `.crucible/templates/resume.md.j2` where its user accepted that, else ours.

Owns what it is given and must print.  Finding it is `vault.templates`'.
"""

from __future__ import annotations

from crucible.rendering import Renderer
from crucible.resume.context import VARIABLES
from crucible.settings import VaultSettings
from crucible.vault.templates import load_template

__all__ = ["TEMPLATE", "find_template"]

TEMPLATE = "resume.md.j2"

_NEVER_LEFT_OUT = ("label", "decisions", "tasks", "errors")


def find_template(settings: VaultSettings) -> Renderer:
    """The template for contexts in a vault with these settings; `CrucibleError` in one line for one that is broken."""
    return load_template(settings, TEMPLATE, names=VARIABLES, required=_NEVER_LEFT_OUT)
