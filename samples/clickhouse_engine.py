"""ClickHouse for tests: the engine in this process (`chdb`), behind a server that speaks ClickHouse's HTTP interface on loopback.

The engine has one user, `default`, and executes no statement on users, roles and policies.  `Engine` keeps the policies that it was
told to create, and `guarded` starts it again with them, and with the rights of a member.
"""

from __future__ import annotations

import base64
import gzip
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from xml.sax.saxutils import escape

PASSWORD = "s3cret/p@ss:word"
DATABASE = "team"
_ACCESS = re.compile(r"\s*(CREATE ROW POLICY|CREATE ROLE|GRANT)\b")
_POLICY = re.compile(r"CREATE ROW POLICY IF NOT EXISTS \w+ ON team\.(\w+) FOR SELECT USING (.*) TO ALL", re.DOTALL)
_RIGHT = re.compile(r"GRANT .* TO team_member")
_USERS = """<clickhouse><profiles><default></default></profiles><quotas><default></default></quotas><users><default>
<password></password><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>{rights}{policies}
</default></users></clickhouse>"""
_CONFIG = "<clickhouse><user_directories><users_xml><path>{path}</path></users_xml></user_directories></clickhouse>"


class NoEngine(Exception):
    """Why there is none."""


class Engine:
    """The engine over a folder.  One can be open in a process."""

    def __init__(self, folder: Path) -> None:
        try:
            self._chdb = import_module("chdb.session")
        except ImportError:
            raise NoEngine("chdb is not installed: `pip install chdb-core`") from None
        self._folder = folder
        self.statements: list[str] = []
        self._lock = threading.Lock()
        self._session: Any = None
        self._start("")

    def _start(self, options: str) -> None:
        if self._session is not None:
            self._session.close()
        self._session = self._chdb.Session(f"{self._folder}/data{options}")

    def guard(self) -> None:
        """Start it again as a member: with the policies and the rights that statements gave so far."""
        policies = "".join(
            f"<{table}><filter>{escape(using)}</filter></{table}>" for table, using in self.policies().items()
        )
        rights = [one.rpartition(" TO ")[0] for one in self.statements if _RIGHT.fullmatch(one)]
        users = self._folder / "users.xml"
        queries = "".join(
            f"<query>{one}</query>"
            for one in [*rights, "GRANT SELECT ON system.*", "GRANT CREATE TEMPORARY TABLE, FILE ON *.*"]
        )
        users.write_text(
            _USERS.format(
                rights=f"<grants>{queries}</grants>",
                policies=f"<databases><{DATABASE}>{policies}</{DATABASE}></databases>",
            )
        )
        config = self._folder / "config.xml"
        config.write_text(_CONFIG.format(path=users))
        self._start(f"?config-file={config}")

    def unguard(self) -> None:
        """Start it again as a user with all rights."""
        self._start("")

    def policies(self) -> dict[str, str]:
        """The condition of each table's policy."""
        found = filter(None, map(_POLICY.fullmatch, self.statements))
        return {match[1]: match[2] for match in found}

    def query(self, query: str, given: dict[str, str], database: str = "", form: str = "JSONCompact") -> bytes:
        """What the engine answers.  Raises `RuntimeError`."""
        if _ACCESS.match(query):
            self.statements.append(query)
            return b""
        with self._lock:
            if database:
                self._session.query(f"USE {database}")
            return bytes(self._session.query(query, form, params=given or None).bytes())

    def insert(self, query: str, data: bytes, settings: dict[str, str], database: str) -> None:
        """Insert what a client sends with `INSERT … FORMAT …`."""
        head, _, form = query.rpartition(" FORMAT ")
        path = self._folder / "block"
        path.write_bytes(data)
        table, names = re.fullmatch(r"INSERT INTO (\w+) \((.*)\)", head).groups()  # type: ignore[union-attr]
        with self._lock:
            self._session.query(f"USE {database}")
            told = str(self._session.query(f"DESCRIBE TABLE {table}", "TSV"))
            types = dict(line.split("\t")[:2] for line in told.splitlines())
            structure = (
                ", ".join(f"{name} {types[name]}" for name in names.split(", ")).replace("\\'", "'").replace("'", "\\'")
            )
            chosen = ", ".join(f"{name} = '{value}'" for name, value in settings.items())
            self._session.query(
                f"INSERT INTO {table} ({names}) SETTINGS {chosen} SELECT * FROM file('{path}', '{form}', '{structure}')"
            )

    def close(self) -> None:
        self._session.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    engine: Engine

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        settings = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        given = {name[6:]: settings.pop(name) for name in list(settings) if name.startswith("param_")}
        database, query, form = (settings.pop(name, "") for name in ("database", "query", "default_format"))
        del settings["wait_end_of_query"]
        expected = base64.b64encode(f"default:{PASSWORD}".encode()).decode()
        if self.headers["Authorization"] != f"Basic {expected}":
            self._answer(403, b"Code: 516. DB::Exception: default: Authentication failed", "516")
            return
        try:
            if query:
                self.engine.insert(query, body, settings, database)
                self._answer(200, b"")
            else:
                self._answer(200, self.engine.query(body.decode(), given, database, form))
        except RuntimeError as error:
            told = re.search(r"Code: (\d+)", str(error))
            self._answer(500, str(error).encode(), told[1] if told else "")

    def _answer(self, status: int, body: bytes, code: str = "") -> None:
        self.send_response(status)
        if code:
            self.send_header("X-ClickHouse-Exception-Code", code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def running_clickhouse(folder: Path) -> Iterator[tuple[Engine, str]]:
    """An engine, and the address of its server.  Raises `NoEngine`."""
    engine = Engine(folder)
    handler = type("Handler", (_Handler,), {"engine": engine})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield engine, f"clickhouse://default:s3cret%2Fp%40ss%3Aword@127.0.0.1:{server.server_port}/{DATABASE}"
    finally:
        server.shutdown()
        server.server_close()
        engine.close()
