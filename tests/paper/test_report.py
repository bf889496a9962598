"""The report and the command that makes it, with a tiny run in place of the paper's."""

import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from rich.console import Console

from askone.cli.main import main
from askone.errors import AskoneError
from askone.paper import _catalogue, command
from askone.paper._base import CORRECTED, FAILS, HOLDS, IN_PART, Claim, Job, Run
from askone.paper._errata import ERRATA
from askone.paper._plots import panels
from askone.paper._report import Section, page, write_report, write_run
from commands import ask

ROOT = Path(__file__).resolve().parents[2]


def doubled(seed, factor):
    return seed * factor


def stumbling(seed):
    raise AskoneError("it stumbled")


class Tiny(Run):
    name: ClassVar[str] = "tiny"
    title: ClassVar[str] = "A <b>bold</b> title & more"
    caption: ClassVar[str] = "Said \"so\" <script>alert('x')</script>"

    def jobs(self, quick):
        return [Job(doubled, {"seed": seed, "factor": 2 if quick else 3}) for seed in (0, 1, 2, 7)]

    def numbers(self, quick, results):
        return {"doubles": list(results)}

    def claims(self, numbers):
        verdicts = (HOLDS, IN_PART, FAILS, CORRECTED)
        return [Claim(f"claim {v} <i>", "paper & co", str(numbers["doubles"]), v, "because < 1") for v in verdicts]

    def draw(self, numbers):
        figure, (axes,) = panels(1)
        axes.plot(numbers["doubles"])
        return figure


class Hungry(Tiny):
    name: ClassVar[str] = "hungry"
    needs: ClassVar[tuple[str, ...]] = ("usps",)


class Clumsy(Tiny):
    name: ClassVar[str] = "clumsy"

    def jobs(self, quick):
        return [Job(stumbling, {"seed": 0})]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.open = [], []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def runs(monkeypatch):
    """Only the runs of this file."""
    only = {run.name: run for run in (Tiny(), Hungry(), Clumsy())}
    monkeypatch.setattr(command, "RUNS", only)
    return only


@pytest.fixture
def html(tmp_path):
    write_run(Tiny(), True, [0, 2, 4, 14], 1.5, tmp_path)
    return write_report(["tiny"], {"other": "no <data>"}, tmp_path).read_text()


def test_the_page_is_well_formed_and_loads_nothing(html):
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    names = {tag for tag, _ in tags.found}
    assert not names & {"script", "link", "iframe", "object", "embed", "base"}
    for _, attributes in tags.found:
        for name in ("src", "href", "srcset", "data", "action"):
            value = attributes.get(name)
            assert value is None or value.startswith(("data:image/png;base64,", "#")), value
    assert not re.search(r"https?://|@import|url\(", html)
    assert "default-src 'none'" in html


def test_the_page_says_everything_and_escapes_it(html):
    for verdict in (HOLDS, IN_PART, FAILS, CORRECTED):
        assert f"claim {verdict} &lt;i&gt;" in html
        assert re.search(rf'<td class="verdict \w+">. {verdict}</td>', html)
    assert "A &lt;b&gt;bold&lt;/b&gt; title &amp; more" in html
    assert "<script" not in html
    assert "paper &amp; co" in html
    assert "no &lt;data&gt;" in html
    assert "seeds 0–2, 7" in html
    assert "1.5 s of computing" in html
    assert "quick version" in html
    assert "4 claims: 1 ✔ holds, 1 ◐ holds in part, 1 ✘ does not hold, 1 ✎ corrected." in html
    assert all(one.where.split('"')[0] in html for one in ERRATA)


def test_the_page_without_any_run():
    assert "0 claims" in page([], {})
    assert "Not in this report" not in page([], {})


def test_a_name_cannot_break_out_of_the_page():
    odd = {"versions": {"<": ">"}, "parameters": {"<": 1}, "data": ["<"]}
    about = {"quick": False, "seconds": 0, "seed": [], **odd}
    record = {"run": '"><script>', "title": "", "caption": "", "claims": [], "provenance": about}
    assert "<script" not in page([Section(record, b"")], {})


