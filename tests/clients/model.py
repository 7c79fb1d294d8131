"""A model on loopback that answers as a scenario says, and logs its requests and answers.

It chooses the next step and writes a log.  Notes are compared with this log, which comes from the model's side of the
connection and does not depend on the client's files or on our readers.

A conversation belongs to the subagent whose marker `[agent:NAME]` is in its first message, else it is the main one.
The next step is the number of steps that the conversation has after the newest prompt, so a client may ask twice,
end, resume, or compact.  Each answer reports different numbers of tokens, so a sum shows which answers it counts.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.clients.chat_wires import OTHER_WIRES, Gemini
from tests.clients.scenario import Scenario, Step
from tests.clients.wires import WIRES, Answer, Called, Chat, Message, Usage, Wire

MAIN = "main"
NOTICES = ("<subagent_notification>", "<task-notification>")
COMPACTIONS = (
    "Your task is to create a detailed summary of the conversation",
    "Please create a detailed summary of the conversation",
    "The messages above are a conversation to summarize",
    "<state_snapshot>",
)


@dataclass(frozen=True)
class Heard:
    """The user's prompt, at the first request that has it."""

    words: str
    steering: bool = False


@dataclass(frozen=True)
class Said:
    """One answer of the model in a conversation; `agent` is `main` or a subagent's name."""

    agent: str
    answer: Answer


@dataclass(frozen=True)
class Compacted:
    """The model was asked to sum the conversation up."""


