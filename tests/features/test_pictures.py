"""What a model sees of a picture."""

import numpy as np
import pytest

from askone.errors import InvalidArgument
from askone.features.pictures import NAMES, SIDE, picture_features

GROUPS = {"edges 32": 128, "edges 16": 128, "light": 64, "colour ": 32, "colours": 27}


def seen(pixels):
    values = picture_features(np.round(pixels).astype(np.uint8))
    return {group: values[[name.startswith(group) for name in NAMES]] for group in GROUPS}


def grating(angle, period=8.0, low=(0, 0, 0), high=(255, 255, 255)):
    y, x = np.mgrid[:SIDE, :SIDE]
    wave = (1 + np.sin(2 * np.pi / period * (x * np.cos(angle) + y * np.sin(angle)))) / 2
    return np.array(low) + wave[..., None] * (np.array(high) - np.array(low))


def directions(pixels, side=32):
    return seen(pixels)[f"edges {side}"].reshape(8, -1).sum(axis=1)


def test_there_are_five_groups_of_finite_numbers():
    noise = np.random.default_rng(0).integers(0, 256, (SIDE, SIDE, 3))
    groups = seen(noise)
    assert {group: len(values) for group, values in groups.items()} == GROUPS
    assert len(NAMES) == len(set(NAMES)) == sum(GROUPS.values())
    assert picture_features(noise).dtype == np.float32
    assert all(np.isfinite(values).all() for values in groups.values())


@pytest.mark.parametrize("k", range(8))
@pytest.mark.parametrize("side", [32, 16])
def test_edges_are_told_by_their_direction(k, side):
    found = directions(grating(k * np.pi / 8), side)
    assert found[k] == found.max() > 10 * found[(k + 4) % 8]


def test_edges_are_those_of_any_colour_and_of_any_contrast():
    angle = 3 * np.pi / 8
    # Red and green of the same gray; and a picture that is nearly gray all over.
    alike = directions(grating(angle, low=(117, 40, 100), high=(0, 100, 100)))
    faint = directions(grating(angle, low=(90, 90, 90), high=(160, 160, 160)))
    strong = directions(grating(angle))
    assert alike == pytest.approx(strong, abs=0.25)
    assert faint == pytest.approx(strong, abs=0.25)


def test_edges_are_told_where_they_are():
    half = grating(0.0)
    half[:, 16:] = 128
    cells = seen(half)["edges 32"].reshape(8, 4, 4)[0]
    assert (cells[:, 0] > 10 * cells[:, 3]).all()


def test_a_flat_picture_has_colours_and_no_edges():
    flat = seen(np.full((SIDE, SIDE, 3), (0, 255, 0)))
    assert not flat["edges 32"].any()
    assert not flat["edges 16"].any()
    assert flat["light"] == pytest.approx(0.587)
    assert flat["colour "].reshape(2, 16) == pytest.approx(np.repeat([[-1.0], [0.5]], 16, axis=1))
    assert flat["colours"].reshape(3, 3, 3)[0, 2, 0] == 1
    gray = seen(np.full((SIDE, SIDE, 3), 77))
    assert gray["colour "] == pytest.approx(0, abs=1e-7)
    assert (gray["colours"] ** 2).sum() == pytest.approx(1)


def test_other_shapes_are_refused():
    with pytest.raises(InvalidArgument, match="pixels must be 32 x 32 x 3 colours; got shape"):
        picture_features(np.zeros((16, 16)))
