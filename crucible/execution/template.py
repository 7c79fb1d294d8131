"""Which template a step's prompt is made with: the vault's own `.crucible/templates/step.md.j2` where there is one, else ours.

Owns where it lies and reading it.  What a vault's template may do is `crucible.templates`'.
"""

from __future__ import annotations

import os
from pathlib import Path

from crucible.errors import VaultError
from crucible.execution.prompting import REQUIRED, VARIABLES, Renderer
from crucible.templates import OwnTemplate, VaultTemplate
from crucible.vault.files import inside, read_bytes

__all__ = ["TEMPLATE", "find_template"]

TEMPLATE = "step.md.j2"


def find_template(root: Path) -> Renderer:
    """The template for steps that the vault at `root` has; `CrucibleError` in one line for one that is broken."""
    path = root / ".crucible" / "templates" / TEMPLATE
    if not os.path.lexists(path):
        return OwnTemplate(TEMPLATE)
    data, _ = read_bytes(inside(Path(os.path.realpath(root)), path))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: it is not UTF-8", "save it as UTF-8, or move it away") from error
    return VaultTemplate(text, str(path), names=VARIABLES, required=REQUIRED)
