"""The arguments of the commands about campaigns.  Nothing but argparse: the parser needs no extra."""

from __future__ import annotations

import argparse
from typing import Any, final

_Parsers = Any  # argparse's own type for this is private
_EMBEDDER = "an embedder that a campaign was made with (askone new --embed), for new rows; may be repeated"
STORE = "where campaigns are kept: a file, sqlite:///file or postgresql://... (default: ASKONE_STORE, or askone.db)"


def add_commands(commands: _Parsers) -> None:
    """Add the parsers of all commands about campaigns."""
    demo = commands.add_parser("demo", help="a server with three campaigns and simulated people who answer")
    demo.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1, this machine)")
    demo.add_argument("--port", type=int, help="port to listen at; 0: any free one (default: 8000 if it is free)")
    demo.add_argument("--store", metavar="URL", help="where to keep it (default: a temporary file)")
    demo.add_argument("--headless", action="store_true", help="no server: a simulated campaign in this terminal")
    demo.add_argument("--answers", type=int, help="of each simulated person at most; headless: in all")
    demo.add_argument("--seconds-per-answer", type=float, default=1.5, help="of a simulated person (default: 1.5)")
    _add_new(_with_store(commands, "new", "make a campaign from a table or a TOML file"))
    _add_serve(_with_store(commands, "serve", "serve campaigns to browsers"))
    simulate = commands.add_parser("simulate", help="forecast what a campaign will cost and how well it will learn")
    simulate.add_argument("file", help="the campaign's TOML file")
    simulate.add_argument("--answers", type=int, help="how many (default: the budget, or 1000)")
    simulate.add_argument("--flip", type=float, help="share of answers that are wrong (default: 0.05)")
    simulate.add_argument("--people", help='who answers instead, such as "4 careful, 2 sloppy, 1 yes-sayer, 1 spammer"')
    status = _with_store(commands, "status", "say how far campaigns are")
    status.add_argument("name", nargs="?", help="one campaign (default: all)")
    _add_managing(commands)
    estimate = _of_campaign(
        commands, "estimate", "estimate a mean, a median, a share or an accuracy of the whole table"
    )
    estimate.add_argument("what", help="mean, median, 'share above 30'; for classes and orders: accuracy")
    estimate.add_argument("--by", metavar="COLUMN", help="of each group of rows that have the same value there")
    compare = _of_campaign(commands, "compare", "say what other models would have made of a campaign's answers")
    compare.add_argument("--json", action="store_true", help="as JSON, in one line")
    export = _of_campaign(commands, "export", "write answers, predictions, the model or the log into a file")
    export.add_argument("--what", choices=("answers", "predictions", "model", "log"), default="answers")
    forms = ("csv", "jsonl", "parquet", "label-studio")
    by_name = "of answers and predictions (default: by the file's name, or csv)"
    export.add_argument("--format", choices=forms, help=by_name)
    export.add_argument("--out", help="the file; - is standard output (default: NAME-WHAT.FORMAT)")
    predict = commands.add_parser("predict", help="score new rows by a model that was exported or saved")
    predict.add_argument("model", help="the model's file (askone export NAME --what model)")
    predict.add_argument("file", help="the rows: any table that askone new reads, with the columns of the first")
    _add_table(predict)
    predict.add_argument("--vectors", metavar="NPY", help="vectors of the rows, in their order")
    predict.add_argument("--embedder", action="append", default=[], metavar="[NAME=]EMBEDDER", help=_EMBEDDER)
    out = "a .csv, .jsonl or .parquet file; - is standard output (default: FILE-predictions.csv)"
    predict.add_argument("--out", help=out)
    predict.add_argument("--dask", metavar="ADDRESS", help="predict on the Dask scheduler at this address")
    replay = _of_campaign(commands, "replay", "learn from the log anew and compare")
    replay.add_argument("--without", action="append", default=[], metavar="NAME", help="leave out a person's answers")
    replay.add_argument("--refit", action="store_true", help="make each fit anew and say how far off the kept one is")
    replay.add_argument("--out", help="save the model here")
    verify = _with_store(commands, "verify", "check that logs and rows are as they were written")
    verify.add_argument("name", nargs="?", help="one campaign (default: all)")
    backup = _of_campaign(commands, "backup", "write a whole campaign into one file")
    backup.add_argument("--out", help="the file; - is standard output (default: NAME-backup.zip)")
    backup.add_argument("--sign", metavar="KEYFILE", help="sign it with the key in this file")
    restore = _with_store(commands, "restore", "make a campaign of a backup")
    restore.add_argument("file", help="the backup")
    restore.add_argument("--name", help="another name for the campaign")
    restore.add_argument("--key", metavar="KEYFILE", help="refuse it unless it was signed with the key in this file")
    users = commands.add_parser("users", help="add, list, remove and prune users, let them join, make tokens")
    _add_actions(users.add_subparsers(dest="action", required=True))
    commands.add_parser("compile", help="compile what learns, ahead of the first question (askone serve does it too)")


