"""What is loaded when: a command, the package and the server load what they need and no more.  Nothing is timed."""

import ast
import asyncio
import gc
import json
import pickle
import subprocess
import sys
import threading
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from sklearn.base import clone

import askone
from askone._common.lazy_import import import_now, lazy_import
from askone.campaign.create import create_campaign
from askone.campaign.engine.model_builder import unpack
from askone.campaign.engine.packed_model import beginning
from askone.campaign.tables.open import open_table
from askone.cli import main
from askone.estimators import model_file
from askone.labels.losses import Median
from askone.paper import strategies
from askone.questions.between import Between
from askone.questions.comparison import BestOf, PairSum, Prefer, PreferOrTie
from askone.questions.registry import FAMILIES
from askone.questions.slope import Slope
from askone.questions.subset import Subset
from askone.server.ops import warm_up
from askone.store.open import open_store
from sites import DRINKS, PRICES, Site, table
from stores import at_once
from waiting import HANGS

SOURCE = Path(askone.__file__).parent
LEARNING = ("numba", "scipy", "sklearn", "pandas", "torch")
WEB = ("starlette", "pydantic", "uvicorn", "httpx", "sqlalchemy")
FILES = ("pyarrow", "PIL", "matplotlib", "pooch", "joblib")


def loaded_by(code, *heavy):
    """Which of the libraries a fresh interpreter has after some code."""
    end = f"\nimport sys, json; print(json.dumps([name for name in {heavy!r} if name in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code + end], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


ALL = ("numpy", "rich", *LEARNING, *WEB, *FILES)
PARSE = "from askone.cli.main import main\ntry:\n    main({!r})\nexcept SystemExit:\n    pass"
READERS = ("cli.status", "cli.export", "campaign.output.export", "campaign.output.label_studio")


@pytest.mark.parametrize(
    ("code", "heavy"),
    [
        *((PARSE.format(arguments), ALL) for arguments in (["--version"], ["--help"], ["serve", "--help"], [])),
        ("import askone; askone.__version__, dir(askone), askone.AskoneError", ALL),
        (
            "from askone import HalfSpace, Classes, Real, Subset, read_log, question_from_json",
            (*LEARNING, *WEB, *FILES),
        ),
        ("import askone.cli.users", (*LEARNING, *FILES, "pydantic", "httpx")),
        ("import askone.server.runner", (*LEARNING, *FILES, "httpx")),
        ("import " + ", ".join(f"askone.{module}" for module in READERS), (*LEARNING, "httpx")),
    ],
    ids=["version", "help", "help-of-a-command", "usage", "package", "questions", "users", "server", "readers"],
)
def test_whoever_needs_no_library_loads_none(code, heavy):
    assert loaded_by(code, *heavy) == []


@pytest.mark.parametrize("settings", [DRINKS, PRICES], ids=["order", "numbers"])
def test_asking_and_learning_need_no_scikit_learn(settings, tmp_path):
    url = str(tmp_path / "askone.db")
    store = open_store(url)
    create_campaign(store, "c", settings, None if settings is DRINKS else open_table(table(tmp_path)), "", 0.0)
    store.close()
    code = f"""
from askone.campaign.campaign import Campaign
from askone.campaign.engine.commands import Answer, Next
from askone.server.ops import warm_up
from askone.store.open import open_store
campaign = Campaign.open(open_store({url!r}), "c")
[serving] = campaign.serve([Next("ann")], 1.0)
[serving] = campaign.serve([Answer("ann", serving.question.lease, True, "a-1")], 2.0)
assert campaign.status(3.0)["answers"] == 1
"""
    assert loaded_by(code, "sklearn", "pandas", *FILES) == []


def test_questions_of_every_family_are_read_by_whoever_loaded_none():
    samples = (
        Between(310.0, 390.0),
        Subset(("a", "b")),
        Prefer("a", "b"),
        PreferOrTie("a", "b"),
        BestOf(("a", "b", "c")),
        PairSum(("a", "b", "c"), (1.0, -1.0, 1.0), 0.0),
        Slope(Median(), at=(0.0,), weights=(1.0,), level=0.5, direction=(1.0,)),
    )
    assert {one.kind for one in samples} == set(FAMILIES) - {"half-space", "reveal"}
    read = f"import askone\nfor one in {[one.to_json() for one in samples]!r}:\n    askone.question_from_json(one)"
    assert loaded_by(read, "sklearn", "pandas") == []


# -- the package's names --------------------------------------------------------------------------------


