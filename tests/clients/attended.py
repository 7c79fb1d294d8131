"""Clients with a user: each asks questions, and gets the answers in the scenario.

Codex is driven by its app server (JSON lines on stdio), OpenCode by its server (HTTP and server-sent events), others by
the Agent Client Protocol, Pi by its own.  Their own interfaces write the same files.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from typing import Any

from samples.waiting import SECONDS
from tests.clients.clients import codex_settings, opencode_settings, opencode_url, pi_settings
from tests.clients.processes import post_json, running
from tests.clients.scenario import Human, Prompt


def _told(stream: Any, prefix: bytes = b"") -> queue.Queue[dict[str, Any] | None]:
    """The JSON lines of a stream, as they come; None at its end."""
    told: queue.Queue[dict[str, Any] | None] = queue.Queue()

    def read() -> None:
        with suppress(HTTPException, OSError):  # the client was ended
            for line in stream:
                if line.startswith(prefix + b"{"):
                    told.put(json.loads(line[len(prefix) :]))
        told.put(None)

    threading.Thread(target=read, daemon=True).start()
    return told


# --- Codex -----------------------------------------------------------------------------------------------------------


def attend_codex(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[Prompt], humans: Sequence[Human]
) -> None:
    """Play prompts in one thread of Codex; `humans` answers what it asks, in order.

    Commands of the model's need leave.
    """
    codex_settings(env)
    with running([str(program), "app-server"], project, env) as process:
        _Codex(process, list(humans)).play(project, prompts)


class _Codex:
    def __init__(self, process: subprocess.Popen[bytes], humans: list[Human]) -> None:
        self._process, self._humans = process, humans
        self._told = _told(process.stdout)
        self._number = 0

    def play(self, project: Path, prompts: Sequence[Prompt]) -> None:
        client = {"name": "attended", "title": "attended", "version": "1"}
        self._ask("initialize", clientInfo=client, capabilities={"experimentalApi": True})
        self._send({"method": "initialized"})
        # Without a sandbox a command runs alike on every machine; `untrusted` asks before each that may write.
        started = self._ask("thread/start", cwd=str(project), approvalPolicy="untrusted", sandbox="danger-full-access")
        thread = started["thread"]["id"]
        for prompt in prompts:
            mode = {"mode": prompt.mode or "default", "settings": {"model": "scripted"}}
            self._ask(
                "turn/start",
                threadId=thread,
                input=[{"type": "text", "text": prompt.say}],
                collaborationMode=mode,
            )
            self._wait("turn/completed")

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        while True:
            message = self._next()
            if message.get("id") == self._number and "method" not in message:
                assert "result" in message, f"{method}: {message}"
                return message["result"]

    def _wait(self, method: str) -> None:
        while self._next().get("method") != method:
            pass

    def _next(self) -> dict[str, Any]:
        message = self._told.get(timeout=SECONDS)
        assert message is not None, "the client ended"
        if "id" in message and "method" in message:
            self._send({"id": message["id"], "result": self._answer(message["method"], message["params"])})
        return message

    def _answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        human = self._humans.pop(0)
        if method == "item/tool/requestUserInput":
            ids = [question["id"] for question in params["questions"]]
            return {"answers": {name: {"answers": given} for name, given in zip(ids, human.answers, strict=False)}}
        # As its terminal does: words of refusal are the next prompt, and the turn ends here.
        return {"decision": "accept" if human.allows else "cancel" if human.stops else "decline"}

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()


# --- OpenCode --------------------------------------------------------------------------------------------------------


def attend_opencode(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[Prompt], humans: Sequence[Human]
) -> None:
    """Play prompts in one session of OpenCode; edits need leave, and its plan agent may ask to go on."""
    opencode_settings(env, agent={"build": {"permission": {"edit": "ask"}}})
    command = [str(program), "serve", "--port", "0", "--hostname", "127.0.0.1"]
    with running(command, project, {**env, "OPENCODE_EXPERIMENTAL_PLAN_MODE": "1"}) as process:
        _OpenCode(opencode_url(process), list(humans)).play(prompts)


class _OpenCode:
    def __init__(self, url: str, humans: list[Human]) -> None:
        self._url, self._humans = url, humans

    def play(self, prompts: Sequence[Prompt]) -> None:
        told = _told(urllib.request.urlopen(f"{self._url}/event", timeout=SECONDS), b"data: ")
        session = self._post("session", {})["id"]
        for prompt in prompts:
            body: dict[str, Any] = {"parts": [{"type": "text", "text": prompt.say}]}
            mode = {"agent": prompt.mode} if prompt.mode else {}
            self._post(f"session/{session}/prompt_async", body | mode)
            self._attend(told, session)

    def _attend(self, told: queue.Queue[dict[str, Any] | None], session: str) -> None:
        """Answer until the agent rests."""
        while event := told.get(timeout=SECONDS):
            given = event["properties"]
            if event["type"] == "permission.asked":
                self._permit(given["id"], self._humans.pop(0))
            elif event["type"] == "question.asked":
                self._reply(given["id"], self._humans.pop(0))
            elif event["type"] == "session.idle" and given["sessionID"] == session:
                return
        raise AssertionError("the client ended")

    def _permit(self, ident: str, human: Human) -> None:
        reply = {"reply": "once"} if human.allows else {"reply": "reject"}
        self._post(f"permission/{ident}/reply", reply | ({"message": human.words} if human.words else {}))

    def _reply(self, ident: str, human: Human) -> None:
        if human.answers:
            self._post(f"question/{ident}/reply", {"answers": human.answers})
        else:
            self._post(f"question/{ident}/reject", {})

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        return post_json(f"{self._url}/{path}", body)


ATTEND = {"codex": attend_codex, "opencode": attend_opencode}


# --- the Agent Client Protocol, and Pi's own --------------------------------------------------------------------------


def attend_acp(
    command: Sequence[str], project: Path, env: Mapping[str, str], prompts: Sequence[Prompt], humans: Sequence[Human]
) -> None:
    """Play prompts in one session of a client that speaks the Agent Client Protocol."""
    with running(command, project, env) as process:
        _Acp(process, list(humans)).play(project, prompts)


def _settle(home: Path) -> None:
    """Wait until a client that writes its log later has written it: until no log grows for two seconds."""
    before, quiet = -1, 0
    for _ in range(30):
        size = sum(path.stat().st_size for path in home.glob(".*/**/*.jsonl"))
        quiet, before = (quiet + 1 if size == before else 0), size
        if quiet == 2:
            return
        time.sleep(1)


class _Acp:
    def __init__(self, process: subprocess.Popen[bytes], humans: list[Human]) -> None:
        self._process, self._humans = process, humans
        self._told = _told(process.stdout)
        self._number = 0

    def play(self, project: Path, prompts: Sequence[Prompt]) -> None:
        self._ask("initialize", protocolVersion=1, clientCapabilities={})
        session = self._ask("session/new", cwd=str(project), mcpServers=[])["sessionId"]
        for prompt in prompts:
            self._ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": prompt.say}])
        _settle(project.parent / "home")
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):  # most end by themselves, when all is written
            self._process.wait(10)

    def _ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._told.get(timeout=SECONDS)
            assert message is not None, "the client ended"
            if message.get("method") == "session/request_permission":
                self._decide(message["id"], message["params"])
            elif message.get("id") == number and "method" not in message:
                assert "result" in message, f"{method}: {message}"
                return message["result"]

    def _decide(self, number: object, params: Mapping[str, Any]) -> None:
        human = self._humans.pop(0)
        wanted = "allow_once" if human.allows else "reject_once"
        option = next(each["optionId"] for each in params["options"] if each["kind"] == wanted)
        if human.stops:
            self._send({"method": "session/cancel", "params": {"sessionId": params["sessionId"]}})
            self._send({"id": number, "result": {"outcome": {"outcome": "cancelled"}}})
            return
        self._send({"id": number, "result": {"outcome": {"outcome": "selected", "optionId": option}}})

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()


def attend_pi(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[Prompt], humans: Sequence[Human]
) -> None:
    """Play prompts in one session of Pi, which asks nothing; `humans` are not used."""
    del humans
    pi_settings(env)
    command = [str(program), "--mode", "rpc", "--provider", "scripted", "--model", "scripted"]
    with running(command, project, {**env, "PI_OFFLINE": "1"}) as process:
        told = _told(process.stdout)
        for prompt in prompts:
            compacts = prompt.say == "/compact"
            row = {"type": "compact"} if compacts else {"type": "prompt", "message": prompt.say}
            assert process.stdin is not None
            process.stdin.write(json.dumps(row).encode() + b"\n")
            process.stdin.flush()
            end = "response" if compacts else "agent_end"
            while (message := told.get(timeout=SECONDS)) is not None and message.get("type") != end:
                pass