class ScriptedModel:
    """The server, as a context manager.

    `url` is its base; `log` what happened, in order; `unforeseen` requests that no scenario explains.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        other = OTHER_WIRES.get(scenario.client)
        self.wires = (other, *WIRES) if other else WIRES
        self.log: list[Heard | Said | Compacted] = []
        self.results: dict[str, tuple[str, bool | None]] = {}
        self.unforeseen: list[str] = []
        self.on_step: Callable[[Step], None] = lambda _: None
        self._count = 0
        self._failed: set[str] = set()
        self._lock = threading.Lock()
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        assert self._server is not None, "it listens inside its `with` only"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _handler_of(self))
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> Answer | int:
        """What is said to this request, or an HTTP error."""
        messages = wire.messages(request)
        with self._lock:
            self.results |= {r.call: (r.text, r.failed) for m in messages for r in m.results}
            if messages[-1].role == "user" and any(c in text for c in COMPACTIONS for text in messages[-1].texts):
                self.log.append(Compacted())
                return self._new(f"<summary>{self.scenario.title}, up to here.</summary>")
            if wire.title_without_tools and not request.get("tools"):
                return self._new(self.scenario.title)
            agent = self._agent(messages)
            answer = self._next(wire, agent, messages)
            if isinstance(answer, Answer):
                self.log.append(Said(agent, answer))
            return answer

    def wire(self, path: str) -> Wire | None:
        return next((wire for wire in self.wires if path.endswith(wire.path)), None)

    def whole(self, path: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """What is answered at once, {} for what is streamed and for what no scenario explains."""
        wire = self.wire(path)
        if path.endswith("/count_tokens"):
            return {"input_tokens": 600}
        if wire and (request.get("stream") or isinstance(wire, Gemini)):
            return {}
        answer = self.answer(wire, request) if isinstance(wire, Chat) else None
        if isinstance(wire, Chat) and isinstance(answer, Answer):
            return wire.whole(answer, str(request.get("model")))
        self.unforeseen.append(f"POST {path} stream={request.get('stream')}")
        return {"error": "unforeseen"}

    def _agent(self, messages: Sequence[Message]) -> str:
        opening = [text for m in messages[:4] if m.role == "user" for text in m.texts]
        marked = (a for a in self.scenario.agents if any(f"[agent:{a}]" in text for text in opening))
        return next(marked, MAIN)

    def _next(self, wire: Wire, agent: str, messages: Sequence[Message]) -> Answer | int:
        steps, since = self.scenario.agents.get(agent, ()), messages
        if agent == MAIN:
            self._hear(messages)
            steps, since = self._newest_prompt(messages)
        ours = {_bare(step.text) for step in steps}
        turns = sum(m.role == "assistant" and any(_bare(t) in ours for t in m.texts) for m in since)
        ended = 0 < turns <= len(steps) and not steps[turns - 1].actions
        if ended and any(text.lstrip().startswith(NOTICES) for text in messages[-1].texts):
            return self._new("Noted.")
        if turns >= len(steps):
            return self._new("Done.")
        return self._play(wire, steps[turns], f"{agent} {turns} {steps[turns].text}")

    def _newest_prompt(self, messages: Sequence[Message]) -> tuple[tuple[Step, ...], Sequence[Message]]:
        for index in range(len(messages) - 1, -1, -1):
            for prompt in self.scenario.prompts:
                if _is_prompt(messages[index], prompt.say):
                    return prompt.steps, messages[index:]
        self.unforeseen.append(f"no prompt of the scenario in {messages}")
        return (), messages

    def _hear(self, messages: Sequence[Message]) -> None:
        """Write down every prompt and every word between that is new."""
        known = {event.words for event in self.log if isinstance(event, Heard)}
        for message in messages:
            for say in self.scenario.says:
                if say not in known and _is_prompt(message, say):
                    self.log.append(Heard(say))
            for steer in self.scenario.steers:
                told = message.role != "assistant" and any(steer in text for text in message.texts)
                if steer not in known and told and not message.results:
                    self.log.append(Heard(steer, steering=True))
            known = {event.words for event in self.log if isinstance(event, Heard)}

    def _play(self, wire: Wire, step: Step, key: str) -> Answer | int:
        if step.status and key not in self._failed:
            self._failed.add(key)
            return step.status
        spawned = [json.loads(text)["agent_id"] for text, _ in self.results.values() if text.startswith('{"agent_id":')]
        calls = []
        for action in step.actions:
            named = wire.action(action, spawned)
            if named:
                calls.append(Called(self._id("call"), named[0], named[1], action))
        answer = self._new(step.text, step.thinking, tuple(calls))
        self.on_step(step)
        return answer

    def _new(self, text: str, thinking: str = "", calls: tuple[Called, ...] = ()) -> Answer:
        identity = self._id("msg")
        n = self._count
        return Answer(identity, text, Usage(100 + n, 20 + n % 7, 500 + 3 * n, 40 + 5 * n), thinking, calls)

    def _id(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}_{self._count:06d}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a disconnect: a killed client leaves in the middle of an answer; other errors show as missing entries."""


def _bare(text: str) -> str:
    return " ".join(text.split())


def _is_prompt(message: Message, say: str) -> bool:
    return message.role == "user" and any(_bare(text) == _bare(say) for text in message.texts)


def _handler_of(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is given
            pass

        def do_HEAD(self) -> None:
            self._whole({})

        def do_GET(self) -> None:
            self._whole({"object": "list", "data": [{"id": "scripted", "object": "model"}], "has_more": False})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
            path = self.path.split("?")[0]
            wire, whole = model.wire(path), model.whole(path, request)
            if wire and not whole:
                self._reply(wire, model.answer(wire, request), str(request.get("model")))
            else:
                self._whole(whole, 404 if "error" in whole else 200)

        def _reply(self, wire: Wire, answer: Answer | int, name: str) -> None:
            if isinstance(answer, int):
                self._whole(wire.error(answer), answer)
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for event, data in wire.events(answer, name):
                told = data if isinstance(data, str) else json.dumps({"type": event, **data} if event else data)
                head = f"event: {event}\n" if event else ""
                self.wfile.write(f"{head}data: {told}\n\n".encode())
            self.close_connection = True

        def _whole(self, body: Mapping[str, Any], status: int = 200) -> None:
            raw = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(raw)

    return Handler
