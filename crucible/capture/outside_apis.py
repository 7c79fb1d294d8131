"""Code that was written or changed and calls an API outside of the project.

Owns what such a call looks like in the usual languages, and which hosts are somebody else's.  Only whole arguments tell it: a session without a flight
recorder has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from crucible.acts.kinds import is_test_file, type_of
from crucible.acts.model import Deed
from crucible.acts.naming import patched_files
from crucible.capture.steps import Step
from crucible.patterns import late_pattern
from crucible.session.model import Outcome

__all__ = ["ApiCall", "api_calls_of"]

_READ = 200_000
_NO_CODE = frozenset(
    [
        "Markdown",
        "Text",
        "PDF",
        "HTML",
        "CSS",
        "JSON",
        "TOML",
        "TOON",
        "XML",
        "CSV",
        "Parquet",
        "Lock",
        "Image",
        "Audio",
        "Video",
        "Archive",
        "Database",
        "Log",
        "Diff",
        "Template",
        "License",
        "Requirements",
        "GoModule",
    ]
)
_ADDRESS = late_pattern(
    r"\b(?:https?|wss)://(?P<host>[\w.-]{4,200})(?::\d+)?(?P<path>/[^\s\"'`<>)\\]{0,200})?"
)
_OURS = late_pattern(
    r"^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|::1|\[)|(?:^|\.)(?:example|test|invalid|local|localhost|internal|lan|corp|intranet|home)$|(?:^|\.)example\.(?:com|org|net|edu|io|dev)$|^[^.]+$|(?:^|\.)(?:github|gitlab|bitbucket|stackoverflow|wikipedia|w3|schema|json-schema|mozilla|readthedocs|apache|opensource|creativecommons|spdx|docs|npmjs|pypi|crates|rubygems|maven)\.(?:com|org|io|rs|co)$|^(?:docs?|www\.w3|developer|help|wiki|blog|support|cdn|fonts|unpkg|img|badge|badges|shields|schemas?)\b"
)
"""Hosts that are nobody's, this machine's, or where documents lie."""
_API = late_pattern(
    r"(?:^|[.-])(?:api|apis|gateway|graph|rest|graphql|webhooks?|hooks)\d*(?:[.-]|$)|/(?:api|v\d+|graphql|rest)(?:/|$)"
)
"""An API's host or path, also where documents lie."""
_NOBODYS = late_pattern(
    r"^(?:localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|::1|\[)|(?:^|\.)(?:example|test|invalid|local|localhost|internal|lan|corp|intranet|home)$|(?:^|\.)example\.(?:com|org|net|edu|io|dev)$|^[^.]+$"
)
_CALLS = late_pattern(
    r"\b(?:requests|httpx|aiohttp|urllib\d?|session|client|http|https|axios|got|ky|superagent|fetch|curl|rest|api|needle|node_fetch|reqwest|ureq|hyper|surf|faraday|httparty|rest-?client|resttemplate|webclient|okhttp\w*|retrofit|guzzle|req|req\.new|tesla|finch|httpoison|urlsession|alamofire|dio|wretch|ofetch|undici|ktor|net::http|open-uri|hackney)\b[\w.:!?<>]{0,40}\s*[.(:]"
    r"|\b(?:fetch|urlopen|file_get_contents|curl_\w+|wp_remote_\w+|httpget|http_get|http_post|newrequest\w*|httprequest|uri\.create|urlrequest|get_json|post_json|xmlhttprequest|eventsource|websocket|webhook|request)\b\s*!?\(?|\bhttp\.(?:get|post|put|patch|delete|head|newrequest\w*)\b|\.(?:get|post|put|patch|delete|send|request|getasync|postasync|sendasync)\w*\s*[(<]|->(?:get|post|put|patch|delete|request)\s*\(|/(?:get|post|put|patch|delete)\b|\b(?:url|uri|urlrequest|parserequest|basicrequest|asyncclient|getjson|postjson|open-uri|uri!|dial|connect)\s*[!(]|\bcurl\b|\binvoke-(?:restmethod|webrequest)\b"
    r"|\b(?:base_?url|api_?url|endpoint|api_?base|base_uri|api_?host|webhook_?url|api_?root|host_?url|service_?url|url|uri)\b\s*[:=]"
)
_COMMENT = late_pattern(r"^\s*(?://|#(?!include)|\*|/\*|--|;|<!--|%|\"\"\"|''')")
_ASSERTS = late_pattern(
    r"\b(?:expected|actual|assert\w*|expect|should|mock\w*|stub\w*|fixture|sample|dummy|fake)\b"
)


