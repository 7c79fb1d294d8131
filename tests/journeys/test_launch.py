"""Starting `cru`: what it imports, how fast it is, what it says to what it does not know."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from crucible import __version__
from crucible.cli import group
from crucible.core.errors import CrucibleError, SessionNotFound
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.paths import ROOT
from tests.running import Cru, CruProcess

pytestmark = pytest.mark.usefixtures("new_interpreters")

HEAVY = ["markdown_it", "jinja2", "watchdog", "yaml", "frontmatter", "rich", "toons", "orjson", "filelock"]


def _imported(*args: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "crucible", *args],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.split("\n") if line.startswith("import time:")}


def test_version_imports_nothing_of_others() -> None:
    imported = _imported("--version")
    assert {"crucible.cli.main"} <= imported
    assert not imported & {"click", "importlib.metadata", *HEAVY}


@pytest.mark.parametrize("args", [("--help",), ("session", "--help"), ("record", "--help")], ids=" ".join)
def test_help_imports_nothing_heavy(args: tuple[str, ...]) -> None:
    imported = _imported(*args)
    assert "click" in imported
    assert not imported & set(HEAVY)


LISTING = ["main", "group", "command_table", "options", "output", "environment"]
"""Modules of the doors that `cru session list` needs before it opens the index."""

SLOW = [
    "pathlib",
    "dataclasses",
    "json",
    "tomllib",
    "tomlkit",
    "difflib",
    "shutil",
    "hashlib",
    "click.shell_completion",
]


def _modules_after(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, click\n{code}\nprint(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_finding_the_vault_and_its_settings_imports_nothing_slow(vault: Vault, tmp_path: Path) -> None:
    """What costs each listing its time is what stands on this way; no clock can tell that on a busy machine."""
    (tmp_path / "mine.toml").write_text(f'default_vault = "{vault.root}"\n[projects]\nshop = ["/a", "/b"]\n')
    code = "".join(f"import crucible.cli.{name}\n" for name in LISTING) + (
        f"import os; os.environ['CRUCIBLE_CONFIG'] = {str(tmp_path / 'mine.toml')!r}\n"
        f"from crucible.cli.environment import vault_place\n"
        f"crucible.cli.group.build_root()\n"
        f"vault_place(crucible.cli.options.Door({str(vault.root)!r}))\n"
    )
    imported = _modules_after(code)
    assert {"crucible.cli.environment", "crucible.core.settings.settings"} <= imported
    assert not imported & {*HEAVY, *SLOW} - _modules_after("")
    packages = {name.split(".")[1] for name in imported if name.startswith("crucible.")}
    assert packages <= {"cli", "core", "vault"}
    assert not imported & {"crucible.vault.notes.vault", "crucible.core.files", "crucible.vault.notes.walk"}


def test_reading_a_tidy_note_imports_no_parser_of_others() -> None:
    text = "---\nsession_id: a\nstatus: active\ntags:\n  - x\n---\n# T\n\n## P @a\n\nprose\n"
    imported = _modules_after(
        "from crucible.documents.markdown.source import Source\n"
        "from crucible.documents.session.session_reader import read_session\n"
        f"assert read_session(Source({text!r}), 'a').phases"
    )
    assert "crucible.documents.session.session_reader" in imported
    assert not imported & {*HEAVY, "json", "html", "pathlib", "tomllib"} - _modules_after("")


def _best(*args: str, of: int = 7) -> float:
    times = []
    for _ in range(of):
        start = time.perf_counter()
        subprocess.run([sys.executable, *args], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, stdout=-3)
        times.append(time.perf_counter() - start)
    return min(times)


@pytest.mark.timed
def test_version_takes_at_most_one_and_a_half_times_as_long_as_importing_click() -> None:
    assert _best("-m", "crucible", "--version") <= 1.5 * _best("-c", "import click")


def test_version_says_the_packages_version(bare_cru: Cru) -> None:
    assert bare_cru("--version").stdout == f"cru {__version__}\n"
    assert bare_cru("--no-color", "--version").stdout == f"cru {__version__}\n"


@pytest.mark.parametrize(
    ("args", "near", "path"),
    [
        (("sesion", "list"), "session", "cru"),
        (("session", "lst"), "list", "cru session"),
        (("imprt",), "import", "cru"),
        (("resume",), '"cru session resume"', "cru"),
        (("stats",), '"cru session stats" or "cru knowledge stats"', "cru"),
    ],
)
def test_a_mistyped_command_is_answered_with_the_near_one(
    bare_cru: Cru, args: tuple[str, ...], near: str, path: str
) -> None:
    result = bare_cru(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    wrong = args[-1] if args[0] == "session" else args[0]
    assert (
        result.stderr == f"error: no command '{wrong}'; did you mean {near}?\n       Run \"{path} --help\" for help.\n"
    )


def test_a_command_like_no_other_suggests_nothing(bare_cru: Cru) -> None:
    assert bare_cru("xyzzy").stderr.startswith("error: no command 'xyzzy'\n")


def test_an_unknown_option_is_one_line_and_the_next_step(bare_cru: Cru) -> None:
    result = bare_cru("session", "list", "--colour")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 2
    assert 'Run "cru session list --help" for help.' in result.stderr


def test_no_command_and_no_vault_is_an_error_with_the_next_step(bare_cru: Cru) -> None:
    result = bare_cru()
    assert (result.exit_code, result.stdout) == (1, "")
    assert "cru init" in result.stderr


class _Broken:
    def __init__(self, error: BaseException) -> None:
        self.error = error

    def main(self, *_: object, **__: object) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (CrucibleError("broke", "fix it"), 1, "error: broke\n       Fix it.\n"),
        (SessionNotFound("no session 'x'"), 1, "error: no session 'x'\n"),
        (click.BadParameter("bad"), 2, 'error: Invalid value: bad\n       Run "cru --help" for help.\n'),
        (click.ClickException("odd"), 1, "error: odd\n"),
        (click.Abort(), 130, ""),
        (PermissionError(13, "Permission denied", "a/b"), 1, "error: a/b: Permission denied\n"),
        (OSError("no space"), 1, "error: no space\n"),
        (CrucibleError("a\x1b[31mb\x07c"), 1, "error: a␛[31mb␇c\n"),
    ],
    ids=lambda v: type(v).__name__ if isinstance(v, BaseException) else None,
)
def test_every_error_is_one_line_the_next_step_and_a_code(
    monkeypatch: pytest.MonkeyPatch, bare_cru: Cru, error: BaseException, code: int, said: str
) -> None:
    monkeypatch.setattr(group, "build_root", lambda: _Broken(error))
    result = bare_cru("session")
    assert (result.exit_code, result.stderr) == (code, said)


@pytest.mark.parametrize("args", [["--help"], ["session", "show", "a"], ["session", "list", "--format", "json"]])
def test_a_reader_that_goes_away_is_met_with_silence(vault: Vault, args: list[str]) -> None:
    write(vault, "a", note("a", "word\n\n" * 20_000))
    command = [sys.executable, "-m", "crucible", "--vault", str(vault.root), *args]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    read, to_nobody = os.pipe()
    os.close(read)
    done = subprocess.run(command, env=env, stdout=to_nobody, stderr=subprocess.PIPE, check=False)
    os.close(to_nobody)
    assert (done.stderr, done.returncode) == (b"", 1)


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_is_quiet(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, crucible.cli.group as g, crucible.cli.main as m\n"
        "class Slow:\n"
        "    def main(self, *a, **k):\n"
        "        import click\n"
        "        @click.command\n"
        "        def wait(): os.kill(os.getpid(), signal.SIGINT); signal.pause()\n"
        "        return wait.main([], standalone_mode=False)\n"
        "g.build_root = Slow\n"
        "sys.exit(m.main(['session']))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=False, timeout=30)
    assert done.returncode == 128 + signal.SIGINT
    assert b"Traceback" not in done.stderr


def test_a_terminal_without_our_characters_gets_a_question_mark(cru_process: CruProcess) -> None:
    done = cru_process("team", "a→é", env={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == 2
    assert b"'a?\xe9'" in done.stderr


_COMMANDS = ["--version", "--help", "session stats", "completion bash"]


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell")
@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize("to", [">&-", ">/dev/full", "2>&-", "<&-"])
def test_a_stream_that_is_closed_or_full_is_no_traceback(vault: Vault, command: str, to: str) -> None:
    if to == ">/dev/full" and not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    script = f'"$0" -m crucible {command} {to}'
    env = {**os.environ, "PYTHONPATH": str(ROOT), "CRUCIBLE_VAULT": str(vault.root)}
    done = subprocess.run(["sh", "-c", script, sys.executable], env=env, capture_output=True, check=False)
    lines = done.stderr.decode().splitlines()
    if to.startswith(">"):
        assert done.returncode == 1
        assert len(lines) == 1
        assert lines[0].startswith("error: ")
    else:
        assert (done.returncode, lines) == (0, [])


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed")
def test_a_working_directory_that_is_gone_matters_only_to_relative_paths(vault: Vault, tmp_path: Path) -> None:
    write(vault, "a", note("a"))
    env = {**os.environ, "PYTHONPATH": str(ROOT)}

    def run(*args: str) -> tuple[int, str]:
        (tmp_path / "gone").mkdir()
        script = 'rmdir "$PWD"; "$0" -m crucible "$@"'
        command = ["sh", "-c", script, sys.executable, *args]
        done = subprocess.run(command, env=env, cwd=tmp_path / "gone", capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    root = str(vault.root)
    for command in (["list"], ["show", "a"], ["check"]):
        assert run("--vault", root, "session", *command)[0] == 0
    for args in (["session", "list"], ["--vault", "x", "session", "list"], ["init"], ["init", "x"]):
        code, said = run(*args)
        assert code == 1
        assert said.startswith("error: the current directory no longer exists\n")


@pytest.mark.parametrize(
    ("args", "env", "colored"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        (["--no-color"], {}, False),
        (["--color"], {"NO_COLOR": "1"}, True),
    ],
    ids=["a terminal", "NO_COLOR", "--no-color", "--color wins"],
)
def test_an_error_is_coloured_as_the_user_wished(
    cru_process: CruProcess, args: list[str], env: dict[str, str], colored: bool
) -> None:
    main, side = pty.openpty()
    done = cru_process(
        *args, "session", "show", "nope", env={**env, "TERM": "xterm"}, capture_output=False, stderr=side
    )
    os.close(side)
    with os.fdopen(main, "rb", buffering=0) as terminal:
        said = terminal.read(4096)
    assert done.returncode == 1
    assert (b"\x1b[31m" in said) is colored


def test_a_message_is_one_line_whatever_it_quotes(bare_cru: Cru) -> None:
    result = bare_cru("session", "li\nst\u2028x")
    assert len(result.stderr.splitlines()) == 2
