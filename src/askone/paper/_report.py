"""Reports of runs: figures, numbers with their provenance, and one page for all runs.

    OUT/figures/<run>.png, .pdf      OUT/numbers/<run>.json      OUT/report.html

The page is made from the other files alone, holds everything itself, and loads nothing.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from html import escape
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy

from askone._common.atomic_write import write_text
from askone.paper._base import CORRECTED, FAILS, HOLDS, IN_PART, Job, Run
from askone.paper._errata import ERRATA
from askone.paper._plots import save
from askone.version import __version__

# A sign, an edge and a word each: nobody needs to tell colours apart.
_MARKS = {HOLDS: ("✔", "holds"), IN_PART: ("◐", "part"), FAILS: ("✘", "fails"), CORRECTED: ("✎", "corrected")}

_COLUMNS = ("text", "paper", "here", "verdict", "why")
_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #111; background: #fff; max-width: 70rem; margin: 2rem auto;
  padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #bbb; }
th { border-bottom: 2px solid #111; }
.wide { overflow-x: auto; }
.verdict { white-space: nowrap; font-weight: 600; border-left: .5rem solid; }
.holds { border-left-color: #0072B2; background: #e8f2f8; }
.part { border-left-color: #E69F00; background: #fdf5e2; }
.fails { border-left-color: #000; background: #e4e4e4; }
.corrected { border-left-color: #CC79A7; background: #f9eff4; }
figure { margin: 1rem 0 2rem; }
img { max-width: 100%; height: auto; border: 1px solid #ddd; }
figcaption, .provenance { color: #444; font-size: .9rem; }
code { font-size: .85rem; overflow-wrap: anywhere; }
@media print {
  body { font-size: 10pt; max-width: none; margin: 0; }
  thead { display: table-header-group; }
  tr, figure { break-inside: avoid; }
  .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .wide { overflow: visible; }
}
"""


@final
@dataclass(frozen=True)
class Section:
    """A finished run, as its files tell of it."""

    record: Mapping[str, Any]
    picture: bytes


def write_run(
    run: Run, quick: bool, results: Sequence[Any], spent: float, out: Path, device: str | None = None
) -> dict[str, Any]:
    """Return the numbers, with provenance and verdicts, and the figure; returns what the JSON file holds."""
    numbers = run.numbers(quick, results)
    record = {
        "run": run.name,
        "title": run.title,
        "caption": run.caption,
        "provenance": provenance(run, quick, spent) | ({} if device is None else {"device": device}),
        "claims": [asdict(claim) for claim in run.claims(numbers)],
        "numbers": numbers,
    }
    save(run.draw(numbers), out / "figures" / run.name)
    _whole(out / "numbers" / f"{run.name}.json", json.dumps(record, indent=1, ensure_ascii=False) + "\n")
    return record


