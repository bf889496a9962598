"""Code is named by who starts the server: nothing that a manager sends names any."""

from dataclasses import replace

import numpy as np
import pytest

from askone.campaign.create import create_campaign
from askone.campaign.engine.model_builder import pack, unpack
from askone.campaign.settings.settings import Numbers, Settings
from askone.campaign.tables.open import open_table
from askone.encoding import embedders
from askone.errors import InvalidArgument
from sites import code, ok

API = "/api/v1"
CSV = b"size,note\n1,red\n2,blue\n"
SETTINGS = {"title": "T", "labels": {"kind": "number", "low": 0, "high": 1}}


class Two(embedders.Embedder):
    digest = "two"

    def embed(self, cells):
        return np.ones((len(cells), 2))


@pytest.fixture
def sprung(tmp_path, monkeypatch):
    """Where a module leaves a trace that is never to be imported."""
    trace = tmp_path / "sprung"
    (tmp_path / "own_trap.py").write_text(f"open({str(trace)!r}, 'w').close()\nembedder = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(embedders, "_USED", {})
    monkeypatch.setattr(embedders, "_NAMED", {})
    return trace


def upload(manager):
    return ok(manager.post(f"{API}/uploads", content=CSV, headers={"X-File-Name": "a.csv"}), 201)["upload"]


def test_settings_name_no_embedder(sprung, alone):
    named = {"note": "own_trap:embedder"}
    manager = alone.token("manager")
    file = upload(manager)
    for more in ({"embed": named}, {"embedders": ["own_trap:embedder"]}):
        body = {"settings": SETTINGS, "upload": file, "name": "t"}
        assert code(manager.post(f"{API}/campaigns", json={**body, **more}), 422)
        assert code(manager.post(f"{API}/campaigns", json={**body, "settings": {**SETTINGS, **more}}), 422)
        for section in ("rows", "learner", "ask"):
            wrong = {**body, "settings": {**SETTINGS, section: more}}
            assert code(manager.post(f"{API}/campaigns", json=wrong), 422)
    assert not sprung.exists()


def test_a_campaign_names_no_embedder(tmp_path, sprung, monkeypatch, alone):
    """Whoever wrote what is in the store, such as a backup that came from elsewhere: it is not looked for."""
    embedders.use_embedder(Two(), "two")
    (tmp_path / "a.csv").write_bytes(CSV)
    table = open_table(tmp_path / "a.csv")
    create_campaign(alone.store, "t", Settings("T", Numbers(0, 1)), table, "manager", 1.0, embed={"note": "two"})
    alone.accounts.add_member("t", "manager", "manager")
    estimator, encoder = unpack(alone.store.learner("t"))
    number, terms, embedded = encoder.parts
    changed = replace(encoder, parts=(number, terms, replace(embedded, embedder="own_trap:embedder")))
    monkeypatch.setattr(alone.store, "learner", lambda _: pack(estimator, changed))
    manager = alone.token("manager")
    refused = manager.post(f"{API}/campaigns/t/rows", json={"upload": upload(manager)})
    assert code(refused, 422)
    assert "named at the start" in refused.text
    assert not sprung.exists()
    with pytest.raises(InvalidArgument, match="an Embedder"):
        embedders.name_embedder("own_trap:embedder")  # who starts it may
    assert sprung.exists()
