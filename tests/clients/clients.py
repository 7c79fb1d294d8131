"""Run the real clients: each plays the prompts of a scenario against the scripted model, with its own home folder.

This module has their command lines, settings and environment: nothing of the user's, and only loopback connections.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from samples.waiting import wait_until
from tests.clients.install import VERSIONS
from tests.clients.processes import STREAMED, Kill, Streamed, post_json, run_client, running

CLAUDE_TOOLS = "Bash,Read,Agent,Edit,Write,TaskCreate,TaskUpdate,mcp__crucible"
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


class ClaudeCode(Streamed):
    """One process of Claude Code in print mode."""

    def __init__(self, program: Path, project: Path, env: Mapping[str, str], resume: str = "") -> None:
        command = [str(program), "-p", "--verbose", "--allowedTools", CLAUDE_TOOLS, *STREAMED]
        super().__init__([*command, *(["--resume", resume] if resume else [])], project, env)


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
        run_client(
            [str(program), "exec", *resume, *flags],
            project,
            env,
            prompt,
            kill if prompt == prompts[-1] else None,
        )


def play_opencode(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with OpenCode; a later call continues the session; otherwise like `play_codex`.

    One process plays several prompts, since each start takes 6 seconds of the processor.
    """
    opencode_settings(env)
    again = ["--continue"] if (Path(env["HOME"]) / ".local/share/opencode/opencode.db").exists() else []
    if len(prompts) > 1:
        assert not again, "its server begins a session"
        _serve_opencode(program, project, env, prompts, kill)
    for prompt in prompts if len(prompts) == 1 else ():
        run_client([str(program), "run", "--format", "json", *again], project, env, prompt, kill)


def play_opencode_at_once(program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str]) -> None:
    """Play a session for each prompt, all at once, in one process: two that start together make the same tables."""
    opencode_settings(env)
    with _opencode_server(program, project, env) as url, ThreadPoolExecutor() as pool:
        for played in [pool.submit(_begin_opencode, url, prompt) for prompt in prompts]:
            played.result()


def _serve_opencode(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None
) -> None:
    with _opencode_server(program, project, env, signal.SIGKILL if kill else signal.SIGTERM) as url:
        session = _begin_opencode(url, prompts[0])
        for prompt in prompts[1:-1] if kill else prompts[1:]:
            post_json(f"{session}/message", _words(prompt))
        if kill:
            post_json(f"{session}/prompt_async", _words(prompts[-1]))
            wait_until(kill, lambda: "OpenCode is where it shall be killed")


@contextmanager
def _opencode_server(program: Path, project: Path, env: Mapping[str, str], end: int = signal.SIGTERM) -> Iterator[str]:
    command = [str(program), "serve", "--port", "0", "--hostname", "127.0.0.1"]
    with running(command, project, env, end) as process:
        yield opencode_url(process)


def _begin_opencode(url: str, prompt: str) -> str:
    """The address of a new session in which this prompt was answered."""
    session = f"{url}/session/{post_json(f'{url}/session', {})['id']}"
    post_json(f"{session}/message", _words(prompt))
    return session


def _words(prompt: str) -> dict[str, Any]:
    return {"parts": [{"type": "text", "text": prompt}]}


def opencode_url(process: subprocess.Popen[bytes]) -> str:
    """Where OpenCode's server listens, as soon as it does."""
    assert process.stdout is not None
    return next(line.decode().split()[-1] for line in process.stdout if b"listening" in line)


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
        run_client(command, project, copilot_settings(env), "", kill if prompt == prompts[-1] else None)


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
    """Play with Qwen Code, as with OpenCode: one process plays several prompts."""
    told = qwen_settings(env)
    again = ["--continue"] if (Path(env["HOME"]) / ".qwen" / "projects").exists() else []
    command = [str(program), "--auth-type", "openai", "--yolo", *again]
    if len(prompts) == 1:
        run_client([*command, "-p", prompts[0]], project, told, "", kill)
        return
    with Streamed([*command, *STREAMED], project, told) as client:
        for prompt in prompts[:-1]:
            client.ask(prompt)
        client.say(prompts[-1])
        if kill is not None:
            wait_until(kill, lambda: "Qwen Code is where it shall be killed")
            client.kill()
            return
        client.wait()
        client.end()


def gemini_settings(env: Mapping[str, str]) -> dict[str, str]:
    """Write Gemini CLI's settings; the environment with the rest of them."""
    home = Path(env["HOME"]) / ".gemini"
    home.mkdir(exist_ok=True)
    settings = home / "settings.json"
    known = json.loads(settings.read_text()) if settings.exists() else {}
    quiet = {"privacy": {"usageStatisticsEnabled": False}, "general": {"enableAutoUpdate": False}}
    settings.write_text(json.dumps(known | quiet | {"security": {"auth": {"selectedType": "gemini-api-key"}}}))
    told = {**env, "GOOGLE_GEMINI_BASE_URL": env["ANTHROPIC_BASE_URL"], "GEMINI_API_KEY": "none"}
    # As for Qwen Code.
    return told | {"HTTP_PROXY": "", "HTTPS_PROXY": "", "GEMINI_CLI_NO_RELAUNCH": "true"}


def play_gemini(program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str]) -> None:
    """Play with Gemini CLI, one process per prompt; later ones continue the session."""
    told, home = gemini_settings(env), Path(env["HOME"]) / ".gemini"
    for prompt in prompts:
        again = ["-r", "latest"] if (home / "tmp").exists() and [*home.glob("tmp/*/chats/*")] else []
        command = [str(program), "--yolo", "--skip-trust", "-m", "gemini-2.5-flash", *again, "-p", prompt]
        run_client(command, project, told, "", None)


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
    """Play with Pi, one process for all prompts; otherwise like `play_codex`."""
    pi_settings(env)
    again = ["--continue"] if (Path(env["HOME"]) / ".pi" / "agent" / "sessions").exists() else []
    command = [str(program), "--provider", "scripted", "--model", "scripted", *again, "-p", *prompts]
    run_client(command, project, {**env, "PI_OFFLINE": "1"}, "", kill)


def cline_settings(env: Mapping[str, str]) -> None:
    """Write Cline's settings, as `cline auth` does, which takes seconds."""
    folder = Path(env["HOME"]) / ".cline" / "data" / "settings"
    folder.mkdir(parents=True, exist_ok=True)
    url = f"{env['ANTHROPIC_BASE_URL']}/v1"
    provider = {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": url}
    known = {"settings": provider, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
    told = {"version": 1, "lastUsedProvider": provider["provider"], "providers": {provider["provider"]: known}}
    (folder / "providers.json").write_text(json.dumps(told))


def play_cline(
    program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str], kill: Kill | None = None
) -> None:
    """Play with Cline CLI, one prompt.  It resumes sessions in a terminal only."""
    (prompt,) = prompts
    cline_settings(env)
    # Without its background process, which its terminal starts.
    run_client(
        [str(program), "-P", "openai", prompt], project, {**env, "CLINE_SESSION_BACKEND_MODE": "local"}, "", kill
    )


def stop_cline(env: Mapping[str, str]) -> None:
    """Stop Cline's background process, if there is one."""
    hub = Path(env["HOME"]) / ".cline" / "data" / "locks" / "hub" / "production.json"
    if hub.exists():
        os.kill(json.loads(hub.read_text())["pid"], signal.SIGTERM)
