"""Processes of clients, each in a group of its own: started, given prompts in their ways, killed with all they run."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from samples.waiting import SECONDS, wait_until

Kill = Callable[[], bool]
"""Whether the moment has come."""

STREAMED = ("--input-format", "stream-json", "--output-format", "stream-json")


class Streamed:
    """One process of a client that gets its prompts one after the other, in JSON, as a context manager."""

    def __init__(self, command: Sequence[str], project: Path, env: Mapping[str, str]) -> None:
        self.session = ""
        self.events: list[dict[str, Any]] = []
        self._ended: queue.Queue[str | None] = queue.Queue()
        # A group of its own, so that a kill takes the tools it runs along.
        self.process = subprocess.Popen(
            command,
            cwd=project,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._error = bytearray()
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.process.poll() is None:
            self.kill()
        for thread in self._threads:
            thread.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            _close(stream)

    def say(self, words: str) -> None:
        """Type a prompt, at once; while another is answered it steers."""
        row = {"type": "user", "message": {"role": "user", "content": words}}
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(row).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, words: str) -> str:
        """Type a prompt and wait for the end of its answer."""
        self.say(words)
        return self.wait()

    def wait(self) -> str:
        found = self._ended.get(timeout=SECONDS)
        assert found is not None, f"the client ended: {self._error.decode(errors='replace')[-2000:]}"
        return found

    def end(self) -> None:
        """Close its input, which ends the session, and wait for it."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(SECONDS)
        assert code == 0, f"ended with {code}: {self._error.decode(errors='replace')[-2000:]}"

    def kill(self) -> None:
        """kill -9, with everything that it runs."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = json.loads(line)
            self.events.append(event)
            self.session = event.get("session_id") or self.session
            if event["type"] == "result":
                self._ended.put(event.get("result", ""))
        self._ended.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        self._error += self.process.stderr.read()


def _close(stream: IO[bytes] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except BrokenPipeError:
        return


def post_json(url: str, body: Mapping[str, Any]) -> Any:
    """Post to a client's server; its answer."""
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        return json.loads(answer.read() or b"null")


@contextmanager
def running(
    command: Sequence[str], project: Path, env: Mapping[str, str], end: int = signal.SIGTERM
) -> Iterator[subprocess.Popen[bytes]]:
    """A client in a group of its own, ended with all that it runs."""
    log = Path(env["TMPDIR"]) / "client.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=project,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, end)
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()


def run_client(command: Sequence[str], project: Path, env: Mapping[str, str], prompt: str, kill: Kill | None) -> None:
    """One process to its end, or to the moment at which it is killed, with all that it runs."""
    log = Path(env["TMPDIR"]) / "client.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=project,
            env=dict(env),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        assert process.stdin is not None
        process.stdin.write(prompt.encode())
        process.stdin.close()
        if kill is not None:
            wait_until(kill, lambda: f"the client is where it shall be killed\n{log.read_text()[-2000:]}")
            return
        code = process.wait(SECONDS)
        assert code == 0, f"{command} ended with {code}: {log.read_text(errors='replace')[-2000:]}"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(SECONDS)
