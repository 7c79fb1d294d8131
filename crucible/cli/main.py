"""Run `cru` and turn errors into messages and exit codes.

Exit codes: 0 done, 1 failed, 2 usage, 3 problems found; 130 interrupted.  Imports are late so that `cru` starts fast.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NoReturn

from crucible import __version__
from crucible.core.errors import CrucibleError

_INTERRUPTED = 130


def main(args: Sequence[str] | None = None, **_: Any) -> int:
    """Run `cru` and return its exit code; keywords that click's test runner passes are ignored."""
    given = list(sys.argv[1:] if args is None else args)
    if sys.stderr is None:
        # The shell closed stderr.  Otherwise the next file opened, perhaps a note, would get its file descriptor.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  open until the process ends
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
    """Run `main` as the console script, mostly without garbage collection and without the interpreter's teardown.

    Together these took a quarter of a query's time.
    """
    gc.set_threshold(100_000, 10, 10)
    code = main()
    threading = sys.modules.get("threading")
    # If there are exit handlers or other threads, the process exits the normal way.
    if atexit._ncallbacks() == 0 and (threading is None or threading.active_count() == 1):  # noqa: SLF001
        with suppress(OSError, AttributeError):  # stderr may be closed
            sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def _say_version() -> int:
    sys.stdout.write(f"cru {__version__}\n")
    return 0


def _drop_output() -> None:
    """Discard the output that Python would still flush on exit, as click and rich do after a broken pipe."""
    with suppress(OSError):  # in tests it has no file descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(args: list[str]) -> int:
    import click

    from crucible.cli.group import build_root

    _never_fail_to_print()
    color = _color_option(args)
    try:
        return build_root().main(args, prog_name="cru", standalone_mode=False) or 0
    except CrucibleError as error:
        return _complain(str(error), error.hint, error.exit_code, color)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return error.exit_code
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "cru"
        # Click lists choices on separate lines.
        message = " ".join(error.format_message().split())
        return _complain(message, f'Run "{path} --help" for help.', error.exit_code, color)
    except click.ClickException as error:
        return _complain(error.format_message(), "", error.exit_code, color)
    except click.Abort:
        return _INTERRUPTED
    except BrokenPipeError:
        raise
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        return _complain(f"{place}{error.strerror or error}", "", 1, color)


def _color_option(args: Sequence[str]) -> bool | None:
    """Return the choice of the root's colour options or NO_COLOR, for errors shown without click's context."""
    if "--no-color" in args or "--color" in args:
        return "--color" in args
    return False if os.environ.get("NO_COLOR") else None


def _complain(message: str, hint: str, code: int, color: bool | None = None) -> int:
    from crucible.cli.output import say_error

    say_error(message, hint, color=color)
    return code


def _never_fail_to_print() -> None:
    """Replace characters that the terminal's encoding lacks with `?`."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")


if __name__ == "__main__":
    run()
