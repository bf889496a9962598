"""Embedders of one's own: a real one of each kind, kept by name and content, refused when it has changed."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from PIL import Image
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

import askone
from askone.campaign.create import add_rows, create_campaign
from askone.campaign.engine.model_builder import unpack
from askone.campaign.settings.settings import ClassNames, Numbers, RowSettings, Settings
from askone.campaign.tables.open import open_table
from askone.campaign.tables.safe_images import safe_image
from askone.encoding import embedders
from askone.encoding.columns import Column, vector_column
from askone.encoding.embedders import Embedder, fit_embedded, name_embedder, use_embedder
from askone.encoding.encoder import Encoder, fit_encoder
from askone.errors import InvalidArgument
from commands import ask

TEXTS = ["red wine from France", "red wine from Spain", "white bread", "white rice", "brown bread and wine", "rice"]
MODULE = """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    def lower(text):
        return text.lower()

    pipeline = make_pipeline(TfidfVectorizer(preprocessor=lower), TruncatedSVD(3, random_state=0))
    pipeline.fit({texts})
"""
PRICES = Settings("Prices", Numbers(0, 9))


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """No embedder of a test is known to the next one."""
    monkeypatch.setattr(embedders, "_USED", {})
    monkeypatch.setattr(embedders, "_NAMED", {})
    loaded = set(sys.modules)
    yield
    for name in [name for name in sys.modules if name.startswith("own_") and name not in loaded]:
        del sys.modules[name]


@pytest.fixture
def own(tmp_path, monkeypatch):
    """Return a function that writes a module into the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(name, text):
        sys.modules.pop(name, None)
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        return name

    return write


def forget():
    embedders._USED.clear()
    embedders._NAMED.clear()


def table(tmp_path, name, texts):
    (tmp_path / name).write_text("size,note\n" + "".join(f"{n},{text}\n" for n, text in enumerate(texts)))
    return open_table(tmp_path / name)


# -- scikit-learn -------------------------------------------------------------------------------------


def test_a_fitted_pipeline_embeds_a_column_of_texts(store, tmp_path, own):
    own("own_words", MODULE.format(texts=TEXTS))
    assert name_embedder("own_words:pipeline") == "own_words:pipeline"
    first = table(tmp_path, "a.csv", TEXTS)
    create_campaign(store, "a", PRICES, first, "", 0.0, embed={"note": "own_words:pipeline"})
    pipeline = sys.modules["own_words"].pipeline
    rows = np.array([row.features[1:4] for row in store.rows("a", range(6))])
    assert np.allclose(rows, pipeline.transform(TEXTS), atol=1e-6)
    part = unpack(store.learner("a")).encoder.parts[2]
    assert (part.embedder, part.width, part.of, len(part.digest)) == ("own_words:pipeline", 3, "text", 64)
    assert Encoder.from_json(unpack(store.learner("a")).encoder.to_json()).parts[2] == part

    more = table(tmp_path, "b.csv", ["Spain"])
    assert add_rows(store, "a", more, 1.0, "") == 1
    forget()
    with pytest.raises(InvalidArgument, match="'own_words:pipeline', by which 'note' is seen, named at the start"):
        add_rows(store, "a", more, 1.0, "")
    own("own_words", MODULE.format(texts=TEXTS[:5]))
    name_embedder("own_words:pipeline")
    with pytest.raises(InvalidArgument, match="as it was when the campaign began .* got a changed one"):
        add_rows(store, "a", more, 1.0, "")
    own("own_other", MODULE.format(texts=TEXTS))
    name_embedder("own_words:pipeline=own_other:pipeline")
    with pytest.raises(InvalidArgument, match="a changed one"):  # its function is of another module
        add_rows(store, "a", more, 1.0, "")
    assert store.campaign("a").rows == 7


