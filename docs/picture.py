"""The README's picture: what `cru` really prints for the example vault, as an SVG.

python docs/picture.py            write docs/images/session.svg
python docs/picture.py --check    exit 1 when the picture no longer shows what `cru` prints
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "session.svg"
WIDTH = 102
COMMANDS = (
    ("session", "list"),
    ("session", "show", "2026-11-18", "--phase", "2"),
)

# rich's own frame loads a font from the web; ours takes the reader's.
FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" class="rich-terminal" viewBox="0 0 {width} {height}" role="img">
    <title>cru session list, and one phase of a session</title>
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


def cru(arguments: Sequence[str]) -> str:
    """What the command writes on a terminal of our width, with its colours."""
    surroundings = {**os.environ, "COLUMNS": str(WIDTH), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    surroundings.pop("NO_COLOR", None)
    command = [
        sys.executable,
        "-m",
        "crucible",
        "--color",
        "--vault",
        str(ROOT / "vault-example"),
        *arguments,
    ]
    return subprocess.run(command, env=surroundings, check=True, capture_output=True, encoding="utf-8").stdout


def draw() -> str:
    """The whole picture."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), color_system="truecolor", legacy_windows=False)
    for arguments in COMMANDS:
        console.print(Text(f"$ cru {' '.join(arguments)}", "bold"))
        console.print(Text.from_ansi(cru(arguments).strip("\n")), end="\n\n")
    svg = console.export_svg(title="cru", code_format=FRAME, unique_id="cru")
    return "\n".join(line.rstrip() for line in svg.split("\n"))


def main(arguments: Sequence[str]) -> int:
    """Write the picture, or compare it."""
    svg = draw()
    if "--check" in arguments:
        fresh = PICTURE.read_text(encoding="utf-8") == svg
        print("the picture is up to date" if fresh else "the picture is old: python docs/picture.py")
        return 0 if fresh else 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
