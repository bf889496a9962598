"""The arguments of the commands about campaigns.  Nothing but argparse: the parser needs no extra."""

from __future__ import annotations

import argparse
from typing import Any

_Parsers = Any  # argparse's own type for this is private
STORE = "where campaigns are kept: a file, sqlite:///file or postgresql://... (default: ASKONE_STORE, or askone.db)"


def add_commands(commands: _Parsers) -> None:
    """Add the parsers of all commands about campaigns."""
    _add_demo(commands.add_parser("demo", help="a server with three campaigns and simulated people who answer"))
    _add_new(commands.add_parser("new", help="make a campaign from a table or a TOML file"))
    _add_serve(commands.add_parser("serve", help="serve campaigns to browsers"))
    _add_simulate(commands.add_parser("simulate", help="forecast what a campaign will cost and how well it will learn"))
    _add_status(commands.add_parser("status", help="say how far campaigns are"))
    _add_export(commands.add_parser("export", help="write answers, predictions, the model or the log into a file"))
    _add_replay(commands.add_parser("replay", help="learn from the log anew and compare"))
    _add_verify(commands.add_parser("verify", help="check that logs and rows are as they were written"))
    _add_backup(commands.add_parser("backup", help="write a whole campaign into one file"))
    _add_restore(commands.add_parser("restore", help="make a campaign of a backup"))
    _add_users(commands.add_parser("users", help="add, list, remove and prune users, let them join, make tokens"))


def _store(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--store", default=None, metavar="URL", help=STORE)


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine)")
    demo.add_argument("--port", type=int, default=8000, help="port to listen at; 0: any free one (default: 8000)")
    demo.add_argument("--store", default=None, metavar="URL", help="where to keep it (default: a temporary file)")
    demo.add_argument("--headless", action="store_true", help="no server: a simulated campaign in this terminal")
    demo.add_argument("--answers", type=int, default=None, help="of each simulated person at most; headless: in all")
    demo.add_argument("--seconds-per-answer", type=float, default=1.5, help="of a simulated person (default: 1.5)")


def _add_new(new: argparse.ArgumentParser) -> None:
    new.add_argument(
        "file", nargs="?", default=None, help="CSV, JSON lines, Parquet, a folder or zip file of images, or a TOML file"
    )
    new.add_argument("--kind", default=None, help="what labels are: number, class or order")
    new.add_argument("--low", type=float, default=None, help="numbers: the lowest that is plausible")
    new.add_argument("--high", type=float, default=None, help="numbers: the highest that is plausible")
    new.add_argument("--label", default=None, metavar="WORD", help="numbers: what they are, such as rent")
    new.add_argument("--wording", default=None, help="the question, with {threshold}, {set}, or {first} and {second}")
    new.add_argument("--unit", default=None, help="numbers: their unit, such as EUR")
    new.add_argument("--decimals", type=int, default=None, help="numbers: decimals of the thresholds asked about")
    new.add_argument("--classes", type=_names, default=None, metavar="A,B,...", help="class: their names")
    new.add_argument("--items", type=_names, default=None, metavar="A,B,...", help="order: what is put in order")
    new.add_argument("--key", default=None, metavar="COLUMN", help="the column that names rows")
    new.add_argument("--gold", default=None, metavar="COLUMN", help="a column with the labels of some rows")
    new.add_argument(
        "--show", type=_names, default=None, metavar="A,B,...", help="columns that people see (default: all)"
    )
    new.add_argument(
        "--learn", type=_names, default=None, metavar="A,B,...", help="columns that the model sees (default: all)"
    )
    new.add_argument("--budget", type=int, default=None, help="answers in all")
    new.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="any setting: ask.overlap=3")
    new.add_argument("--title", default=None, help="what the campaign is called (default: the file's name)")
    new.add_argument("--name", default=None, help="its short name in addresses and commands (default: from the title)")
    new.add_argument("--out", default=None, metavar="TOML", help="write the settings here; with --store also make it")
    _store(new)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _add_serve(serve: argparse.ArgumentParser) -> None:
    _store(serve)
    serve.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen at (default: 8000)")
    serve.add_argument("--processes", type=int, default=1, help="server processes on one database (default: 1)")
    serve.add_argument("--public-url", default="", metavar="URL", help="how people reach it, behind a proxy")
    serve.add_argument(
        "--trust-proxy", action="append", default=[], metavar="IP", help="whose X-Forwarded-* to believe"
    )
    serve.add_argument("--certificate", default=None, metavar="FILE", help="TLS certificate chain (PEM)")
    serve.add_argument("--certificate-key", default=None, metavar="FILE", help="its key (PEM)")
    serve.add_argument("--webhooks", action="store_true", help="send webhooks that managers set up, by https")
    serve.add_argument(
        "--webhook-local",
        action="append",
        type=int,
        default=[],
        metavar="PORT",
        help="send them also to http://127.0.0.1:PORT, a program on this machine; implies --webhooks",
    )
    serve.add_argument("--access-log", action="store_true", help="write a JSON line for each request to standard error")


