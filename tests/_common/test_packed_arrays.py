import json

import numpy as np
import pytest

from askone._common.packed_arrays import pack, packed_parts, unpack
from askone.errors import InvalidFile


def test_there_and_back():
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array(["x", "yz"]), "c": np.array(True)}
    found = unpack(pack(arrays))
    assert found.keys() == arrays.keys()
    assert all(np.array_equal(found[name], arrays[name]) and found[name].shape == arrays[name].shape for name in arrays)


def test_parts_are_what_is_packed_and_no_copies():
    arrays = {"a": np.arange(6.0), "b": np.zeros((0, 3)), "c": np.arange(6).reshape(2, 3).T, "d": np.array(["x", "yz"])}
    parts = list(packed_parts(arrays))
    assert b"".join(parts) == pack(arrays)
    assert np.shares_memory(np.frombuffer(parts[1]), arrays["a"])
    assert unpack(pack(arrays))["c"].tolist() == arrays["c"].tolist()


def test_very_many_arrays_of_nothing_are_refused():
    """They have no bytes, and took a quarter of a minute."""
    head = json.dumps([[f"array {n}", "<f8", [0]] for n in range(200_000)]).encode()
    with pytest.raises(InvalidFile, match="a head of"):
        unpack(head + b"\n")
