"""`settings.json` in unusual states: written by the client meanwhile, a link into dotfiles, a named pipe."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from crucible.clients import hook_settings as claude_code
from crucible.clients.hook_settings import find_installed, install_hooks, uninstall_hooks
from crucible.clients.registry import HOOKS
from crucible.core.errors import NoteChanged, NoteExists, VaultError

HOOKED = HOOKS["claude-code"]
COMMAND = "cru hook claude-code 2>/dev/null || :"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "settings.json"


def write_meanwhile(monkeypatch: pytest.MonkeyPatch, path: Path, text: str) -> None:
    """The client writes its settings while ours are being made."""
    for name in ("with_hooks", "without_hooks"):
        real = getattr(claude_code, name)

        def slow(*args: object, real: object = real) -> object:
            made = real(*args)  # type: ignore[operator]
            if not path.is_symlink():
                path.write_text(text)
            return made

        monkeypatch.setattr(claude_code, name, slow)


@pytest.mark.parametrize("before", ['{"model": "a"}\n', None])
def test_the_clients_concurrent_writes_are_not_lost(
    monkeypatch: pytest.MonkeyPatch, path: Path, before: str | None
) -> None:
    if before is not None:
        path.write_text(before)
    write_meanwhile(monkeypatch, path, '{"model": "b"}\n')
    with pytest.raises((NoteChanged, NoteExists)):
        install_hooks(HOOKED, path, COMMAND)
    assert json.loads(path.read_text()) == {"model": "b"}


def test_taking_out_does_not_lose_it_either(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    path.write_text('{"model": "a"}\n')
    install_hooks(HOOKED, path, COMMAND)
    grown = json.dumps(json.loads(path.read_text()) | {"model": "b"})
    write_meanwhile(monkeypatch, path, grown)
    with pytest.raises((NoteChanged, NoteExists)):
        uninstall_hooks(HOOKED, path)
    assert path.read_text() == grown


def test_a_link_to_no_file_yet_stays_a_link(tmp_path: Path, path: Path) -> None:
    target = tmp_path / "dotfiles" / "settings.json"
    target.parent.mkdir()
    path.symlink_to(target)
    install_hooks(HOOKED, path, COMMAND)
    assert find_installed(HOOKED, path).lacking == ()
    assert path.is_symlink()
    uninstall_hooks(HOOKED, path)
    assert path.is_symlink()
    assert not target.exists()


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_a_pipe_instead_of_the_file_does_not_block(path: Path) -> None:
    os.mkfifo(path)

    def give_up(_number: int, _frame: object) -> None:
        raise AssertionError("it waits for the pipe")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(10)
    try:
        with pytest.raises(VaultError, match="not a regular file"):
            find_installed(HOOKED, path)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("text", ["", "\n\n", "  ", "\ufeff", "\ufeff\r\n", "{}", "{ }\r\n", "{\n\t// none\n}"])
def test_an_empty_file_is_restored(path: Path, text: str) -> None:
    path.write_bytes(text.encode())
    install_hooks(HOOKED, path, COMMAND)
    assert find_installed(HOOKED, path).lacking == ()
    uninstall_hooks(HOOKED, path)
    assert path.read_bytes() == text.encode()
