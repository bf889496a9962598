"""What is compiled ahead, and in a process beside."""

import multiprocessing
import subprocess
import sys

from askone._common.compiled import is_kept, jit, rounded
from askone.cli import compile as ahead
from askone.cli.main import main
from commands import ask
from waiting import until

# A campaign of each kind on a table that the demonstration does not have, answered by a coin.
ASKED = """
import csv, random
from numba.core import event

compiled = []

class Listener(event.Listener):
    def on_start(self, told):
        compiled.append(told.data["dispatcher"].py_func.__qualname__)

    def on_end(self, told):
        pass

event.register("numba:compile", Listener())
from askone.campaign.campaign import Campaign
from askone.campaign.create import create_campaign
from askone.campaign.settings.settings import ClassNames, Items, Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.cli.demo.annotators import play
from askone.store.open import open_store

class Coin:
    def answer(self, posed, key, chance):
        return chance.random() < 0.5

with open("rows.csv", "w", newline="") as file:
    rows, chance = csv.writer(file), random.Random(0)
    rows.writerow(["id", "size", "age", "colour"])
    rows.writerows([f"r{i}", chance.gauss(0, 1), chance.gauss(0, 1), chance.choice(["red", "blue"])] for i in range(90))
for labels in (Numbers(0, 100), ClassNames(("a", "b", "c")), Items(("tea", "coffee", "milk"))):
    table = None if isinstance(labels, Items) else open_table("rows.csv")
    with open_store("memory:") as store:
        create_campaign(store, "asked", Settings("Asked", labels), table, "", 0.0)
        list(play(Campaign.open(store, "asked"), Coin(), ("ann", "bob"), 12))
print(compiled)
"""


def test_after_it_no_question_waits_for_a_compiler(tmp_path):
    assert ask("compile").out.startswith("All is compiled, after ")
    done = subprocess.run([sys.executable, "-c", ASKED], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_what_is_kept_is_known(monkeypatch):
    rounded(0.5, 0)
    assert is_kept(rounded)

    @jit
    def never_called(x):
        return x

    assert not is_kept(never_called)
    called = []
    monkeypatch.setattr(ahead, "compile_ahead", lambda: called.append(True))
    monkeypatch.setattr("askone._common.compiled.is_kept", lambda function: False)
    assert not ahead.is_compiled()
    monkeypatch.setattr("askone._common.compiled.is_kept", lambda function: True)
    assert ahead.is_compiled()
    assert main(["compile"]) == 0
    assert called  # who asks for it is not put off with a guess


def test_a_server_that_ends_takes_its_compiler_along():
    with ahead.compiling():
        [beside] = multiprocessing.active_children()
        assert beside.name == "askone compile"
    until(lambda: not multiprocessing.active_children())
