"""The README's outputs are what `cru` prints in the vault of `make demo`, in the order in which they are shown."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from crucible.clients.registry import CLIENTS
from tests.running import Cru

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
SHOWN_AT, CUT = "/home/me/crucible/build/demo-vault", "…"
_BLOCK = re.compile(r"(?<=^```console\n)\$ .*?(?=^```$)", re.MULTILINE | re.DOTALL)


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The vault that `make demo` leaves, as the working directory."""
    vault = tmp_path / "demo-vault"
    shutil.copytree(ROOT / "vault-example", vault, ignore=shutil.ignore_patterns("index", "cache"))
    for note in (vault / "sessions").glob("*rate-limiter*"):
        note.unlink()
    monkeypatch.chdir(vault)
    transcripts = ROOT / "tests" / "data" / "transcripts" / "claude-code"
    assert Cru()("import", "claude-code", transcripts).exit_code == 0
    return vault


def examples(block: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output shown below it."""
    for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = example.partition("\n")
        yield command, output


def shows(output: str, shown: str) -> bool:
    """Whether the shown lines are the output's; a line `…` stands for any number of lines."""
    parts = re.split(rf"^{CUT}$\n?", shown, flags=re.MULTILINE)
    return re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, parts)), output) is not None


def test_the_readme_shows_what_cru_prints_in_the_demo(demo: Path) -> None:
    """`CRUCIBLE_GOLDEN=1` rewrites the outputs that are shown whole."""
    page, stale = README.read_text(encoding="utf-8"), []
    blocks = _BLOCK.findall(page)
    assert len(blocks) >= 5
    for block in blocks:
        made = ""
        for command, shown in examples(block):
            ran = Cru()(*shlex.split(command)[1:])
            assert ran.exit_code == 0, ran.output
            output = ran.output.replace(str(demo), SHOWN_AT)
            made += f"$ {command}\n{shown if CUT in shown else output}"
            if not shows(output, shown):
                stale.append(f"$ {command}\n{output}")
        page = page.replace(block, made)
    if os.environ.get("CRUCIBLE_GOLDEN"):
        README.write_text(page, encoding="utf-8")
    assert stale == []


def test_the_readme_is_short_and_names_every_client() -> None:
    page = README.read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 130
    assert [client.title for client in CLIENTS.values() if client.title not in page] == []


def test_a_line_of_an_ellipsis_stands_for_any_lines() -> None:
    assert shows("a\nb\nc\n", "a\n…\nc\n")
    assert shows("a\nb\n", "a\n…\n")
    assert not shows("a\nb\nc\n", "a\nc\n")
    assert not shows("a\nb\n", "…\nc\n")