def _with_store(commands: _Parsers, name: str, about: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=about)
    parser.add_argument("--store", metavar="URL", help=STORE)
    return parser


def _of_campaign(commands: _Parsers, name: str, about: str) -> argparse.ArgumentParser:
    parser = _with_store(commands, name, about)
    parser.add_argument("name", help="the campaign")
    return parser


def _add_new(new: argparse.ArgumentParser) -> None:
    tables = "CSV, .xlsx, JSON lines, Parquet, a saved dataset, a folder or zip file of images, a database, or TOML"
    new.add_argument("file", nargs="?", help=tables)
    _add_table(new)
    new.add_argument("--kind", help="what labels are: number, class or order")
    new.add_argument("--low", type=float, help="numbers: the lowest that is plausible")
    new.add_argument("--high", type=float, help="numbers: the highest that is plausible")
    new.add_argument("--label", metavar="WORD", help="numbers: what they are, such as rent")
    new.add_argument("--wording", help="the question, with {threshold}, {set}, or {first} and {second}")
    new.add_argument("--unit", help="numbers: their unit, such as EUR")
    new.add_argument("--decimals", type=int, help="numbers: decimals of the thresholds asked about")
    new.add_argument("--quantile", type=float, help="numbers: what is predicted; 0.5 is the median")
    new.add_argument("--goal", choices=("value", "revenue"), help="numbers: revenue asks at the price that earns most")
    new.add_argument("--classes", type=_names, metavar="A,B,...", help="class: their names")
    new.add_argument("--items", type=_names, metavar="A,B,...", help="order: what is put in order")
    new.add_argument("--key", metavar="COLUMN", help="the column that names rows; '': none, rows are numbered")
    new.add_argument("--gold", metavar="COLUMN", help="a column with the labels of some rows; '': none")
    new.add_argument(
        "--show", type=_names, metavar="A,B,...", help="columns that people see (default: all but a key such as id)"
    )
    new.add_argument(
        "--learn", type=_names, metavar="A,B,...", help="columns that the model sees (default: all but ids)"
    )
    hidden = "columns that neither people nor the model see"
    new.add_argument("--hide", type=_names, default=[], metavar="A,B,...", help=hidden)
    beside = "vectors of the rows, in their order: the model sees a column that is called as the file"
    embed = (
        "what makes vectors of a column: module:object, an entry point, or a file (.onnx, .pt2, .pt); may be repeated"
    )
    new.add_argument("--embed", action="append", default=[], metavar="COLUMN=EMBEDDER", help=embed)
    new.add_argument("--vectors", metavar="FILE.npy", help=beside)
    new.add_argument("--budget", type=int, help="answers in all")
    new.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="any setting: ask.overlap=3")
    new.add_argument("--title", help="what the campaign is called (default: the file's name)")
    new.add_argument("--name", help="its short name in addresses and commands (default: from the title)")
    new.add_argument("--out", metavar="TOML", help="write the settings here; with --store also make it")


def _add_table(parser: argparse.ArgumentParser) -> None:
    """Add how a table is read."""
    part = "of a spreadsheet (default: the first), of a dataset"
    parser.add_argument("--sheet", "--split", dest="part", action=_Part, metavar="NAME", help=part)
    query = "what to read from a database: sqlite:///file, postgresql://..."
    parser.add_argument("--query", metavar="SELECT", help=query)
    names = "whether the first line names the columns (default: yes, unless it looks like a row)"
    parser.add_argument("--header", action=argparse.BooleanOptionalAction, default=None, help=names)