def test_every_name_is_that_of_its_module():
    stub = ast.parse((SOURCE / "__init__.pyi").read_text())
    places = {alias.name: node.module for node in stub.body for alias in node.names}
    for name, place in places.items():
        module = import_module(f"askone.{place}" if place else f"askone.{name}")
        assert getattr(askone, name) is (getattr(module, name) if place else module), name
    assert set(askone.__all__) == set(places) - {"Client", "label"}


def test_names_are_listed_and_others_refused():
    assert {*askone.__all__, "Client"} <= set(dir(askone))
    with pytest.raises(AttributeError, match="No askone attribute nonsense"):
        askone.nonsense  # noqa: B018
    with pytest.raises(ImportError, match="nonsense"):
        exec("from askone import nonsense")


def test_star_import():
    code = "from askone import *; import askone; assert all(globals()[n] is getattr(askone, n) for n in askone.__all__)"
    assert loaded_by(code, "httpx", *FILES[1:3], "sqlalchemy") == []


def test_modules_are_found_as_ever():
    code = "import askone; assert askone.checks.check_learner and askone.theory.c1\n"
    code += (
        "from askone.session import row_selection\nimport askone.session.stream\nassert askone.session.stream.Stream"
    )
    assert loaded_by(code) == []


def test_estimators_are_pickled_and_cloned():
    model = askone.OneBitRegressor(0, 1, random_state=3).start([[0.0], [1.0]])
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is askone.OneBitRegressor
    assert str(again.ask([0.5])) == str(model.ask([0.5]))
    assert clone(model).get_params() == model.get_params()


# -- the door -------------------------------------------------------------------------------------------


def test_whatever_comes_later_is_imported_for_the_type_checker():
    """So the rule that imports go downward sees it; nothing else stands for a module."""
    found = 0
    for path in SOURCE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        calls = [
            node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_import"
        ]
        blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
        paired = sum(len(_same_names(block)) for block in blocks if block.orelse)
        assert len(calls) == paired, path
        found += paired
    assert found >= 20


def _same_names(block):
    """The modules of an else branch, each of which is in the other branch by the same name."""
    imported = {}
    for node in block.body:
        for alias in node.names:
            whole = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
            imported[alias.asname or alias.name] = whole
    names = {ast.unparse(node.targets[0]): ast.literal_eval(node.value.args[0]) for node in block.orelse}
    assert names.items() <= imported.items()
    return names


def test_a_module_is_loaded_once_by_many_threads(tmp_path, monkeypatch):
    (tmp_path / "slow_to_load.py").write_text("import time\ntime.sleep(0.05)\nvalue = object()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    slow = lazy_import("slow_to_load")
    found = at_once(lambda _: slow.value, 4)
    assert len(set(map(id, found))) == 1


def test_loading_leaves_the_collector_as_it_was():
    assert gc.isenabled()
    with pytest.raises(ModuleNotFoundError):
        import_now("askone.no_such_module")
    assert gc.isenabled()


def test_the_command_knows_the_data_sets():
    assert main.SOURCES == strategies.SOURCES


# -- the server -----------------------------------------------------------------------------------------


def test_a_packed_learner_is_the_estimator_s(tmp_path, store):
    create_campaign(store, "prices", PRICES, open_table(table(tmp_path)), "", 0.0)
    packed = store.learner("prices")
    stream, begun = unpack(packed).estimator.stream_, beginning(packed)
    ours, theirs = {}, {}
    assert model_file.encode(begun.learner, ours) == model_file.encode(stream.learner, theirs)
    assert all((ours[name] == theirs[name]).all() for name in theirs)
    assert begun.seed == stream.seed


def test_a_server_is_ready_when_what_asks_is_loaded(tmp_path):
    with Site(tmp_path) as site:
        site.run(site.services.ready.wait())
        site.run(_set(site.services.ready, False))
        got = []
        waiting = threading.Thread(target=lambda: got.append(site.client().get("/health/ready").status_code))
        waiting.start()
        assert site.client().get("/health/live").status_code == 200
        assert not got
        site.run(_set(site.services.ready, True))
        waiting.join(HANGS)
        assert got == [200]


async def _set(event: asyncio.Event, value: bool) -> None:
    event.set() if value else event.clear()


def test_a_server_that_starts_with_campaigns_gets_ready(tmp_path):
    store = open_store(str(tmp_path / "askone.db"))
    create_campaign(store, "early", DRINKS, None, "", time.time())
    store.close()
    with Site(tmp_path) as site:
        assert site.client().get("/health/ready").json() == {"status": "ready"}
        assert site.services.ready.is_set()


def test_what_a_server_loads_in_the_end_is_there():
    assert "askone.campaign.output.export" in warm_up._REST
    assert all(find_spec(module) for module in warm_up._REST)
