"""Where the Jinja templates lie, and filling one in.

Owns finding `templates/`: the wheel carries a copy inside the package, a checkout has it beside the package.  What a
template says, and where its text goes, is for the caller.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

__all__ = ["render_template", "template_folder"]


def template_folder() -> Path:
    """The wheel's own copy when there is one, else the checkout's folder (an editable install has no copy)."""
    package = Path(__file__).parent
    packed = package / "_templates"
    return packed if packed.is_dir() else package.parent / "templates"


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        # Templates here make Markdown and plain text: HTML escapes would be wrong in them.
        autoescape=False,  # noqa: S701
    )


def render_template(name: str, **values: object) -> str:
    """The text of `templates/NAME` with its values; a value the template asks for and does not get is an error."""
    return _environment(template_folder()).get_template(name).render(**values)
