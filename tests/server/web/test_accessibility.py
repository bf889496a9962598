"""axe-core finds nothing against WCAG A and AA, on any page, by light and by dark, at a desk and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pages import Site, opened
from tour import PARTS

axe = pytest.importorskip("axe_playwright_python", reason="pages: axe-playwright-python is not installed")
SOURCE = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# All rules once; then those whose outcome a colour scheme or a width can change.
CHANGING = ["color-contrast", "target-size", "scrollable-region-focusable"]
LOOKS = [("light", DESK, None), ("dark", PHONE, CHANGING)]
RUN = """([tags, rules]) => axe.run(document, {
  resultTypes: ["violations"],
  runOnly: rules ? {type: "rule", values: rules} : {type: "tag", values: tags},
}).then(({ violations }) =>
  violations.flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.html.slice(0, 160)}`)))"""


# A box that scrolls at this width becomes a stop for the Tab key with the frame that shows it so.
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))"


@pytest.mark.parametrize("part", list(PARTS))
def test_nothing_stands_in_anybodys_way(browser: Any, part: str) -> None:
    page = opened(browser)
    found = {}
    with Site() as site:
        for name in PARTS[part](page, site):
            page.evaluate(SOURCE + "; undefined")
            for scheme, size, rules in LOOKS:
                page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                page.set_viewport_size(size)
                page.evaluate(DRAWN)
                told = page.evaluate(RUN, [TAGS, rules])
                wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
                told += [f"{wide} pixels too wide"] if wide > 0 else []
                if told:
                    found[name, scheme, size["width"]] = told
            page.emulate_media(color_scheme="light", reduced_motion="reduce")
            page.set_viewport_size(DESK)
    page.context.close()
    assert found == {}