def _add_simulate(simulate: argparse.ArgumentParser) -> None:
    simulate.add_argument("file", help="the campaign's TOML file")
    simulate.add_argument("--answers", type=int, default=None, help="how many (default: the budget, or 1000)")
    simulate.add_argument("--flip", type=float, default=0.05, help="share of answers that are wrong (default: 0.05)")


def _add_status(status: argparse.ArgumentParser) -> None:
    status.add_argument("name", nargs="?", default=None, help="one campaign (default: all)")
    _store(status)


def _add_export(export: argparse.ArgumentParser) -> None:
    export.add_argument("name", help="the campaign")
    export.add_argument("--what", choices=("answers", "predictions", "model", "log"), default="answers")
    export.add_argument(
        "--format",
        choices=("csv", "jsonl", "parquet", "label-studio"),
        default=None,
        help="of answers and predictions (default: by the file's name, or csv)",
    )
    export.add_argument("--out", default=None, help="the file; - is standard output (default: NAME-WHAT.FORMAT)")
    _store(export)


def _add_replay(replay: argparse.ArgumentParser) -> None:
    replay.add_argument("name", help="the campaign")
    replay.add_argument("--without", action="append", default=[], metavar="PERSON", help="leave out their answers")
    replay.add_argument("--out", default=None, help="save the model here")
    _store(replay)


def _add_verify(verify: argparse.ArgumentParser) -> None:
    verify.add_argument("name", nargs="?", default=None, help="one campaign (default: all)")
    _store(verify)


def _add_backup(backup: argparse.ArgumentParser) -> None:
    backup.add_argument("name", help="the campaign")
    backup.add_argument("--out", default=None, help="the file; - is standard output (default: NAME-backup.zip)")
    _store(backup)


def _add_restore(restore: argparse.ArgumentParser) -> None:
    restore.add_argument("file", help="the backup")
    restore.add_argument("--name", default=None, help="another name for the campaign")
    _store(restore)


def _add_users(users: argparse.ArgumentParser) -> None:
    actions = users.add_subparsers(dest="action", required=True)
    add = actions.add_parser("add", help="add a user; the password is asked for, or read from standard input")
    add.add_argument("name")
    add.add_argument("--role", choices=("admin", "manager", "annotator"), default="annotator")
    _store(add)
    _store(actions.add_parser("list", help="list all users"))
    remove = actions.add_parser("remove", help="forget a user; what was answered stays, under a pseudonym")
    remove.add_argument("name")
    _store(remove)
    prune = actions.add_parser("prune", help="forget guests who cannot come back, and remove what has expired")
    prune.add_argument("--days", type=float, default=90.0, help="since when they did nothing (default: 90)")
    _store(prune)
    join = actions.add_parser("join", help="let a user into a campaign, without an invitation")
    join.add_argument("name")
    join.add_argument("campaign")
    join.add_argument("--role", choices=("annotator", "manager"), default="annotator")
    _store(join)
    token = actions.add_parser("token", help="make a token for a program, shown once")
    token.add_argument("name", help="whose it is")
    token.add_argument("--scopes", default="read", help="some of read,answer,manage (default: read)")
    token.add_argument("--days", type=float, default=90.0, help="how long it is valid (default: 90)")
    token.add_argument("--title", default="command line", help="what it is for")
    _store(token)
