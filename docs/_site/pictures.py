"""Make the pictures of the tutorials and the README: a real server, real pages, in Chromium.

The commands of each tutorial are run first, so that pictures show what a reader will see.  The README's campaign is the
demo's, which simulated people have answered.  ``make pictures``
"""

import io
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "helpers"))
from askone.cli.demo.annotators import make as make_campaign
from askone.cli.demo.annotators import play
from askone.cli.demo.tasks import flats
from askone.cli.main import main
from askone.store.open import open_store
from waiting import until
from walking import walk

OUT, FIGURES = ROOT / "docs" / "tutorials" / "pictures", ROOT / "docs" / "figures"
CAMPAIGNS = {"numbers": ("number", "fair-rents"), "classes": ("class", "digits"), "orders": ("order", "ice-cream")}
MOST = 150_000
"""Bytes of a picture."""


def keep(page: Page, name: str, folder: Path = OUT) -> None:
    """Write what a page shows, with as many colours as a picture of a page needs."""
    seen = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = folder / f"{name}.png"
    seen.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    assert path.stat().st_size < MOST, path


def look(page: Page, url: str) -> None:
    """Go through the pages that the tutorials show."""
    page.set_viewport_size({"width": 1000, "height": 700})
    page.goto(url)
    page.get_by_label("Name").fill("ann")
    page.get_by_label("Password", exact=True).fill("correct horse battery")
    keep(page, "set-up")
    page.get_by_role("button", name="Set up this server").click()
    page.wait_for_url("**/manage")
    page.wait_for_selector(".campaign-card")
    home = url.partition("/setup")[0]
    for kind, name in CAMPAIGNS.values():
        page.set_viewport_size({"width": 1000, "height": 1000})
        page.goto(f"{home}/manage/{name}")
        page.wait_for_selector(".chart")
        page.wait_for_timeout(1500)
        keep(page, f"{kind}-dashboard")
        page.set_viewport_size({"width": 1000, "height": 700})
        page.goto(f"{home}/answer/{name}")
        page.wait_for_selector("#ask:not([hidden])")
        page.wait_for_timeout(500)
        keep(page, f"{kind}-answer")
    page.set_viewport_size({"width": 1180, "height": 1240})
    page.goto(f"{home}/manage/flats")
    page.wait_for_selector(".chart")
    page.wait_for_timeout(1500)
    keep(page, "dashboard", FIGURES)
    page.set_viewport_size({"width": 1000, "height": 700})
    page.goto(f"{home}/manage/ice-cream?made=1")
    page.get_by_role("button", name="Make an invitation link").click()
    page.wait_for_selector(".qr")
    keep(page, "invitation")


def answered(folder: Path, answers: int = 800) -> None:
    """Make the demo's campaign about prices of flats, and let simulated people answer it."""
    with open_store("sqlite:///askone.db") as store:
        task, began = flats(folder, 1200), time.time() - 3600
        campaign, people = make_campaign(store, task, began), [f"person {i + 1}" for i in range(6)]
        for _ in play(campaign, task.knowledge, people, answers, at=began):
            pass


def listening(port: int) -> bool:
    """Return whether a server takes connections at a port of this machine."""
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


def make() -> None:
    """Walk through the tutorials in a new folder, serve what came of them, and look."""
    OUT.mkdir(exist_ok=True)
    os.environ.pop("ASKONE_STORE", None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        sys.path.insert(0, folder)
        for tutorial in CAMPAIGNS:
            walk(ROOT / "docs" / "tutorials" / f"{tutorial}.md", main)
        answered(Path(folder))
        command = [sys.executable, "-m", "askone", "serve", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as player:
            assert server.stdout is not None
            try:
                link = next(found[0] for line in server.stdout if (found := re.search(r"http://\S+/setup#\S+", line)))
                until(partial(listening, urlsplit(link).port))
                browser = player.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page(color_scheme="light", locale="en-GB")
                page.set_default_timeout(30_000)
                look(page, link)
                browser.close()
            finally:
                server.terminate()
        os.chdir(ROOT)


if __name__ == "__main__":
    make()
