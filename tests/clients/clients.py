"""Run the real clients: each plays the prompts of a scenario against the scripted model, with its own home folder.

This module has their command lines, settings and environment: nothing of the user's, and only loopback connections.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from samples.waiting import SECONDS, wait_until
from tests.clients.install import VERSIONS

CLAUDE_TOOLS = "Bash,Read,Agent,Edit,Write,TaskCreate,TaskUpdate,mcp__crucible"
Kill = Callable[[], bool]
"""Whether the moment has come."""

QWEN_SHIM = Path(__file__).with_name("qwen_shim.cjs")
NOWHERE = "http://127.0.0.1:9"
"""A proxy address without a server: a client's requests to anything but the model fail at once."""


def quiet_environment(home: Path, project: Path, path: Sequence[str], url: str) -> dict[str, str]:
    """Return a client's whole environment.  OpenCode prefers PWD to its working directory."""
    return {
        "HOME": str(home),
        "PWD": str(project),
        "PATH": os.pathsep.join(path),
        "LANG": "C.UTF-8",
        "TMPDIR": str(home / "tmp"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "OPENAI_API_KEY": "none",
        "HTTP_PROXY": NOWHERE,
        "HTTPS_PROXY": NOWHERE,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "IS_SANDBOX": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_MODELS_PATH": str(_opencode_folder(home) / "models.json"),
        "npm_config_offline": "true",
    }


def _opencode_folder(home: Path) -> Path:
    return home / ".config" / "opencode"


class ClaudeCode:
    """One process of Claude Code in print mode that gets its prompts one after the other, as a context manager."""

    def __init__(self, program: Path, project: Path, env: Mapping[str, str], resume: str = "") -> None:
        command = [str(program), "-p", "--verbose", "--allowedTools", CLAUDE_TOOLS]
        command += ["--input-format", "stream-json", "--output-format", "stream-json"]
        command += ["--resume", resume] if resume else []
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


def codex_settings(env: Mapping[str, str]) -> Path:
    """Write Codex's settings; its folder."""
    home = Path(env["HOME"]) / ".codex"
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text(
        'model = "scripted"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\nname = "scripted"\n'
        f'base_url = "{env["ANTHROPIC_BASE_URL"]}/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n'
    )
    return home


def opencode_settings(env: Mapping[str, str], **more: Any) -> None:
    """Write OpenCode's settings.

    It would read some thousand models of other makers, and without a network try to fetch its own library for plugins,
    at every start: a third of its processor time.  So it finds a list without models, and the library among what is installed.
    """
    folder = _opencode_folder(Path(env["HOME"]))
    (folder / "node_modules").mkdir(parents=True, exist_ok=True)
    (folder / "models.json").write_text("{}")
    installed = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": VERSIONS["opencode-ai"]}}}}
    (folder / "package-lock.json").write_text(json.dumps(installed))
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "models": {name: {"name": name} for name in ("scripted", "persona-model")},
        "options": {"baseURL": f"{env['ANTHROPIC_BASE_URL']}/v1", "apiKey": "none"},
    }
    told = {"autoupdate": False, "model": "scripted/scripted", "provider": {"scripted": provider}}
    (folder / "opencode.json").write_text(json.dumps(told | more))