def test_the_content_of_a_pipeline_is_the_same_in_every_process(own):
    own("own_words", MODULE.format(texts=TEXTS))
    name_embedder("words=own_words:pipeline")
    code = (
        "from askone.encoding.embedders import *; name_embedder('words=own_words:pipeline'); "
        "print(fit_embedded('a', 'text', 'words', ['b']).digest)"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert said.stdout.strip() == embedders._USED["words"].digest


@pytest.mark.parametrize(
    "change",
    [
        ("text.lower()", "str(text.lower())"),  # the source of one's own function
        ("random_state=0", "random_state=1"),
        ("preprocessor=lower", "preprocessor=lower, sublinear_tf=True"),
    ],
)
def test_whatever_is_changed_is_another_content(own, change):
    own("own_words", MODULE.format(texts=TEXTS))
    before = use_embedder(embedders._object("own_words:pipeline"), "a").digest
    assert use_embedder(embedders._object("own_words:pipeline"), "b").digest == before
    own("own_words", MODULE.format(texts=TEXTS).replace(*change))
    assert use_embedder(embedders._object("own_words:pipeline"), "a").digest != before


def test_using_a_transformer_leaves_its_content():
    fitted = make_pipeline(TfidfVectorizer(stop_words=["and"]), TruncatedSVD(2, random_state=0)).fit(TEXTS)
    before = use_embedder(fitted, "a").digest
    fitted.transform(TEXTS)
    assert use_embedder(fitted, "a").digest == before


def test_a_transformer_is_fitted_or_needs_no_fit():
    with pytest.raises(InvalidArgument, match="a fitted transformer .* got TfidfVectorizer, which is not fitted"):
        use_embedder(TfidfVectorizer(), "a")
    assert use_embedder(HashingVectorizer(n_features=8), "a").embed(["b"]).shape == (1, 8)
    use_embedder(HashingVectorizer(), "a")
    with pytest.raises(InvalidArgument, match="one vector of 1 to 8192 numbers for each cell; got .*1048576"):
        fit_embedded("note", "text", "a", TEXTS)


def test_numbers_and_vectors_are_embedded_too():
    X = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    pca = PCA(2).fit(X)
    use_embedder(pca, "pca")
    encoder = fit_encoder([vector_column("v", 5)], [{"v": x} for x in X], embed={"v": "pca"})
    assert np.allclose(encoder.encode([{"v": X[3]}, {"v": None}]), pca.transform([X[3], np.zeros(5)]), atol=1e-5)
    use_embedder(PCA(1).fit(X[:, :1]), "one")
    assert fit_encoder([Column("n", "number")], [{"n": 1}], embed={"n": "one"}).encode([{"n": 2}]).shape == (1, 1)


# -- one's own class, and what is none ----------------------------------------------------------------


class Lengths(Embedder):
    digest = "lengths 1"
    side = 8

    def embed(self, cells):
        return np.array([[len(cell), np.mean(cell) if self.wide else 1.0] for cell in cells])

    wide = False


def test_an_embedder_of_ones_own():
    use_embedder(Lengths, "lengths")
    part = fit_embedded("note", "text", "lengths", [None])
    assert part.encode(["abc", None]).tolist() == [[3, 1], [0, 1]]
    use_embedder(type("Wrong", (Lengths,), {"embed": lambda self, cells: np.full((len(cells), 3), 1.0)})(), "lengths")
    with pytest.raises(InvalidArgument, match="note must be 1 vectors of 2 finite numbers by 'lengths'"):
        part.encode(["a"])


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("own_missing:a", "module:object that can be imported; got .*No module named"),
        ("own_words:nothing", "module:object that can be imported; got .*has no attribute 'nothing'"),
        ("own_words:lower", "an Embedder, a fitted transformer .* got .*function"),
        ("nobody", "module:object, a file .* or an entry point of askone.embedders"),
        ("gone.onnx", "a file that is there; got gone.onnx"),
    ],
)
def test_what_is_no_embedder_is_refused(own, where, reason):
    own("own_words", MODULE.format(texts=TEXTS))
    with pytest.raises(InvalidArgument, match=reason):
        name_embedder(where)


def test_an_encoder_loads_nothing_that_was_not_named(own, tmp_path):
    """Whatever a campaign, a backup or a model says: only who starts the process names code."""
    own("own_trap", f"open({str(tmp_path / 'sprung')!r}, 'w').close()\nembedder = 1")
    part = {"of": "text", "embedder": "own_trap:embedder", "digest": "0", "width": 2, "size": 1}
    record = {"format": 2, "pairs": 0, "parts": [{"kind": "embedded", "column": "note", **part}]}
    encoder = Encoder.from_json(record)
    with pytest.raises(InvalidArgument, match="named at the start"):
        encoder.encode([{"note": "a"}])
    assert not (tmp_path / "sprung").exists()


def test_an_entry_point_is_an_embedder(tmp_path, monkeypatch, own):
    own("own_package", MODULE.format(texts=TEXTS))
    info = tmp_path / "own_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[askone.embedders]\nwords = own_package:pipeline\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert name_embedder("words") == "words"
    assert fit_embedded("note", "text", "words", TEXTS).encode(TEXTS[:2]).shape == (2, 3)
    with pytest.raises(InvalidArgument, match="installed: .*words"):
        name_embedder("others")


# -- the command --------------------------------------------------------------------------------------


def test_the_command_names_embedders_and_vectors(own, tmp_path):
    own("own_words", MODULE.format(texts=TEXTS))
    table(tmp_path, "a.csv", TEXTS)
    np.save(tmp_path / "deep.npy", np.eye(6))
    new = ["new", "a.csv", "--kind", "number", "--low", 0, "--high", 9, "--store", "a.db", "--embed"]
    assert "deep (vector)" in ask(*new, "note=own_words:pipeline", "--vectors", "deep.npy").out
    unknown = ask(*new, "notes=own_words:pipeline", "--name", "b", status=2).err
    assert "embed must be columns that are learnt" in unknown
    assert "COLUMN=EMBEDDER" in ask(*new, "own_words", "--name", "b", status=2).err
    ask("export", "a", "--what", "model", "--out", "a.askone", "--store", "a.db")
    forget()
    scored = ["predict", "a.askone", "a.csv", "--vectors", "deep.npy", "--out", "scored.csv"]
    assert "'own_words:pipeline', by which 'note' is seen, named at the start" in ask(*scored, status=2).err
    ask(*scored, "--embedder", "own_words:pipeline")
    assert '\n0,"red wine from France",4.5,' in (tmp_path / "scored.csv").read_text()
    rows = [{"size": 1, "note": text, "deep": np.zeros(6)} for text in TEXTS]
    assert askone.load("a.askone").predict(rows).shape == (6,)


