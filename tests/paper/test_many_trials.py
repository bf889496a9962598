"""All trials at once by torch: the numbers of one after the other, and what does not fit is refused."""

import json

import numpy as np
import pytest

from askone.errors import AskoneError
from askone.features.kernels import Laplacian
from askone.features.scaling import Scaler
from askone.labels.number import Real
from askone.learners.models.kernel_expansion import KernelExpansion
from askone.learners.sgd.sgd import SGDLearner
from askone.learners.step_rules import DoG, Tail
from askone.paper import command
from askone.paper._base import Job
from askone.paper._engine import execute
from askone.paper._many_trials import StreamTrial, as_device, errors
from askone.paper._synthetic import kernel_learner
from askone.paper.figures.fig2_left import sine_trials
from askone.paper.figures.fig2_right import class_trials

pytest.importorskip("torch", reason="many trials at once need torch")
SINE = {"questions": 300, "gamma": 1.0, "bandwidth": 0.2, "at": [1, 7, 64, 65, 200], "seeds": [0, 5, 9]}
CLASSES = {"questions": 200, "gap": 0.0, "gamma": 3.0, "at": [1, 40, 128], "seeds": [1, 2]}


@pytest.mark.parametrize("family", ["active", "passive"])
def test_numbers_are_those_of_one_trial_after_the_other(family):
    one_by_one = sine_trials(**SINE, family=family)
    assert np.shape(one_by_one) == (3, 6)
    np.testing.assert_allclose(sine_trials(**SINE, family=family, device="cpu"), one_by_one, rtol=1e-8)


@pytest.mark.parametrize("classes", [10, 30])
@pytest.mark.parametrize("strategy", ["active", "coordinates"])
def test_classes_are_those_of_one_trial_after_the_other(strategy, classes):
    one_by_one = class_trials(**CLASSES, classes=classes, strategy=strategy)
    assert min(map(min, one_by_one)) < max(map(max, one_by_one))
    at_once = class_trials(**CLASSES, classes=classes, strategy=strategy, device="cpu")
    np.testing.assert_allclose(at_once, one_by_one, rtol=1e-8, atol=1e-12)


def test_sets_learn_as_fast_as_one_trial_after_the_other():
    """Labels that no answer told apart yet are equally near but for rounding: which one is taken is a toss."""
    common = {**CLASSES, "classes": 10, "strategy": "infimum", "gamma": 15.0, "seeds": list(range(80))}
    one_by_one, at_once = (np.array(class_trials(**common, device=device)) for device in (None, "cpu"))
    np.testing.assert_allclose(at_once[:, 0], one_by_one[:, 0], atol=1e-12)  # of one answer there is no toss
    error = np.sqrt((one_by_one.var(axis=0) + at_once.var(axis=0)) / 80)
    assert (np.abs(one_by_one.mean(axis=0) - at_once.mean(axis=0)) <= 3.5 * error + 1e-12).all()
    assert (error[1:] < 0.02).all()  # so that the line above says something: risks fall from .5 to .1


def test_jobs_that_differ_in_their_trials_are_one_call(tmp_path):
    common = {**SINE, "family": "active"}
    jobs = [Job(sine_trials, {**common, "seeds": part}, "seeds") for part in ([0, 1], [2], [3, 4, 5])]
    other = Job(sine_trials, {**common, "seeds": [0]})
    expected = [job() for job in jobs]
    done = []
    found = execute([job.on("cpu") for job in jobs] + [other], tmp_path, done.append, workers=1)
    for got, want in zip(found, [*expected, other()], strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-8)
    assert sum(done) == 4
    seconds = [json.loads((tmp_path / f"{job.on('cpu').key}.json").read_text())["seconds"] for job in jobs]
    assert len(set(seconds)) == 1  # of one call, in equal parts
    assert not (tmp_path / f"{jobs[0].key}.json").exists()  # kept apart from those of a core


def test_a_command_says_where_it_was_computed(tmp_path):
    assert command.reproduce(["fig2-left"], True, tmp_path, workers=1, device="cpu") == command.COMPLETE
    record = json.loads((tmp_path / "numbers" / "fig2-left.json").read_text())
    assert record["provenance"]["device"] == "cpu"
    assert [claim["verdict"] for claim in record["claims"]] == ["holds", "holds"]


@pytest.mark.parametrize("device", ["tpu", "cuda:99", "", "the other one"])
def test_devices_that_are_not_there_are_refused(device, tmp_path):
    with pytest.raises(AskoneError, match="device"):
        as_device(device)
    with pytest.raises(AskoneError, match="device"):
        command.reproduce(["fig2-left"], True, tmp_path, device=device)


def test_other_learners_are_refused():
    x = np.linspace(0, 1, 4)[:, None]
    trials = [StreamTrial(0, x, x, x, lambda z: 0.0)]
    laplacian = KernelExpansion(Laplacian(0.2), Scaler.identity(1))
    for learner in (
        kernel_learner(1, "active", DoG(1.0), 0.2),
        kernel_learner(1, "active", 1.0, 0.2, average=Tail()),
        kernel_learner(1, "full", 1.0, 0.2),
        SGDLearner(Real(-1.0, 1.0), laplacian),
        "nobody",
    ):
        with pytest.raises(AskoneError, match=r"device|learner"):
            errors(learner, trials, [1], "cpu")