def provenance(run: Run, quick: bool, spent: float) -> dict[str, Any]:
    """Return seeds, versions, parameters, whether it was the quick version, and the seconds of its jobs."""
    jobs = run.jobs(quick)
    versions = {"askone": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
    versions["python"] = platform.python_version()
    seeds = {job.arguments["seed"] for job in jobs if "seed" in job.arguments}
    seeds |= {seed for job in jobs for seed in job.arguments.get("seeds", [])}
    return {
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "quick": quick,
        "seconds": round(spent, 2),
        "seed": sorted(seeds),
        "versions": versions,
        "parameters": parameters(jobs),
        "data": list(run.needs),
    }


def parameters(jobs: Sequence[Job]) -> dict[str, dict[str, list[Any]]]:
    """Return, for each function of the jobs, the different values of each argument but the seeds.

    >>> parameters([Job(print, {"m": 1, "seed": 3}), Job(print, {"m": 2, "seed": 3})])
    {'print': {'m': [1, 2]}}
    """
    found: dict[str, dict[str, list[Any]]] = {}
    for job in jobs:
        of = found.setdefault(job.function.__name__, {})
        for key, value in job.arguments.items():
            values = of.setdefault(key, []) if key not in ("seed", "seeds") else [value]
            if value not in values:
                values.append(value)
    return found


def write_report(names: Sequence[str], missing: Mapping[str, str], out: Path) -> Path:
    """Return ``report.html`` of the runs whose files are there, in this order; of those in ``missing``, the reason."""
    there = [name for name in names if name not in missing and has_run(name, out)]
    _whole(out / "report.html", page([_section(out, name) for name in there], missing))
    return out / "report.html"


def has_run(name: str, out: Path) -> bool:
    """Return whether the run's files are there."""
    return (out / "numbers" / f"{name}.json").is_file() and (out / "figures" / f"{name}.png").is_file()


def page(sections: Sequence[Section], missing: Mapping[str, str]) -> str:
    """Return the report as one HTML document."""
    quick = any(section.record["provenance"]["quick"] for section in sections)
    note = "<p><strong>Quick versions</strong> are among these runs: fewer trials and questions.</p>" if quick else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>Active Labeling: Streaming Stochastic Gradients, reproduced</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Active Labeling: Streaming Stochastic Gradients, reproduced</h1>
<p>Figures and claims of Cabannes, Bach, Perchet and Rudi (NeurIPS 2022), made again by askone {escape(__version__)}
from seeds; what each run used is below its figure.</p>
{note}<h2>Claims</h2>
{_summary(sections)}
{_claims(sections)}
{_missing(missing)}
<h2>Figures</h2>
{"".join(_figure(section) for section in sections)}
<h2>Errata of the paper and its reference code</h2>
{_table(("where", "there", "right"), [[escape(text) for text in astuple(one)] for one in ERRATA])}
</body>
</html>
"""


def _summary(sections: Sequence[Section]) -> str:
    verdicts = [claim["verdict"] for section in sections for claim in section.record["claims"]]
    counts = [f"{verdicts.count(verdict)} {sign} {verdict}" for verdict, (sign, _) in _MARKS.items()]
    return f"<p>{len(verdicts)} claims: {escape(', '.join(counts))}.</p>"


def _claims(sections: Sequence[Section]) -> str:
    rows = [
        [_link(section), *(escape(claim[key]) for key in _COLUMNS)]
        for section in sections
        for claim in section.record["claims"]
    ]
    return _table(("run", "claim", *_COLUMNS[1:]), rows)


def _missing(missing: Mapping[str, str]) -> str:
    if not missing:
        return ""
    items = "".join(f"<li><strong>{escape(name)}</strong>: {escape(why)}</li>" for name, why in missing.items())
    return f"<h2>Not in this report</h2>\n<ul>{items}</ul>"


def _figure(section: Section) -> str:
    record, name = section.record, escape(section.record["run"])
    source = "data:image/png;base64," + base64.b64encode(section.picture).decode()
    title, caption = escape(record["title"]), escape(record["caption"])
    return f"""<section id="{name}">
<h3>{name}: {title}</h3>
<figure><img src="{source}" alt="{title}">
<figcaption>{caption or title}</figcaption></figure>
{_provenance(record["provenance"])}
</section>
"""


def _provenance(of: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in of["versions"].items())
    facts = f"{'quick version; ' if of['quick'] else ''}{of['seconds']:.1f} s of computing; {versions}; "
    facts += f"seeds {_ranges(of['seed'])}" + (f"; data: {', '.join(of['data'])}" if of["data"] else "")
    given = json.dumps(of["parameters"], ensure_ascii=False)
    return f'<p class="provenance">{escape(facts)}<br><code>{escape(given)}</code></p>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f'<th scope="col">{title}</th>' for title in head)
    body = "\n".join(f"<tr>{''.join(_cell(text) for text in row)}</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{titles}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>'


def _cell(text: str) -> str:
    if text not in _MARKS:
        return f"<td>{text}</td>"
    sign, style = _MARKS[text]
    return f'<td class="verdict {style}">{sign} {text}</td>'


def _link(section: Section) -> str:
    name = escape(section.record["run"])
    return f'<a href="#{name}">{name}</a>' + (" (quick)" if section.record["provenance"]["quick"] else "")


def _ranges(seeds: Sequence[int]) -> str:
    """Return whole numbers in few words.

    >>> _ranges([0, 1, 2, 5])
    '0–2, 5'
    """
    starts = [seed for seed in seeds if seed - 1 not in seeds]
    ends = [seed for seed in seeds if seed + 1 not in seeds]
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True)) or "none"


def _section(out: Path, name: str) -> Section:
    record = json.loads((out / "numbers" / f"{name}.json").read_text(encoding="utf-8"))
    return Section(record, (out / "figures" / f"{name}.png").read_bytes())


def _whole(target: Path, text: str) -> None:
    """Written whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, text)
