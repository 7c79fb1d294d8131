"""Draw the README's picture of `cru web`: a session of the example vault in Chromium, driven by Playwright.

python docs/web_picture.py            write docs/images/web.png
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "web.png"
SESSION = "2026-11-21-add-rate-limiter-project"
SIZE = {"width": 1180, "height": 1330}


def main() -> None:
    """Serve a copy of the example vault, and draw one page of it."""
    with TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        shutil.copytree(ROOT / "vault-example", vault)
        command = [sys.executable, "-m", "crucible", "--vault", str(vault), "web", "--no-open"]
        environment = {"PATH": "", "HOME": folder, "TZ": "UTC", "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            _draw(server.stdout.readline().strip() if server.stdout else "")
            server.terminate()


def _draw(address: str) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, device_scale_factor=0.8)
        page.goto(address)
        page.goto(f"{address.partition('/?')[0]}/sessions/{SESSION}")
        page.wait_for_timeout(500)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