def play_codex(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Codex, a process for each prompt; the second and later ones resume the same session, also one of an earlier call.

    The last prompt's process is killed when `kill` says so.
    """
    home = codex_settings(env)
    for prompt in prompts:
        # Not `resume --last`: it takes a subagent's session when that one ended later.
        first = min(home.glob("sessions/**/*.jsonl"), default=None)
        resume = ["resume", first.stem[-36:]] if first else []
        flags = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-"]
        flags[:0] = ["--dangerously-bypass-hook-trust"] if (home / "hooks.json").exists() else []
        _run(
            [str(program), "exec", *resume, *flags],
            project,
            env,
            prompt,
            kill if prompt == prompts[-1] else None,
        )


def play_opencode(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with OpenCode, one process per prompt; later ones continue the session; otherwise like `play_codex`."""
    opencode_settings(env)
    for prompt in prompts:
        again = ["--continue"] if (Path(env["HOME"]) / ".local/share/opencode/opencode.db").exists() else []
        command = [str(program), "run", "--format", "json", *again]
        _run(command, project, env, prompt, kill if prompt == prompts[-1] else None)


def copilot_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with Copilot's settings."""
    return {
        **env,
        "COPILOT_PROVIDER_BASE_URL": f"{env['ANTHROPIC_BASE_URL']}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
    }


def play_copilot(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with Copilot CLI, one process per prompt; otherwise like `play_codex`."""
    for prompt in prompts:
        there = (Path(env["HOME"]) / ".copilot" / "session-state").exists()
        command = [str(program), *(["--continue"] if there else []), "--allow-all-tools", "-p", prompt]
        _run(command, project, copilot_settings(env), "", kill if prompt == prompts[-1] else None)


def qwen_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Write Qwen Code's settings; the environment with the rest of them."""
    home = Path(env["HOME"]) / ".qwen"
    home.mkdir(exist_ok=True)
    quiet = {"privacy": {"usageStatisticsEnabled": False}, "general": {"disableAutoUpdate": True}}
    settings = home / "settings.json"
    known = json.loads(settings.read_text()) if settings.exists() else {}
    settings.write_text(json.dumps(known | quiet | {"memory": {"enableManagedAutoMemory": False}}))
    return {
        **env,
        "OPENAI_BASE_URL": f"{env['ANTHROPIC_BASE_URL']}/v1",
        "OPENAI_MODEL": "scripted",
        # It would send requests to loopback through a proxy too.
        "HTTP_PROXY": "",
        "HTTPS_PROXY": "",
        # It would start itself a second time, with more memory.
        "QWEN_CODE_NO_RELAUNCH": "true",
        "NODE_OPTIONS": f'--require "{QWEN_SHIM}"',
    }


def play_qwen(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with Qwen Code, one process per prompt; otherwise like `play_codex`."""
    told = qwen_settings(env)
    for prompt in prompts:
        again = ["--continue"] if (Path(env["HOME"]) / ".qwen" / "projects").exists() else []
        command = [str(program), "--auth-type", "openai", "--yolo", *again, "-p", prompt]
        _run(command, project, told, "", kill if prompt == prompts[-1] else None)


def gemini_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Write Gemini CLI's settings; the environment with the rest of them."""
    home = Path(env["HOME"]) / ".gemini"
    home.mkdir(exist_ok=True)
    settings = home / "settings.json"
    known = json.loads(settings.read_text()) if settings.exists() else {}
    quiet = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
    settings.write_text(json.dumps(known | quiet | {"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    told = {**env, "GOOGLE_GEMINI_BASE_URL": env["ANTHROPIC_BASE_URL"], "GEMINI_API_KEY": "none"}
    return told | {"HTTP_PROXY": "", "HTTPS_PROXY": ""}  # as for Qwen Code


def play_gemini(program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str]) -> None:
    """Play with Gemini CLI, one process per prompt; later ones continue the session."""
    told, home = gemini_settings(env), Path(env["HOME"]) / ".gemini"
    for prompt in prompts:
        again = ["-r", "latest"] if (home / "tmp").exists() and [*home.glob("tmp/*/chats/*")] else []
        command = [str(program), "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", *again, "-p", prompt]
        _run(command, project, told, "", None)


def pi_settings(env: Mapping[str, str]) -> None:
    """Write Pi's list of models."""
    folder = Path(env["HOME"]) / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    model = {"id": "scripted", "name": "scripted", "contextWindow": 128000, "maxTokens": 4096}
    url = f"{env['ANTHROPIC_BASE_URL']}/v1"
    provider = {"baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [model]}
    (folder / "models.json").write_text(json.dumps({"providers": {"scripted": provider}}))


def play_pi(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with Pi, one process per prompt; otherwise like `play_codex`."""
    pi_settings(env)
    for prompt in prompts:
        again = ["--continue"] if (Path(env["HOME"]) / ".pi" / "agent" / "sessions").exists() else []
        command = [str(program), "--provider", "scripted", "--model", "scripted", *again, "-p", prompt]
        _run(command, project, {**env, "PI_OFFLINE": "1"}, "", kill if prompt == prompts[-1] else None)


def cline_settings(program: Path, project: Path, env: Mapping[str, str]) -> None:
    """Have Cline store where its model is."""
    url = f"{env['ANTHROPIC_BASE_URL']}/v1"
    _run([str(program), "auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", url], project, env, "", None)


def play_cline(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with Cline CLI, one prompt, and stop its background process.  It resumes sessions in a terminal only."""
    (prompt,) = prompts
    cline_settings(program, project, env)
    try:
        _run([str(program), "-P", "openai", prompt], project, env, "", kill)
    finally:
        stop_cline(env)


def stop_cline(env: Mapping[str, str]) -> None:
    """Stop Cline's background process, if there is one."""
    hub = Path(env["HOME"]) / ".cline" / "data" / "locks" / "hub" / "production.json"
    if hub.exists():
        os.kill(json.loads(hub.read_text())["pid"], signal.SIGTERM)


def _run(command: Sequence[str], project: Path, env: Mapping[str, str], prompt: str, kill: Kill | None) -> None:
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
