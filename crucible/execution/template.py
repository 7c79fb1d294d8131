"""Which template a step's prompt is made with: the vault's own `.crucible/templates/step.md.j2` where there is one, else ours.

Owns what it is given and must print.  Finding it is `vault.templates`'.
"""

from __future__ import annotations

from pathlib import Path

from crucible.execution.prompting import REQUIRED, VARIABLES
from crucible.rendering import Renderer
from crucible.vault.templates import load_template

__all__ = ["TEMPLATE", "find_template"]

TEMPLATE = "step.md.j2"


def find_template(root: Path) -> Renderer:
    """The template for steps that the vault at `root` has; `CrucibleError` in one line for one that is broken."""
    return load_template(root, TEMPLATE, names=VARIABLES, required=REQUIRED)
