"""The `cru` command: the table of commands, and the one place where an error becomes a line and an exit code.

Owns what is imported when: `cru --version` imports nothing but this file, `cru --help` only click, and a command its
own module when it is called.  Of the other files only `index/reading.py` imports ours late.  What a command does is in the
module its line in `COMMANDS` names.

Exit codes: 0 done, 1 failed, 2 usage, 3 problems found; 130 interrupted.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from crucible import __version__
from crucible.errors import CrucibleError

if TYPE_CHECKING:
    import click

__all__ = ["COMMANDS", "GROUPS", "Entry", "build_root", "load_command", "main", "run"]

_INTERRUPTED = 130


class Entry(NamedTuple):
    """Where a command is, `module:name`, and its one line of help, known without importing it.

    `completed` takes its place, and imports less, while a shell completes the ids of sessions.
    """

    target: str
    help: str
    completed: str = ""


GROUPS: Mapping[str, str] = {
    "hook": "What agents' hooks call; not for you.",
    "import": "Bring other agents' logs into the vault.",
    "index": "What the notes say, as tables that every list and figure is made from.",
    "install": "Put our entries into other programs' settings.",
    "session": "List, count, show, check and rename session notes.",
}

_ONE, _MANY = "crucible.cli.session_ref:ONE_SESSION", "crucible.cli.session_ref:SESSIONS"

COMMANDS: Mapping[str, Entry] = {
    "init": Entry("crucible.cli.init:init", "Make a vault, or complete one."),
    "import claude-code": Entry("crucible.cli.importing:claude_code", "Import Claude Code's transcripts."),
    "install claude-code": Entry(
        "crucible.cli.installing:claude_code", "Have Claude Code's sessions written down while they run."
    ),
    "hook claude-code": Entry("crucible.cli.hooking:claude_code", "Take one of Claude Code's hook payloads."),
    "session list": Entry("crucible.cli.listing:list_sessions", "List sessions, newest first."),
    "session stats": Entry("crucible.cli.stats:stats", "Count sessions, tokens, time and failures."),
    "session show": Entry("crucible.cli.showing:show", "Show sessions.", _MANY),
    "session check": Entry("crucible.cli.checks:check", "Name every problem of the session notes.", _MANY),
    "session rename": Entry(
        "crucible.cli.renames:rename", "Give a session another id, and mend every link.", _ONE
    ),
    "index show": Entry("crucible.cli.indexing:show_table", "Print a table of the index."),
    "index rebuild": Entry("crucible.cli.indexing:rebuild", "Make the index anew."),
    "watch": Entry("crucible.cli.watching:follow", "Follow the vault, and print a line for every change."),
    "completion": Entry("crucible.cli.completion:completion", "Print the shell's completion script."),
}


def load_command(target: str) -> click.Command:
    """Import `module:name`."""
    from importlib import import_module

    module, _, name = target.partition(":")
    command: click.Command = getattr(import_module(module), name)
    return command


def build_root() -> click.Group:
    """The `cru` group; its commands are not loaded yet."""
    from crucible.cli.group import build_group

    return build_group(GROUPS, COMMANDS, load_command)


def main(args: Sequence[str] | None = None, **_: Any) -> int:
    """Run `cru` and say how it ended; further keywords, as click's own runner passes them, mean nothing here."""
    given = list(sys.argv[1:] if args is None else args)
    if sys.stderr is None:
        # Closed by the shell.  The next file to be opened, a note perhaps, would be taken for it.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  as long as the process
    if sys.stdout is None:
        return _complain("standard output: closed", "", 1)
    try:
        code = _say_version() if given == ["--version"] else _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return 1
    except OSError as error:
        _drop_output()
        return _complain(f"standard output: {error.strerror or error}", "", 1)
    return code


def run() -> NoReturn:
    """The console script: `main`, without what a process that lives for a moment need not do.

    Looking for cycles among what was just made, and taking down an interpreter object by object, took a quarter of a
    query's time.
    """
    gc.set_threshold(100_000, 10, 10)
    code = main()
    threading = sys.modules.get("threading")
    # Whoever registered something for the end, or works in another thread, is waited for.
    if atexit._ncallbacks() == 0 and (threading is None or threading.active_count() == 1):  # noqa: SLF001
        with suppress(OSError, AttributeError):  # stderr may be closed
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _say_version() -> int:
    sys.stdout.write(f"cru {__version__}\n")
    return 0


def _drop_output() -> None:
    """As click and rich end it, quietly.  Python flushes once more on its way out; let that go nowhere."""
    with suppress(OSError):  # no file under it, in a test
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(args: list[str]) -> int:
    import click

    _never_fail_to_print()
    try:
        return build_root().main(args, prog_name="cru", standalone_mode=False) or 0
    except CrucibleError as error:
        return _complain(str(error), error.hint, error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "cru"
        # Click lists choices on lines of their own.
        message = " ".join(error.format_message().split())
        return _complain(message, f"see: {path} --help", error.exit_code)
    except click.ClickException as error:
        return _complain(error.format_message(), "", error.exit_code)
    except click.Abort:
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or error}", "", 1)


def _complain(message: str, hint: str, code: int) -> int:
    from crucible.cli.output import say

    say(f"cru: {message}", style="red")
    if hint:
        say(f"     {hint}")
    return code


def _never_fail_to_print() -> None:
    """A terminal that lacks a character gets a `?` for it, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


if __name__ == "__main__":
    run()
