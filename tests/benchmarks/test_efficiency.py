"""The benchmark of questions needed: its arithmetic, the shape of what it writes, and that it goes on where it was."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from askone import Ranking

AT = [30, 100, 300, 1000, 3000, 10_000]


def power(constant: float, exponent: float) -> list[float]:
    return [constant * t**exponent for t in AT]


def test_where_a_power_law_comes_down_to_a_level_is_exact(part):
    reached = part("efficiency_page").reached
    for level in (0.3, 0.05, 0.021):
        assert reached(AT, power(2.0, -0.5), level) == pytest.approx((2.0 / level) ** 2, rel=1e-12)
    assert reached(AT, power(2.0, -0.5), 0.01) is None
    assert reached(AT, power(2.0, -0.5), 5.0) == AT[0]
    assert reached([10, 100], [1.0, 0.0], 0.5) == 100  # a zero has no logarithm: nothing is claimed in between


def test_the_ratio_of_two_power_laws_is_exact(part):
    fewer = part("efficiency_page").fewer
    found = fewer(AT, power(1.0, -0.5), power(4.0, -0.5))
    assert found["ratio"] == pytest.approx(16.0, rel=1e-12)
    assert (found["theirs"], found["ours"]) == (pytest.approx(10_000), pytest.approx(625))
    assert fewer(AT, power(0.01, -0.5), power(4.0, -0.5))["least"]
    behind = fewer(AT, power(4.0, -0.5), power(1.0, -0.5))
    assert behind["ours"] is None
    assert behind["ratio"] == pytest.approx(1 / 16, rel=1e-12)


def test_goals_are_judged_by_their_limits(part):
    tasks, curves = part("efficiency_tasks"), part("efficiency_page")
    known = {
        tasks.DEFAULT: {"at": [100], "mean": [0.5], "error": [0.03]},
        tasks.FULL: {"at": [100], "mean": [0.4], "error": [0.04]},
    }
    assert curves.judged(tasks.Goal(100, 0.5), known)["reached"]
    assert not curves.judged(tasks.Goal(100, 0.49), known)["reached"]
    assert curves.judged(tasks.Goal(100, times=1.3, of=tasks.FULL), known)["limit"] == pytest.approx(0.52)
    forgiving = curves.judged(tasks.Goal(100, of=tasks.FULL, errors=2.0), known)
    assert forgiving["limit"] == pytest.approx(0.4 + 2 * math.hypot(0.03, 0.04))


def test_in_each_column_the_best_setting_is_shown_and_what_ran_away_is_not(part):
    tasks, curves = part("efficiency_tasks"), part("efficiency_page")
    runs = [{"a": [1.0, 4.0], "b": [2.0, 2.0], "c": [None, None]}, {"a": [3.0, 4.0], "b": [2.0, 3.0], "c": [0.0, 0.0]}]
    task = tasks.TASKS[0].quick()
    results = [(0.7, {tasks.ALGORITHM: {k: v * (len(task.at) // 2) for k, v in one.items()}}) for one in runs]
    found = curves.best_curves(task, [(w, c) for w, c in results])[tasks.ALGORITHM]
    assert found["mean"][:2] == [2.0, 2.5]
    assert found["setting"][1] == "b, σ 0.7√d"
    assert found["error"][1] == pytest.approx(0.5)


def test_orders_of_greatest_agreement_are_exact(part):
    space, rng = Ranking(tuple("abcd")), np.random.default_rng(0)
    scores = rng.normal(size=(7, 6))
    every = space.embed(np.array(list(permutations("abcd")), dtype=object))
    found = space.embed(part("efficiency_tasks").best_orders(space, scores))
    assert np.allclose((found * scores).sum(axis=1), (scores @ every.T).max(axis=1))


def test_every_goal_is_a_point_of_its_curve(part):
    for task in part("efficiency_tasks").TASKS:
        assert {goal.questions for goal in task.goals} | {*task.columns, task.questions} <= set(task.at)
        assert 10 <= len(task.at) <= 16
        assert set(task.passive_widths) <= set(task.widths)
        assert set(task.quick().columns) <= set(task.quick().at)


def test_a_quick_run_writes_all_and_a_second_one_computes_nothing(part, tmp_path, capsys, monkeypatch):
    main, tasks = part("efficiency").main, part("efficiency_tasks")
    names = ["sine-clean", "classes-10"]
    short = {name: task.quick() for name, task in tasks.BY_NAME.items()}
    monkeypatch.setattr(tasks.Task, "quick", lambda self: shorter(short[self.name]))
    arguments = ["--quick", "--only", ",".join(names), "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    written = json.loads((tmp_path / "efficiency.json").read_text())
    assert list(written["tasks"]) == names
    assert {"date", "cpu", "askone"} <= set(written["machine"])
    for row in written["tasks"].values():
        assert set(row["curves"]) == {tasks.DEFAULT, tasks.ALGORITHM, tasks.PASSIVE, tasks.FULL}
        for curve in row["curves"].values():
            assert len(curve["at"]) == len(curve["mean"]) == len(curve["error"]) == len(curve["setting"])
        assert set(row["sources"]) == {"default", "baselines"}
        assert row["seeds"] == 2
    page = (tmp_path / "docs" / "efficiency.md").read_text()
    assert "| sine, no noise" in page
    picture = (tmp_path / "docs" / "figures" / "efficiency.svg").read_bytes()

    kept = sorted((tmp_path / "jobs").rglob("*.json"))
    assert len(kept) == (2 + 2 * 2) + (2 + 2)  # two seeds; two widths for the sine, one for classes
    kept[0].unlink()
    stamps = {path: path.stat().st_mtime_ns for path in kept[1:]}
    assert main(arguments) == 0
    assert kept[0].exists()
    assert {path: path.stat().st_mtime_ns for path in kept[1:]} == stamps
    assert (tmp_path / "docs" / "figures" / "efficiency.svg").read_bytes() == picture
    capsys.readouterr()


def shorter(task):
    return replace(task, questions=60, shown=(60,), components=20, gammas=(1.0,))


def test_a_data_set_that_is_not_there_is_named(part, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("ASKONE_DATA", str(tmp_path / "nowhere"))
    assert part("efficiency").main(["--quick", "--only", "weather", "--out", str(tmp_path)]) == 0
    assert "not measured: data set weather not found" in capsys.readouterr().out
    assert "not measured: data set weather" in (tmp_path / "docs" / "efficiency.md").read_text()


def test_speeds_are_ratios_of_one_run(part):
    speed = part("efficiency_speed")
    for step in (speed.filter_step(5, 2), speed.scores_step(5, 3)):
        step()
    assert [one.what.split(",")[0] for one in speed.learners_to_time(quick=True)] == [
        "bank of 7 filters",
        "bank of 7 filters",
        "set likelihood",
        "OneBitRegressor()",
        "OneBitClassifier()",
        "OneBitRanker()",
    ]


def test_questions_one_by_one_and_a_first_use_are_timed(part, capsys):
    speed = part("efficiency_speed")
    each = speed._each(speed.learners_to_time(quick=True)[-1], 20)
    assert len(each) == 20
    assert min(each) > 0.0
    for model in speed.FIRST_USES.values():
        exec(speed.FIRST_USE.format(model=model), {})
        assert min(json.loads(capsys.readouterr().out)) > 0.0


def test_the_page_has_them_where_results_have_them(part):
    page, learner = part("efficiency_page"), {"what": "a ranker", "median": 3.0, "p99": 4.0, "most": 5.0}
    assert page._slow_table({"learners": [learner]}) == ""
    first = {"what": "a ranker", "cold": 9.0, "cold clock": 10.0, "kept": 2.0, "kept clock": 2.5}
    found = page._slow_table({"learners": [learner], "first": [first]})
    assert "| a ranker       | 3.00   | 4.00" in found
    assert "| a ranker     | 9.00             | 10.0" in found
