"""What the site has beyond the files of docs/: pages made of the sources, and links that lead from file to file.

Documents are written to be read in the repository as well: their links name files there.  Here those are turned into
links of the site, and what they lead to outside docs/ becomes a part of it.
"""

import json
import os
import posixpath
import re
from pathlib import Path

from api_page import described, routes
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "README.md": "overview.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
ORIGINS = {page: origin for origin, page in PAGES.items()}
LINK = re.compile(r"\]\(([^)#:\s]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents beside docs/, the examples, the API's description, and files that documents lead to."""
    for origin, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / origin).read_text("utf-8")))
    files.append(File.generated(config, "examples.md", content=examples()))
    files.append(File.generated(config, "openapi.json", content=json.dumps(described(), indent=1)))
    for page in list(files.documentation_pages()):
        for target in LINK.findall(FENCE.sub("", page.content_string)):
            uri, _ = placed(page.src_uri, target[0])
            origin = ROOT / uri
            if files.get_file_from_path(uri) is None and origin.is_file() and origin.suffix != ".md":
                files.append(File.generated(config, uri, abs_src_path=str(origin)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links of the site, and fill the page of the API."""
    uri = page.file.src_uri
    if uri == "api.md":
        markdown = markdown.replace("<!-- routes -->", routes())

    def turned(link: re.Match[str]) -> str:
        target, anchor = placed(uri, link[1])
        return f"]({os.path.relpath(target, posixpath.dirname(uri) or '.')}{link[2] or anchor})"

    parts, end = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [LINK.sub(turned, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, LINK.sub(turned, markdown[end:])])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave out what docstrings mark code with elsewhere: double colons, and backticks within types."""
    html = html.replace("``", "") if page.file.src_uri.startswith("reference/") else html
    return re.sub(r"<p>::</p>|(?<=:):(?=</p>\s*<div class=\"(?:language|highlight))", "", html)


def placed(page: str, target: str) -> tuple[str, str]:
    """Return where in the site a link of a page leads, and the anchor there, if it has one of its own."""
    origin = ORIGINS.get(page, "examples/index" if page == "examples.md" else f"docs/{page}")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    if path.startswith("examples/") and path.endswith((".py", ".ipynb")):
        return "examples.md", f"#{anchor_of(path)}"
    return PAGES.get(path, path.removeprefix("docs/")), ""


def anchor_of(path: str) -> str:
    """Return the anchor of an example."""
    return posixpath.basename(path).replace(".", "-")


def examples() -> str:
    """Return the page of all examples, notebooks first."""
    parts = [
        "# Examples\n\nIn the folder `examples/`; the tests run all of them.  Scripts run as they are (`python "
        "examples/prices.py`), notebooks open in Jupyter, VS Code or Colab.\n"
    ]
    for path in sorted((ROOT / "examples").iterdir(), key=lambda path: (path.suffix != ".ipynb", path.name)):
        heading = f"## {path.name} {{#{anchor_of(path.name)}}}\n"
        if path.suffix == ".ipynb":
            parts += [heading, *cells(json.loads(path.read_text("utf-8")))]
        elif path.suffix == ".py":
            script = path.read_text("utf-8")
            about = script.split('"""')[1].split("\n")[0]
            parts += [heading, f'{about}\n\n??? example "The script"\n    ```python\n{indented(script)}\n    ```\n']
    return "\n".join(parts)


def cells(notebook: dict) -> list[str]:
    """Return the cells of a notebook as Markdown, its headings below those of the page."""
    shown = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        shown.append(
            f"```python\n{source}\n```\n"
            if cell["cell_type"] == "code"
            else re.sub(r"^#+ (.*)", r"**\1**", source, flags=re.MULTILINE) + "\n"
        )
    return shown


def indented(text: str) -> str:
    """Return a text as a part of a folded block."""
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
