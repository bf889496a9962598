"""``askone.label``: answer a model's questions in a notebook.  The door to anywidget."""

from __future__ import annotations

from pathlib import Path
from typing import Any, final

from askone.errors import AskoneError, MissingExtra
from askone.estimators.base import OneBitEstimator
from askone.estimators.notebook.labelling import Labelling

try:
    import anywidget
    import traitlets
except ImportError as missing:
    raise MissingExtra("askone.label needs anywidget: pip install 'askone[notebook]'") from missing

_HERE = Path(__file__).parent


@final
class LabelWidget(anywidget.AnyWidget):  # type: ignore[misc]  # it has no types here
    """A page with one question; ``model`` has learnt from every answer that was given."""

    _esm = _HERE / "label.js"
    _css = _HERE / "label.css"
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, labelling: Labelling) -> None:
        super().__init__(view=labelling.view())
        self._labelling = labelling
        self.on_msg(self._act)

    @property
    def model(self) -> OneBitEstimator:
        """The model that asks and learns."""
        return self._labelling.model

    def _act(self, _: Any, message: Any, __: Any) -> None:
        error = ""
        try:
            self._labelling.act(message)
        except (AskoneError, OSError) as refused:
            error = str(refused)
        self.view = self._labelling.view(error)


def label(
    model: OneBitEstimator, rows: Any = None, *, keys: Any = None, show: Any = None, store: str | Path | None = None
) -> LabelWidget:
    """Show a model's questions about rows in a notebook, and teach it by the answers, with one key each.

    Works in Jupyter, VS Code and Colab.  ``keys`` name the rows (default: their places).  ``show`` has what people see
    of each row (default: its columns): a table, or one per row of texts, dictionaries, pictures (of Pillow, bytes, or
    the ``Path`` of a file) or arrays of grey values.  ``store`` names a file that has every answer when it is given:
    after the kernel has died, the same call with a new model goes on from there (``askone.read_log`` reads it, too).

    ::

        model = askone.OneBitClassifier(["cat", "owl"])
        askone.label(model, features, show=pictures, store="animals.jsonl")
    """
    return LabelWidget(Labelling(model, rows, keys, show, store))
