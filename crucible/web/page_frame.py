"""The frame around every page: the document, its policy, our stylesheet and script, and the Jinja templates."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

_HERE = Path(__file__).parent
STYLE, SCRIPT, ICON, SEARCH = "cru.css", "cru.js", "icon.svg", "search.js"
"""The names of our files in `static`.  The last one is for a site only."""


class Section(NamedTuple):
    """A link in the navigation above every page."""

    href: str
    label: str
    is_current: bool = False


class Frame(NamedTuple):
    """What is the same on all pages of a server, a site or a file.

    `policy` is a content security policy for a `meta` element, "" if the server sends it.  `assets` is the address of
    the folder with the stylesheet and the script; with `style` and `script`, the page contains them instead.  `home` is
    the address of the first page, and `search` that of the list of sessions, "" for none.
    """

    policy: str = ""
    assets: str = ""
    style: str = ""
    script: str = ""
    home: str = ""
    search: str = ""
    sections: Sequence[Section] = ()

    def within(self, current: str) -> Frame:
        """Return the frame with one section marked as current."""
        return self._replace(sections=[one._replace(is_current=one.href == current) for one in self.sections])


def page_frame(*, inline: bool = False, assets: str = "") -> Frame:
    """Return the frame of a self-contained file (`inline`), or of a site whose `assets` are in a folder of their own.

    Both have a policy that allows no connection; the file's names the hashes of its own style and script.
    """
    if not inline:
        return Frame(_policy("style-src 'self'", "script-src 'self'", "img-src 'self'", "form-action 'self'"), assets)
    style, script = asset(STYLE), asset(SCRIPT)
    policy = _policy(f"style-src '{_hash(style)}'", f"script-src '{_hash(script)}'", "form-action 'none'")
    return Frame(policy, "", style, script)


def _policy(*sources: str) -> str:
    return "; ".join(("default-src 'none'", *sources, "base-uri 'none'"))


@cache
def asset(name: str) -> str:
    """Return the text of our stylesheet or script."""
    return (_HERE / "static" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def page_start(frame: Frame) -> str:
    """Render the start of a page, which the browser can use while the rest is rendered."""
    return environment().get_template("page_start.html.j2").render(frame=frame)


def stream_page(template: str, frame: Frame, **values: object) -> Iterator[str]:
    """Yield a page in parts, without its start."""
    stream = environment().get_template(f"{template}.html.j2").stream(frame=frame, is_started=True, **values)
    stream.enable_buffering(40)
    return iter(stream)


def render_page(template: str, frame: Frame, **values: object) -> str:
    """Render a page."""
    return environment().get_template(f"{template}.html.j2").render(frame=frame, is_started=False, **values)


@cache
def environment() -> Environment:
    """Return the templates.  A missing value is an error, and every value is escaped."""
    found = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["own"] = Markup  # our own stylesheet and script, inside their elements
    return found