# -- torch and ONNX -----------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "pictures"
    place.mkdir()
    for i in range(4):
        pixels = np.random.default_rng(i).integers(0, 256, (20, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(place / f"{i}.png")
    return place


def net(seed=0):
    torch = pytest.importorskip("torch")
    torch.manual_seed(seed)
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 2, 3), torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten())
    module.side = 12
    return module


def small(folder, side):
    pictures = [safe_image((folder / f"{i}.png").read_bytes()).small(side) for i in range(4)]
    return np.stack(pictures).transpose(0, 3, 1, 2).astype(np.float32) / 255


def test_a_module_of_torch_embeds_pictures(store, folder):
    torch = pytest.importorskip("torch")
    use_embedder(net(), "net")
    settings = Settings("Pictures", ClassNames(("cat", "dog")))
    create_campaign(store, "a", settings, open_table(folder), "", 0.0, embed={"image": "net"})
    rows = np.array([row.features for row in store.rows("a", range(4))])
    with torch.no_grad():
        expected = net()(torch.from_numpy(small(folder, 12))).numpy()
    assert np.allclose(rows, expected, atol=1e-6)
    assert store.media("a", "2.png") is not None
    same, other = use_embedder(net(), "net").digest, use_embedder(net(1), "net").digest
    assert same == unpack(store.learner("a")).encoder.parts[0].digest != other
    (folder / "0.png").rename(folder / "9.png")
    with pytest.raises(InvalidArgument, match="a changed one"):
        add_rows(store, "a", open_table(folder), 1.0, "")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("suffix", ["pt2", "pt"])
def test_a_file_of_torch_embeds_vectors(tmp_path, suffix):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    module, X = torch.nn.Linear(5, 3).eval(), torch.randn(7, 5)
    path = tmp_path / f"net.{suffix}"
    if suffix == "pt2":
        torch.export.save(torch.export.export(module, (X,), dynamic_shapes=({0: torch.export.Dim("n")},)), path)
    else:
        torch.jit.script(module).save(path)
    assert name_embedder(f"deep={path}") == "deep"
    cells = list(X.numpy())
    part = fit_embedded("v", "vector", "deep", cells)
    assert np.allclose(part.encode(cells), module(X).detach().numpy(), atol=1e-6)
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidArgument, match="a module written by torch"):
        name_embedder(f"other={path}")


def onnx_file(path, shape, out):
    """Write a network: the mean over the last axes of pictures, or a product with a matrix."""
    onnx = pytest.importorskip("onnx")
    helper, kinds = onnx.helper, onnx.TensorProto
    if len(shape) == 4:
        nodes, kept = [helper.make_node("GlobalAveragePool", ["x"], ["y"])], []
    else:
        matrix = np.arange(shape[1] * out, dtype=np.float32).reshape(shape[1], out)
        nodes, kept = [helper.make_node("MatMul", ["x", "w"], ["y"])], [onnx.numpy_helper.from_array(matrix, "w")]
    x = helper.make_tensor_value_info("x", kinds.FLOAT, shape)
    y = helper.make_tensor_value_info("y", kinds.FLOAT, ["n", out, 1, 1] if len(shape) == 4 else ["n", out])
    graph = helper.make_graph(nodes, "g", [x], [y], kept)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path


def test_an_onnx_file_embeds_vectors_and_pictures(tmp_path, folder, store):
    pytest.importorskip("onnxruntime")
    path = onnx_file(tmp_path / "product.onnx", ["n", 5], 3)
    assert name_embedder(str(path)) == "product.onnx"
    part = fit_embedded("v", "vector", "product.onnx", [np.ones(5)])
    assert part.encode([np.ones(5), None]).tolist() == [[30, 35, 40], [0, 0, 0]]
    name_embedder(f"mean={onnx_file(tmp_path / 'mean.onnx', ['n', 3, 10, 10], 3)}")
    rows = RowSettings(key="image")
    settings = Settings("Pictures", ClassNames(("cat", "dog")), rows)
    create_campaign(store, "a", settings, open_table(folder), "", 0.0, embed={"image": "mean"})
    found = np.array([row.features for row in store.rows("a", range(4))])
    assert np.allclose(found, small(folder, 10).mean(axis=(2, 3)), atol=1e-5)
    path.write_bytes(b"nothing")
    with pytest.raises(InvalidArgument, match="an ONNX file; got"):
        name_embedder(f"other={path}")
