"""`cru hook CLIENT`: append one line to the spool for each payload from a client.

A hook imports little, logs its errors, prints nothing except at a client's start, and always exits with 0.
"""

from __future__ import annotations

import os
import select
import time

# Importing `json` takes as long as everything else here.
from _json import encode_basestring_ascii as quoted
from _json import make_scanner
from zlib import crc32

from crucible.clients.launch.session_marks import BRIEFED_ENVIRONMENT, OWN_ENVIRONMENT, RESUMING_ENVIRONMENT
from crucible.core.background import start_in_background
from crucible.core.settings.toml_scan import read_tidy, user_settings_path, vault_named
from crucible.core.vault_folders import is_vault, nearest_vault
from crucible.integrations.hooks.hook_log import log_fault
from crucible.vault.events.spool import append, is_name, spool_folder, syncing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


CLAUDE_CODE = "claude-code"
CLIENTS = (CLAUDE_CODE, "codex", "copilot", "gemini", "opencode", "qwen-code")
"""The clients with `HookSettings`; reading their table takes longer than all else here."""
_NAMES = {"AfterAgent": "Stop"}
"""Claude Code's names of events that have others elsewhere."""
_EVENTS = frozenset(("SessionStart", "Stop", "SessionEnd"))
"""The events of clients other than Claude Code that matter."""
_PATIENCE = 5.0
"""Maximum seconds to wait for the payload."""
_LARGEST = 1 << 28
_PHASE_ENDS = frozenset(("SessionStart", "Stop", "StopFailure", "PreCompact", "SessionEnd"))
_COMPACTION_WAIT = 15.0
"""Maximum seconds that a compaction waits for the session to be imported."""
_SHELLS = ("sh", "dash", "bash", "zsh", "ksh", "fish", "busybox", "cru", "env")
_POINTERS = {
    "agent_id": "agent",
    "tool_use_id": "call",
    "source": "source",
    "reason": "reason",
    "trigger": "trigger",
}


def main(client: str) -> None:
    """Handle one payload; returns only if no client has this name."""
    if client in CLIENTS:
        take_payload(client)
        os._exit(0)


def take_payload(client: str) -> None:
    """Handle the payload on standard input.  Never raises."""
    root = ""
    try:
        if not os.environ.get(OWN_ENVIRONMENT):
            payload = read_payload()
            root = vault_of(str(payload.get("cwd") or ""))
            if root:
                _take(root, client, payload)
    except BaseException as error:  # noqa: BLE001  no error may stop the agent
        log_fault(root, "hook", error)


def _take(root: str, client: str, payload: Mapping[str, Any]) -> None:
    event, session = str(payload.get("hook_event_name") or ""), payload.get("session_id")
    if not is_name(session) or not isinstance(session, str) or not event.isalpha():
        raise ValueError(f"not a session's payload: {event[:40]!r} {str(session)[:40]!r}")
    event = _NAMES.get(event, event)
    if client != CLAUDE_CODE and (event not in _EVENTS or payload.get("agent_id")):
        return  # Copilot also calls it for its subagents
    folder = spool_folder(root, client)
    append(folder, session, _line(client, event, session, payload))
    if event in _PHASE_ENDS or _saves_often(root, folder, session):
        _start_sync(root)
    if event == "PreCompact":
        _wait_for_sync(folder, session)
    if client == CLAUDE_CODE and event == "SessionStart" and payload.get("source") == "startup":
        _greet(root, session, payload)


