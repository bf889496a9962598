"""A document walked through as a reader would: files are saved, commands are typed, Python runs, in order."""

from __future__ import annotations

import ast
import re
import runpy
import shlex
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```', re.MULTILINE | re.DOTALL)
SET_UP = ("askone serve", "pip install", "source ", "python3 -m venv", "docker ", "cd ", "cp ", "make ")
"""What a reader has done, or what runs until it is stopped."""


def run(block: str, names: dict) -> None:
    """Run Python, and compare each value with what a comment behind it promises: ``# -> value``."""
    lines = block.splitlines()
    for node in ast.parse(block).body:
        promised = re.search(r"# -> (.*)$", lines[node.end_lineno - 1])
        source = compile(ast.Module([node], []), "<document>", "exec")
        if promised and isinstance(node, ast.Expr):
            value = eval(compile(ast.Expression(node.value), "<document>", "eval"), names)
            assert str(value) == promised[1].strip(), ast.unparse(node)
        else:
            exec(source, names)


def commands(document: Path) -> Iterator[list[str]]:
    """The commands of a document, in words; lines that end in a backslash go on."""
    for language, _, block in BLOCK.findall(document.read_text("utf-8")):
        if language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                if line.strip() and not line.startswith("#"):
                    yield shlex.split(line.partition(" > ")[0], comments=True)


def walk(document: Path, main: Callable[[list[str]], int], serve: Callable[[], object] = lambda: None) -> None:
    """Do all that a document says, in the working directory; ``main`` is the command askone, ``serve`` its server."""
    names: dict = {}
    for language, title, block in BLOCK.findall(document.read_text("utf-8")):
        if title:
            Path(title).write_text(block, "utf-8")
        elif language == "python":
            run(block, names)
        elif language == "sh":
            for line in block.replace("\\\n", " ").splitlines():
                if line.startswith("askone serve"):
                    serve()
                elif line.strip() and not line.startswith(("#", *SET_UP)):
                    type_in(shlex.split(line, comments=True), main)


def type_in(words: list[str], main: Callable[[list[str]], int]) -> None:
    """Run a command as it is typed: askone, or a script that was saved."""
    if ">" in words:
        *words, _, target = words
        with Path(target).open("w") as file, redirect_stdout(file):
            type_in(words, main)
    elif words[0] == "askone":
        assert main(words[1:]) == 0, words
    elif words[0] == "python":
        runpy.run_path(words[1], run_name="__main__")
    else:
        raise AssertionError(f"a document says {words}: teach tests/helpers/walking.py what that is")
