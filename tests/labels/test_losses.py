import numpy as np
import pytest

from askone.checks import check_loss_gradient
from askone.errors import InvalidArgument
from askone.labels.losses import LOSSES, Huber, LogCosh, Median, Quantile


@pytest.mark.parametrize("outputs", [1, 2, 5])
@pytest.mark.parametrize("name", LOSSES)
def test_registry(name, outputs):
    check_loss_gradient(LOSSES[name](), outputs)


@pytest.mark.parametrize("loss", [Quantile(0.1), Quantile(0.9), Huber(0.5), LogCosh(0.01), LogCosh(2.0)])
def test_parameters(loss):
    check_loss_gradient(loss)


def test_a_wrong_gradient_is_found():
    class Wrong(Median.__mro__[1]):
        name, code = "wrong", 0

        def value(self, z, y):
            return np.abs(z - y).sum(axis=1)

        def gradient(self, z, y):
            return (z - y) / (1 + (z - y) ** 2)

        def lipschitz(self, m):
            return 1.0

    with pytest.raises(AssertionError, match="finite differences"):
        check_loss_gradient(Wrong())


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: Quantile(0.0), "tau"),
        (lambda: Quantile(1.0), "tau"),
        (lambda: Huber(0), "delta"),
        (lambda: LogCosh(-1), "scale"),
    ],
)
def test_bad_parameters(make, argument):
    with pytest.raises(InvalidArgument) as caught:
        make()
    assert caught.value.argument == argument


def test_the_median_has_a_gradient_everywhere():
    assert Median().gradient(np.zeros((1, 3)), np.zeros((1, 3))).tolist() == [[0, 0, 0]]