def _line(client: str, event: str, session: str, payload: Mapping[str, Any]) -> bytes:
    """Return the event, its ids and pointers as a line of JSON; pointers that are not valid names are dropped.

    Only the length and checksum of Claude Code's last answer are stored, which is enough to recognize it.
    """
    parts = {"event": event, "session": session, "transcript": payload.get("transcript_path")}
    parts |= {name: payload[key] for key, name in _POINTERS.items() if is_name(payload.get(key))}
    last_answer = payload.get("last_assistant_message")
    if isinstance(last_answer, str) and client == CLAUDE_CODE:
        data = last_answer.strip().encode("utf-8", "replace")
        parts["said"] = f"{len(data)}:{crc32(data)}"
    texts = (
        f'"{key}":{quoted(_without_surrogates(value[:4096]))}'
        for key, value in parts.items()
        if isinstance(value, str) and value
    )
    return f'{{"time":{time.time():.3f},"pid":{_client_pid()},{",".join(texts)}}}'.encode()


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which would make the line invalid JSON."""
    return text.encode("utf-8", "replace").decode()


# --- the payload -----------------------------------------------------------------------------------------------------


class _Context:
    """The context that the scanner of the `json` package needs."""

    strict = False
    object_hook = object_pairs_hook = None
    # Not `int`, which rejects thousands of digits.
    parse_float = parse_int = parse_constant = float
    memo: dict[str, str] = {}  # noqa: RUF012


def read_payload() -> dict[str, Any]:
    """Read the object from standard input.  The client may keep the pipe open, so stop where the object ends."""
    data, deadline = bytearray(), time.monotonic() + _PATIENCE
    while len(data) < _LARGEST:
        chunk = _read_some(deadline - time.monotonic())
        data += chunk
        # Parsing restarts from the beginning each time, so wait while more data is arriving.
        if chunk and (data[-16:].rstrip()[-1:] != b"}" or _has_more()):
            continue
        found = _object_in(data)
        if isinstance(found, dict):
            return found
        if found is not None:
            raise ValueError("not an object")
        if not chunk:
            raise ValueError(f"{len(data)} bytes without a complete object")
    raise ValueError("too large")


def _object_in(data: bytearray) -> object:
    """Return the JSON value at the start of the data; None if it is incomplete."""
    scan: Any = make_scanner(_Context())  # type: ignore[arg-type]
    text = data.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    try:
        try:
            return scan(text, 0)[0]
        except RecursionError:
            return scan(_flat_head(text), 0)[0]
    except (StopIteration, ValueError, SystemError):  # SystemError if `json.decoder` is not loaded
        return None


def _flat_head(text: str) -> str:
    """Return the members before the first nested value as an object: ids precede deeply nested tool data."""
    begins = [at for mark in ('":{', '":[', '": {', '": [') if (at := text.find(mark)) >= 0]
    return text[: text.rfind(",", 0, min(begins, default=0))] + "}"


def _has_more() -> bool:
    """Return whether more data, or the end of the input, can be read now."""
    return os.name == "posix" and bool(select.select([0], [], [], 0)[0])


def _read_some(seconds: float) -> bytes:
    if os.name == "posix" and not select.select([0], [], [], max(0.0, seconds))[0]:
        raise TimeoutError("the client sent an incomplete payload")
    return os.read(0, 1 << 20)


# --- the vault -------------------------------------------------------------------------------------------------------


def vault_of(cwd: str) -> str:
    """Return the vault for a folder, found by the same rules as for commands; "" if hooks must ignore the folder."""
    named = os.environ.get("CRUCIBLE_VAULT")
    if named:
        return _if_vault(os.path.join(cwd, named))
    return nearest_vault(cwd) or _default_vault()


def _if_vault(folder: str) -> str:
    return os.path.realpath(folder) if is_vault(folder) else ""


def _default_vault() -> str:
    home = os.path.expanduser("~")
    path = user_settings_path(os.environ, home)
    text = text_of(path)
    values = read_tidy(text)
    if values is None:
        return _default_vault_slowly(path, home)
    named, elsewhere = values.get("default_vault"), values.get("hooks", {})
    if not isinstance(named, str) or (isinstance(elsewhere, dict) and elsewhere.get("elsewhere") == "ignore"):
        return ""
    return _if_vault(vault_named(named, path, home))


def _default_vault_slowly(path: str, home: str) -> str:
    from crucible.core.settings.settings import load_user_settings  # noqa: PLC0415  only for unusual TOML

    user = load_user_settings(path, home)
    return "" if user.elsewhere == "ignore" or not user.default_vault else _if_vault(user.default_vault)


def text_of(path: str) -> str:
    """Return a small file's text; "" if there is none."""
    try:
        # Do not block on a named pipe.
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return ""
    try:
        return os.read(file, 1 << 20).decode("utf-8")
    finally:
        os.close(file)


# --- the process that writes notes -----------------------------------------------------------------------------------


def _saves_often(root: str, folder: str, session: str) -> bool:
    """Return whether the settings ask for saving within phases and a save is due."""
    values = read_tidy(text_of(os.path.join(root, ".crucible", "config.toml")))
    if values is None:
        from crucible.core.settings.settings import load_vault_settings  # noqa: PLC0415  only for unusual TOML

        save, seconds = load_vault_settings(root).hooks
    else:
        # Earlier versions had these settings in `[capture]`.
        chosen = {**values.get("capture", {}), **values.get("hooks", {})}
        save, seconds = chosen.get("save", "phase"), chosen.get("interval_seconds", 60)
    if save != "interval":
        return bool(save == "tool")
    try:
        return time.time() - os.stat(os.path.join(folder, session + ".state")).st_mtime >= seconds
    except FileNotFoundError:
        return True


def _start_sync(root: str) -> None:
    """Start the process that writes notes, unless one is running: it checks the spool again before it ends."""
    with syncing(root) as lock:
        free = lock.held
    if not free:
        return
    start_in_background("crucible.integrations.hooks.background", root)


def _greet(root: str, session: str, payload: Mapping[str, Any]) -> None:
    """Print the briefing and the paused session, unless `cru` started the client to resume or with a briefing."""
    values = read_tidy(text_of(os.path.join(root, ".crucible", "config.toml"))) or {}
    resume, briefing = values.get("resume", {}), values.get("briefing", {})
    is_off = isinstance(resume, dict) and resume.get("at_start") == "off"
    is_off = is_off and isinstance(briefing, dict) and briefing.get("at_start") is False
    if is_off or os.environ.get(RESUMING_ENVIRONMENT) or os.environ.get(BRIEFED_ENVIRONMENT):
        return
    from crucible.integrations.hooks.start_context import greet  # noqa: PLC0415  slow to load

    greet(root, CLAUDE_CODE, session, str(payload.get("cwd") or ""))


def _wait_for_sync(folder: str, session: str) -> None:
    """Wait until the note has everything that is in the spool now, up to a maximum time."""
    size = os.stat(os.path.join(folder, session + ".jsonl")).st_size
    deadline = time.monotonic() + _COMPACTION_WAIT
    while time.monotonic() < deadline:
        try:
            if int(text_of(os.path.join(folder, session + ".state")).partition(" ")[0] or 0) >= size:
                return
        except ValueError:
            pass
        time.sleep(0.02)


def _client_pid() -> int:
    """Return the client's process id: the nearest ancestor that is not a shell or, without `/proc`, our parent."""
    pid = os.getppid()
    for _ in range(8):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                name, _, rest = file.read(4096).partition(b"(")[2].rpartition(b")")
        except OSError:
            break
        if name.decode("ascii", "replace") not in _SHELLS:
            break
        pid = int(rest.split()[1])
    return pid
