"""A campaign's model as a file, with what makes its inputs of a row's cells.

The file is one that ``askone.load`` reads; beside the model it holds the campaign's encoder.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path
from typing import BinaryIO

from askone.campaign.campaign import Campaign
from askone.encoding.encoder import Encoder
from askone.errors import InvalidFile
from askone.estimators.model_file import ENCODER, UNREADABLE

_MOST = 64 << 20


def write_model(campaign: Campaign, out: BinaryIO) -> None:
    """Write the model as it is now, and its encoder, into a binary file."""
    whole = io.BytesIO()
    campaign.model().save(whole)
    out.write(whole.getvalue())


def read_encoder(path: str | os.PathLike[str]) -> Encoder:
    """Return the encoder of such a file: ``model.predict(encoder.encode([{"size": 3.2, "colour": "red"}]))``."""
    with Path(path).open("rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                if archive.getinfo(ENCODER).file_size > _MOST:
                    raise InvalidFile(f"the encoder in {os.fspath(path)} is too large")
                record = json.loads(archive.read(ENCODER))
        except UNREADABLE as error:
            raise InvalidFile(f"{os.fspath(path)} is not the model of a campaign with a table: {error}") from error
    return Encoder.from_json(record)
