"""A real Chromium, driven by Playwright: where it comes from, and what it saw."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.clients.install import HOME, Unavailable
from tests.paths import ROOT

AXE = "axe-core@4.10.3"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@cache
def chromium() -> str:
    """The system's Chromium; Playwright's own is not downloaded."""
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise Unavailable("no Chromium; on Debian: apt-get install chromium")
    return found


@cache
def axe_source() -> str:
    """The source of axe-core, installed by npm into a cache."""
    folder = Path(os.environ.get("CRUCIBLE_CLIENTS_CACHE") or ROOT / ".cache" / "clients").resolve() / "axe"
    script = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not script.is_file():
        npm = shutil.which("npm")
        if npm is None:
            raise Unavailable("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), AXE]
        ran = subprocess.run(command, env={**os.environ, "HOME": HOME}, capture_output=True, text=True, check=False)
        if ran.returncode:
            raise Unavailable(f"npm ended with {ran.returncode}: {ran.stderr.strip()[-300:]}")
    return script.read_text(encoding="utf-8")


@dataclass
class Visit:
    """A page, and everything it asked for and complained about."""

    page: Any
    origin: str
    foreign: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def open(self, address: str) -> Any:
        """Open a page of the origin."""
        self.page.goto(self.origin + address)
        return self.page

    def axe(self) -> list[str]:
        """The violations that axe-core finds on the page as it is now."""
        self.page.evaluate(axe_source())
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [f"{one['id']}: {[n['html'][:160] for n in one['nodes'][:3]]}" for one in result["violations"]]

    def overflows(self) -> bool:
        """Whether the page is broader than its window."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > innerWidth"))

    def dismiss(self, dialog: Any) -> None:
        """Note a dialog, which only a script that should not run can open."""
        self.complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def until(self, condition: str) -> None:
        """Wait until an expression is true.  The policy forbids Playwright's own way, which evaluates text."""
        for _ in range(100):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(condition)

    def check(self) -> None:
        """Nothing left the origin, no policy was violated, no script failed."""
        assert not self.foreign, self.foreign
        assert not self.complaints, self.complaints


@contextmanager
def visiting(browser: Any, origin: str, **options: Any) -> Iterator[Visit]:
    """A fresh window; `options` are those of a Playwright context."""
    context = browser.new_context(**options)
    try:
        visit = Visit(context.new_page(), origin)
        page = visit.page
        page.on("request", lambda request: None if _is_own(request.url, origin) else visit.foreign.append(request.url))
        page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        page.on("dialog", visit.dismiss)
        page.on("console", lambda message: visit.complaints.append(message.text) if message.type == "error" else None)
        yield visit
    finally:
        context.close()


def _is_own(url: str, origin: str) -> bool:
    return url.startswith(origin + "/") if origin else url.startswith("file:")