def test_numbers_and_their_provenance(tmp_path):
    write_run(Tiny(), False, [0, 3, 6, 21], 1.234, tmp_path)
    record = json.loads((tmp_path / "numbers" / "tiny.json").read_text())
    assert record["numbers"] == {"doubles": [0, 3, 6, 21]}
    about = record["provenance"]
    assert set(about["versions"]) == {"askone", "numpy", "scipy", "python"}
    assert about["versions"]["numpy"] == np.__version__
    assert (about["seed"], about["quick"], about["seconds"]) == ([0, 1, 2, 7], False, 1.23)
    assert about["parameters"] == {"doubled": {"factor": [3]}}
    assert [claim["verdict"] for claim in record["claims"]] == [HOLDS, IN_PART, FAILS, CORRECTED]
    assert (tmp_path / "figures" / "tiny.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "tiny.pdf").read_bytes().startswith(b"%PDF")


def test_the_documents_know_every_erratum():
    first_cells = [
        line.split("|")[1].strip() for line in (ROOT / "docs" / "errata.md").read_text().splitlines() if "|" in line
    ]
    for one in ERRATA:
        assert one.where in first_cells, one.where


def test_every_test_that_the_errata_name_is_there():
    text = (ROOT / "docs" / "errata.md").read_text()
    named = re.findall(r"([\w/]*test_\w+\.py)(?:::(\w+))?", text)
    assert len(named) > 20
    for file, function in named:
        assert f"def {function or 'test_'}" in (ROOT / "tests" / file).read_text(), (file, function)
    last_cells = [line.split("|")[-2].strip() for line in text.splitlines() if line.startswith("| ")]
    assert all(".py" in cell or cell in ("test", "–") for cell in last_cells)


def test_the_documents_know_every_run():
    text = (ROOT / "docs" / "paper.md").read_text()
    for name in _catalogue.RUNS:
        assert f"`{name}`" in text, name


def test_the_command_makes_what_it_can(runs, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ASKONE_DATA", "")

    def unreachable(name, directory=None):
        raise AskoneError(f"{name} is nowhere")

    monkeypatch.setattr(command.datasets, "load", unreachable)
    arguments = [
        "reproduce",
        "--quick",
        "--workers",
        "1",
        "--out",
        str(tmp_path),
        "--directory",
        str(tmp_path / "data"),
    ]
    out = ask(*arguments, status=1).out
    assert "hungry: skipped, no data: usps is nowhere" in out
    assert "clumsy: failed: it stumbled" in out
    assert "tiny: holds, holds in part, does not hold, corrected" in out
    html = (tmp_path / "report.html").read_text()
    assert "usps is nowhere" in html
    assert 'id="tiny"' in html
    assert 'id="hungry"' not in html
    assert main([*arguments, "tiny"]) == 0


def test_a_stop_keeps_finished_runs_and_jobs(runs, tmp_path, monkeypatch):
    told = []

    def stop(progress, bar, count):
        told.append(count)
        if sum(told) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(command.Progress, "advance", stop)
    out = io.StringIO()
    assert command.reproduce(["tiny"], True, tmp_path, 1, console=Console(file=out, width=200)) == 130
    assert "Finished: no run; to do: tiny." in out.getvalue()
    assert len(list((tmp_path / "jobs").glob("*.json"))) == 2
    assert "stopped before it was finished" in (tmp_path / "report.html").read_text()
    told.clear()
    monkeypatch.setattr(command.Progress, "advance", lambda progress, bar, count: told.append(count))
    assert command.reproduce(["tiny"], True, tmp_path, 1, console=Console(file=out, width=200)) == 0
    assert told == [2, 1, 1]


def test_names_are_checked_and_listed(runs, tmp_path):
    assert (
        "run must be one of: 'tiny', 'hungry', 'clumsy', 'all'; got 'fig9'"
        in ask("reproduce", "tiny", "fig9", "--out", str(tmp_path / "new"), status=2).err
    )
    assert (
        "workers must be a whole number"
        in ask("reproduce", "--workers", "0", "--out", str(tmp_path / "new"), status=2).err
    )
    assert not (tmp_path / "new").exists()
    listed = ask("reproduce", "--list").out
    assert "hungry" in listed
    assert "usps" in listed


def test_without_matplotlib_other_commands_work_and_reproduce_says_what_to_install():
    hide = "import sys; sys.modules['matplotlib'] = sys.modules['matplotlib.axes'] = None\n"
    hide += "from askone.cli.main import main\n"
    code = hide + "print(main(['simulate', 'nowhere.toml']), main(['reproduce', '--list']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "2 2", done.stderr
    assert "nowhere.toml" in done.stderr
    assert "pip install 'askone[paper]'" in done.stderr


def test_the_page_gets_new_rows_and_keeps_the_others(runs, tmp_path):
    page = tmp_path / "page.md"
    old = "| `clumsy` | old | 1 | holds | | then |"
    page.write_text(f"before\n<!-- verdicts:begin -->\n{old}\n<!-- verdicts:end -->\nafter\n")
    arguments = ["reproduce", "tiny", "--workers", "1", "--out", str(tmp_path), "--page", str(page)]
    assert "no full run" in ask(*arguments, "--quick").out
    assert main(arguments) == 0
    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    assert old in lines
    (made,) = [line for line in lines if "claim does not hold" in line]
    assert "because < 1" in made  # the note
    assert re.search(r"\| \d{4}-\d\d-\d\d, \d+\.\d+", made)
    page.write_text("no markers")
    assert main(arguments) == 2