class ApiCall(NamedTuple):
    """A call of an API in a file: the file, the API's host, the address without what is secret in it, and the line of code."""

    file: str
    host: str
    address: str
    code: str


def api_calls_of(step: Step) -> Iterator[ApiCall]:
    """The calls of outside APIs that a call put into code, one of each file and host."""
    if step.outcome is not Outcome.OK or not step.arguments:
        return
    seen: set[tuple[str, str]] = set()
    for file, text in _put_in(step, step.arguments):
        if not _is_code(file):
            continue
        for found in _in_code(file, text):
            if (file, found.host) not in seen:
                seen.add((file, found.host))
                yield found


def _is_code(file: str) -> bool:
    kind = type_of(file)
    return kind is not None and kind not in _NO_CODE and not is_test_file(file)


def _put_in(step: Step, arguments: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Each file that was changed with the text that was put into it."""
    patch = next(
        (text for name in ("input", "patch", "patchText") if isinstance(text := arguments.get(name), str)), ""
    )
    if patch:
        yield from _patched(patch[:_READ])
        return
    files = [act.what for act in step.acts if act.deed in (Deed.WRITE, Deed.EDIT) and act.what]
    if not files:
        return
    edits = arguments.get("edits")
    parts = (
        [arguments, *(edit for edit in edits if isinstance(edit, Mapping))]
        if isinstance(edits, list)
        else [arguments]
    )
    names = (
        "new_string",
        "newString",
        "new_str",
        "new_source",
        "content",
        "insert_text",
        "file_text",
        "text",
        *(("command", "cmd", "script") if step.script else ()),
    )
    text = "\n".join(text for part in parts for name in names if isinstance(text := part.get(name), str))
    yield files[0], text[:_READ]


def _patched(patch: str) -> Iterator[tuple[str, str]]:
    """Each file of a patch with the lines that it has afterwards: what stands around a change is changed code as well."""
    names = {one.path for one in patched_files(patch)}
    path, kept = "", list[str]()
    for line in [*patch.split("\n"), "*** End"]:
        named = (
            next((name for name in names if line.endswith(name)), "")
            if line.startswith(("*** ", "+++ "))
            else ""
        )
        if line.startswith(("*** ", "+++ ")):
            if path:
                yield path, "\n".join(kept)
            path, kept = named, []
        elif not line.startswith(("-", "@@")):
            kept.append(line.removeprefix("+"))


def _is_anothers(host: str, path: str) -> bool:
    """Whether an address is of somebody else's service: no documents, unless its host or its path is an API's."""
    return not _OURS.search(host) or (
        not _NOBODYS.search(host) and bool(_API.search(host) or _API.match(path))
    )


def _in_code(file: str, text: str) -> Iterator[ApiCall]:
    if "://" not in text:
        return
    before = ""
    for line in text.split("\n"):
        if "://" in line and not _COMMENT.match(line):
            code = line[:500]
            low = code.casefold()
            for found in _ADDRESS.finditer(code):
                host = found["host"].casefold().rstrip(".")
                if (
                    _is_anothers(host, found["path"] or "")
                    and not _ASSERTS.search(low[: found.start()])
                    and (_CALLS.search(low) or _CALLS.search(before))
                ):
                    yield ApiCall(
                        file, host, f"{host}{(found['path'] or '').partition('?')[0]}", code.strip()
                    )
        before = line[:200].casefold() if line.strip() else before