@final
class _Part(argparse.Action):
    """Keep also by which of its names the option was given: errors speak of that one."""

    def __call__(
        self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None
    ) -> None:
        """Keep both."""
        namespace.part, namespace.part_by = values, option_string


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _add_managing(commands: _Parsers) -> None:
    """Add what a manager does."""
    for name, about in {
        "pause": "ask nobody in a campaign until it is resumed",
        "resume": "go on asking in a campaign",
        "people": "show who answered in a campaign, and how",
        "delete": "delete a campaign with its rows and its log",
        "invite": "make a link by which people join a campaign",
    }.items():
        _of_campaign(commands, name, about)
    label = _of_campaign(commands, "label", "answer a campaign's questions in this terminal")
    answer = _of_campaign(commands, "answer", "let a program answer a campaign's questions, as a person")
    for one, who in ((label, "your login"), (answer, "the program's")):
        one.add_argument("--as", dest="person", metavar="PERSON", help=f"the name of who answers (default: {who})")
    program = "a function of a question (askone.client.question.Posed) that returns True, False or None to skip"
    answer.add_argument("--with", dest="program", metavar="MODULE:FUNCTION", required=True, help=program)
    kind = "person: it stands for one, in a rehearsal (default: program)"
    answer.add_argument("--kind", choices=("person", "program"), default="program", help=kind)
    answer.add_argument("--most", type=int, help="answers to give at most (default: all there are)")
    decide = _of_campaign(commands, "decide", "list questions for a manager to decide, or decide one")
    decide.add_argument("number", nargs="?", type=int, help="of the question (default: list those to decide)")
    decide.add_argument(
        "answer", nargs="?", choices=("yes", "no", "people"), help="people: what they said counts again"
    )
    resume = "ask somebody again who was paused (people.pause_below)"
    commands.choices["people"].add_argument("--resume", metavar="PERSON", help=resume)
    commands.choices["delete"].add_argument("--yes", action="store_true", help="without asking")
    invite = commands.choices["invite"]
    invite.add_argument("--url", default="http://127.0.0.1:8000", help="where it is served (default: %(default)s)")
    invite.add_argument("--hours", type=float, default=168.0, help="how long it is valid (default: 168, a week)")
    invite.add_argument("--uses", type=int, default=100, help="how many people may join by it (default: 100)")
    invite.add_argument("--title", default="command line", help="what it is for")


def _add_serve(serve: argparse.ArgumentParser) -> None:
    serve.add_argument("--host", default="127.0.0.1", help="address to listen at (default: 127.0.0.1)")
    serve.add_argument("--port", type=int, default=8000, help="port to listen at (default: 8000)")
    serve.add_argument("--processes", type=int, default=1, help="server processes on one database (default: 1)")
    serve.add_argument("--public-url", default="", metavar="URL", help="how people reach it, behind a proxy")
    believed = "whose X-Forwarded-* to believe"
    serve.add_argument("--trust-proxy", action="append", default=[], metavar="IP", help=believed)
    serve.add_argument("--certificate", metavar="FILE", help="TLS certificate chain (PEM)")
    serve.add_argument("--certificate-key", metavar="FILE", help="its key (PEM)")
    serve.add_argument("--webhooks", action="store_true", help="send webhooks that managers set up, by https")
    local = "send them also to http://127.0.0.1:PORT, a program on this machine; implies --webhooks"
    serve.add_argument("--webhook-local", action="append", type=int, default=[], metavar="PORT", help=local)
    serve.add_argument("--embedder", action="append", default=[], metavar="[NAME=]EMBEDDER", help=_EMBEDDER)
    serve.add_argument("--access-log", action="store_true", help="write a JSON line for each request to standard error")


def _add_actions(actions: _Parsers) -> None:
    add = _with_store(actions, "add", "add a user; the password is asked for, or read from standard input")
    add.add_argument("name")
    roles = ("admin", "manager", "annotator", "program")
    add.add_argument("--role", choices=roles, default="annotator", help="a program has no password, but tokens")
    _with_store(actions, "list", "list all users")
    for action, words in {
        "password": "set a user's password, asked for or read from standard input; sessions and tokens end",
        "disable": "shut a user out, until they are enabled",
        "enable": "let a user in again who was disabled",
        "revoke": "end all sessions and tokens of a user",
        "remove": "forget a user; what was answered stays, under a pseudonym",
    }.items():
        _with_store(actions, action, words).add_argument("name")
    prune = _with_store(actions, "prune", "forget guests who cannot come back, and remove what has expired")
    prune.add_argument("--days", type=float, default=90.0, help="since when they did nothing (default: 90)")
    join = _with_store(actions, "join", "let a user into a campaign, without an invitation")
    join.add_argument("name")
    join.add_argument("campaign")
    join.add_argument("--role", choices=("annotator", "manager"), default="annotator")
    leave = _with_store(actions, "leave", "take a user out of a campaign; what was answered stays")
    leave.add_argument("name")
    leave.add_argument("campaign")
    token = _with_store(actions, "token", "make a token for a program, shown once")
    token.add_argument("name", help="whose it is")
    token.add_argument("--scopes", default="read", help="some of read,answer,manage (default: read)")
    token.add_argument("--days", type=float, default=90.0, help="how long it is valid (default: 90)")
    token.add_argument("--title", default="command line", help="what it is for")
