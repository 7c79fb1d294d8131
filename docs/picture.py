"""Draw the README's picture: what `cru` prints on a terminal for the example vault, as an SVG.

python docs/picture.py            write docs/images/session.svg
python docs/picture.py --check    exit 1 when the picture no longer shows what `cru` prints
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "session.svg"
WIDTH = 92
PREPARED: tuple[tuple[str, ...], ...] = (
    ("init", "~/notes", "--default", "--no-obsidian"),
    ("install", "claude-code"),
)
COMMANDS: tuple[tuple[str, ...], ...] = (
    (),
    ("session", "show", "2026-11-16", "--phase", "2"),
)

PROGRAM = """
import datetime, sys
class Then(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls(2026, 11, 21, 22, 30, tzinfo=tz)
datetime.datetime = Then
from crucible.__main__ import run
sys.argv[0] = "cru"
sys.exit(run())
"""
"""`cru` with a fixed clock, so that the ages of sessions never change."""

# rich's own frame loads a font from the web; ours takes the reader's.
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}" role="img">
    <title>The status page of a project, and one phase of a session</title>
    <style>
    .{unique_id}-matrix {{
        font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
        font-variant-east-asian: full-width;
    }}
    .{unique_id}-title {{
        font-family: ui-sans-serif, system-ui, sans-serif;
        font-size: 18px;
    }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


def cru(home: Path, arguments: Sequence[str]) -> str:
    """Return what the command writes on a terminal of our width, with its colors."""
    surroundings = {"HOME": str(home), "USERPROFILE": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    surroundings |= {"COLUMNS": str(WIDTH), "TERM": "xterm-256color", "LANG": "C.UTF-8"}
    command = [sys.executable, "-c", PROGRAM, "--color", *(word.replace("~", str(home)) for word in arguments)]
    done = subprocess.run(
        command, cwd=home / "shop", env=surroundings, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout


def draw() -> str:
    """Return the whole picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", legacy_windows=False)
    with TemporaryDirectory() as folder:
        home = Path(folder).resolve()
        (home / "shop").mkdir()
        shutil.copytree(ROOT / "vault-example", home / "notes", ignore=shutil.ignore_patterns("index", "cache"))
        for arguments in PREPARED:
            cru(home, arguments)
        for arguments in COMMANDS:
            console.print(Text(" ".join(("$ cru", *arguments)), "bold"))
            console.print(Text.from_ansi(cru(home, arguments).strip("\n")), end="\n\n")
    svg = console.export_svg(title="~/shop", code_format=FRAME, unique_id="cru")
    return "\n".join(line.rstrip() for line in svg.split("\n"))


def main(arguments: Sequence[str]) -> int:
    """Write the picture, or compare it."""
    svg = draw()
    if "--check" in arguments:
        fresh = PICTURE.read_text(encoding="utf-8") == svg
        print("the picture is up to date" if fresh else "the picture is stale: python docs/picture.py")
        return 0 if fresh else 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
