"""What a model sees of a picture: where its edges run, its colours, and where it is light.

Of a picture of 32 x 32 colours, 379 numbers:

- gradients, twice 128: at 32 x 32 and at 16 x 16 pixels, in each of 4 x 4 cells the strength of edges in 8 directions.
  The gradient g at a pixel is that of the colour in which it is largest; direction u_k gets the share
  <g, u_k>^8 / sum_j <g, u_j>^8 of |g|, cells overlap by half, and are normalised with their neighbours
  (histograms of oriented gradients: Dalal and Triggs, CVPR 2005);
- light, 64: gray values of 8 x 8 squares;
- colours by place, 32: red - green and (red + green) / 2 - blue of 4 x 4 squares;
- colours wherever they are, 27: square roots of a histogram of 3 x 3 x 3 colours, each pixel shared by its neighbours.

Columns are scaled alike by the models, so a group weighs what it has columns.  Only sums, products and square roots
are used, which are the same on every processor but for the order of sums.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from askone._common.types import Array
from askone.errors import InvalidArgument

SIDE: Final = 32
"""Pixels on each side of the picture that is looked at."""
_CELLS, _LIGHT, _PLACES, _LEVELS = 4, 8, 4, 3
_FAINT: Final = 0.005  # a gradient of a cell that is as good as none
_MOST: Final = 0.2  # of a normalised cell: one strong edge does not hide the others
_QUARTER: Final = (1.0, 0.9238795325112867, 0.7071067811865476, 0.3826834323650898)  # cos(k pi / 8)
_X: Final = np.array([*_QUARTER, 0.0, *(-c for c in _QUARTER[:0:-1])])  # the 8 directions
_Y: Final = np.array([0.0, *_QUARTER[:0:-1], *_QUARTER])
_LUMA: Final = np.array([0.299, 0.587, 0.114])
_OPPONENT: Final = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]])

NAMES: Final = (
    *(f"edges {side}, {place}" for side in (SIDE, SIDE // 2) for place in range(8 * _CELLS**2)),
    *(f"light {place}" for place in range(_LIGHT**2)),
    *(f"colour {place}" for place in range(2 * _PLACES**2)),
    *(f"colours {place}" for place in range(_LEVELS**3)),
)
"""Names of the numbers, in order."""


def picture_features(pixels: Array) -> Array:
    """Return the numbers of a picture of 32 x 32 x 3 colours from 0 to 255, float32.

    >>> red = np.full((32, 32, 3), (255, 0, 0), dtype=np.uint8)
    >>> values = picture_features(red)
    >>> values.shape, [NAMES[place] for place in np.flatnonzero(values[320:]) + 320][:3]
    ((379,), ['colour 0', 'colour 1', 'colour 2'])
    """
    if np.shape(pixels) != (SIDE, SIDE, 3):
        raise InvalidArgument("pixels", f"{SIDE} x {SIDE} x 3 colours", f"shape {np.shape(pixels)}")
    colours = np.ascontiguousarray(np.moveaxis(np.asarray(pixels), 2, 0)) / 255.0
    parts = (
        _edges(colours),
        _edges(_squares(colours, SIDE // 2)),
        np.tensordot(_LUMA, _squares(colours, _LIGHT), 1),
        np.tensordot(_OPPONENT, _squares(colours, _PLACES), 1),
        _histogram(colours),
    )
    return np.concatenate([part.ravel() for part in parts]).astype(np.float32)


def _squares(colours: Array, side: int) -> Array:
    """Return means of squares, ``side`` x ``side`` of them."""
    width = colours.shape[1] // side
    return np.asarray(colours.reshape(3, side, width, side, width).mean(axis=(2, 4)))


def _edges(colours: Array) -> Array:
    """Return the strength of edges, 8 directions x 4 x 4 cells."""
    side = colours.shape[1]
    before, after = np.maximum(np.arange(side) - 1, 0), np.minimum(np.arange(side) + 1, side - 1)
    across = (colours[:, :, after] - colours[:, :, before]) / 2
    down = (colours[:, after] - colours[:, before]) / 2
    squares = across * across + down * down
    largest = squares.argmax(axis=0)[None]
    x, y = np.take_along_axis(across, largest, 0), np.take_along_axis(down, largest, 0)
    along = _X[:, None, None] * x + _Y[:, None, None] * y
    strength = np.sqrt(squares.max(axis=0))
    for _ in range(3):  # to the power of 8
        along = along * along
        along = along / np.maximum(along.max(axis=0), 1e-300)
    shares = along / np.maximum(along.sum(axis=0), 1e-300)
    weights = _overlapping(side)
    cells = weights @ (shares * strength) @ weights.T
    # Each cell is in four blocks of 2 x 2 cells, and is seen against each of them.
    energy = np.pad((cells * cells).sum(axis=0), 1)
    blocks = np.sqrt(energy[:-1, :-1] + energy[1:, :-1] + energy[:-1, 1:] + energy[1:, 1:] + _FAINT**2)
    around = [blocks[i : i + _CELLS, j : j + _CELLS] for i in (0, 1) for j in (0, 1)]
    return np.asarray(np.mean([np.minimum(cells / block, _MOST) for block in around], axis=0))


@lru_cache(maxsize=2)
def _overlapping(side: int) -> Array:
    """Return the weights of pixels in each of 4 cells: 1 in the middle, 0 in the middle of the next."""
    width = side / _CELLS
    middles = (np.arange(_CELLS) + 0.5) * width
    weights = np.maximum(0.0, 1 - np.abs(np.arange(side) + 0.5 - middles[:, None]) / width)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _histogram(colours: Array) -> Array:
    middles = (np.arange(_LEVELS) + 0.5) / _LEVELS
    near = np.maximum(0.0, 1 - _LEVELS * np.abs(np.clip(colours, middles[0], middles[-1])[..., None] - middles))
    red, green, blue = near.reshape(3, -1, _LEVELS)
    pairs = (red[:, :, None] * green[:, None, :]).reshape(len(red), -1)
    return np.asarray(np.sqrt(pairs.T @ blue / len(red)))
