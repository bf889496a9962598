"""One person, one model, some rows: what a widget shows and what its keys do.  No widget in here."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from askone._common.types import Array, Key, Record
from askone.encoding import frames
from askone.errors import AlreadyAsked, AlreadyStarted, BudgetSpent, InvalidArgument, InvalidFile
from askone.estimators.base import OneBitEstimator
from askone.estimators.inputs import named_texts
from askone.estimators.ranker import OneBitRanker
from askone.labels.wording import number_text
from askone.questions.base import Question, YesNo
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace
from askone.session import row_selection
from askone.session.log import Asked, read_fits, read_log, read_rows_hash, write_log

_PICTURES: Final = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp"}
_MOST: Final = 60  # columns that are shown
_NOWHERE: Final = np.zeros(1)  # the row of an order without rows


@final
class Labelling:
    """Questions about the rows of a pool, one after the other, and answers to them.

    ``show`` has what a person sees of each row (None: its columns): another table; or a text, a dictionary, a picture
    (of Pillow, its bytes, or the ``Path`` of its file) or an array of grey values for each.  ``store`` is a file of
    JSON lines that has every answer when it is given; where there is one, the model learns from it first and goes on.
    """

    def __init__(
        self, model: OneBitEstimator, rows: Any, keys: Any = None, show: Any = None, store: str | Path | None = None
    ) -> None:
        if not isinstance(model, OneBitEstimator):
            raise InvalidArgument("model", "an estimator, such as OneBitRegressor(...)", type(model).__name__)
        if model.keep_log is False:
            raise InvalidArgument("model", "one that keeps its log, keep_log=None or True", "keep_log=False")
        if rows is None and not isinstance(model, OneBitRanker):
            raise InvalidArgument("rows", "rows to ask about (an order alone needs none)", None)
        self.model = model
        self._show = _shower(rows) if show is None else _given(show, rows)
        if not model.__sklearn_is_fitted__():
            model.start(rows)
        self._encoded: Array | None = None if rows is None else model._validated(rows, reset=False)
        self._names = [] if self._encoded is None else row_selection.as_keys(keys, len(self._encoded))
        if keys is None and self._encoded is not None:
            row_selection.require_same(model.rows_, self._encoded)
        self._store = None if store is None else Path(store)
        self._resume()
        self._waiting = [found[2] for found in model.stream_.open_questions()]
        self._told: list[Question] = []
        self.question: Question | None = None
        self.why = ""
        self._go_on()

    # -- what a person does -----------------------------------------------------------------------

    def act(self, message: Mapping[str, Any]) -> None:
        """Do what a message of the page says: answer, skip or undo.  One that comes late does nothing."""
        do, asked = message.get("do"), self.question
        if do == "undo" and self._told:
            last = self._told.pop()
            self.model.retract(last)
            self._waiting = ([] if asked is None else [asked]) + self._waiting
            self.question = last
            self._keep()
        elif asked is not None and message.get("number") == asked.number and do in ("answer", "skip"):
            if do == "answer":
                self.model.tell(asked, message.get("answer"))
                self._told.append(asked)
            else:
                self.model.skip(asked)
            self._go_on()

    def _go_on(self) -> None:
        self.question, self.why = None, ""
        try:
            self.question = self._waiting.pop(0) if self._waiting else self._next()
        except AlreadyAsked:
            self.why = "Every row had its question."
        except BudgetSpent:
            self.why = "The budget is spent."
        self._keep()
        if self.question is not None and not isinstance(self.question, YesNo):
            raise InvalidArgument("model", "one that asks for yes or no", f"one that asks: {self.question}")

    def _next(self) -> Question:
        stream, rows = self.model.stream_, self._encoded
        if rows is None:
            return stream.ask(_NOWHERE)
        free = row_selection.free(stream, self._names, rows)
        place, choice = row_selection.chosen(stream, rows, free, row_selection.as_rule(self.model.select))
        return stream.ask(rows[place], self._names[place], choice)

    # -- what stays -------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Learn from the file, if there is one and the model has not yet."""
        if self._store is not None and (self._store.is_dir() or not self._store.parent.is_dir()):
            raise InvalidArgument("store", "a file in a directory that exists", self._store)
        if self._store is None or not self._store.exists():
            return
        log, known = read_log(self._store), self.model.log_
        if read_rows_hash(self._store) not in (None, self._digest()):
            raise InvalidFile(f"{self._store} has answers about other rows than these: name another file")
        if log != known[: len(log)]:
            if known:
                raise AlreadyStarted(f"{self._store} has other answers than this model: begin with a new model")
            rows: dict[Key, Array] = {event.row: _NOWHERE for event in log if isinstance(event, Asked)}
            if self._encoded is not None:
                rows = dict(zip(self._names, self._encoded, strict=True))
            self.model.learn_from(log, rows, own=True, fits=read_fits(self._store))

    def _keep(self) -> None:
        if self._store is not None:
            write_log(self._store, self.model.log_, self.model.fits_, self._digest())

    def _digest(self) -> str:
        rows = b"" if self._encoded is None else np.ascontiguousarray(self._encoded, dtype="<f8").tobytes()
        return hashlib.sha256(rows).hexdigest()

    # -- what a person sees -----------------------------------------------------------------------

    def view(self, error: str = "") -> Record:
        """Return the page's content as plain JSON values."""
        stream = self.model.stream_
        total = stream.budget.questions if stream.budget is not None else len(self._names) or None
        told: Record = {"answers": stream.answered, "total": total, "undo": bool(self._told), "error": error}
        if self.question is None:
            return {**told, "why": self.why, "question": None}
        return {**told, "why": "", "question": _posed(self.question), "row": self._seen(self.question)}

    def _seen(self, question: Question) -> Record:
        if self._encoded is None:
            return {}
        asked = next(found[3] for found in self.model.stream_.open_questions() if found[0] == question.number)
        return _content(self._show(self._names.index(asked)) if asked in self._names else "")


def _posed(question: Question) -> Record:
    words: tuple[Any, ...] = ("Yes", "No")
    if isinstance(question, HalfSpace):
        words = tuple(word[:1].upper() + word[1:] for word in question.wording.answers)
    if isinstance(question, Prefer):
        words = question.answers
    pair = isinstance(question, Prefer)
    posed = {"number": question.number, "sentence": str(question), "answers": [str(w) for w in words], "pair": pair}
    return {**posed, "amount": isinstance(question, HalfSpace)}


def _as_list(rows: Any) -> Any:
    return rows.toarray() if type(rows).__module__.startswith("scipy.sparse") else rows


def _shower(rows: Any) -> Callable[[int], Any]:
    """Return what shows a row by its columns."""
    if rows is None:
        return lambda _: ""
    rows = named_texts(rows)
    if frames.is_frame(rows):
        cells = frames.cells_of(rows)
        return lambda place: {name: cells[name][place] for name in list(cells)[:_MOST]}
    table = _as_list(rows)
    return lambda place: {f"column {k}": cell for k, cell in enumerate(np.asarray(table[place]).ravel()[:_MOST])}


def _given(show: Any, rows: Any) -> Callable[[int], Any]:
    """Return what shows a row as it was said."""
    seen = show if frames.is_frame(show) else list(show)
    count = 0 if rows is None else len(_as_list(rows))
    if len(seen) != count:
        raise InvalidArgument("show", f"{count or 'no'} of what people see, one per row", f"{len(seen)}")
    return _shower(seen) if frames.is_frame(seen) else seen.__getitem__


def _content(seen: Any) -> Record:
    """Return what a person sees of a row as plain JSON values."""
    as_png = getattr(seen, "_repr_png_", None)  # how notebooks show pictures, those of Pillow among them
    seen = seen.read_bytes() if isinstance(seen, Path) else seen if as_png is None else as_png()
    if isinstance(seen, bytes):
        kind = next((kind for head, kind in _PICTURES.items() if seen.startswith(head)), None)
        if kind is None:
            raise InvalidArgument("show", "pictures in PNG, JPEG, GIF or WebP", repr(seen[:8]))
        return {"image": f"data:image/{kind};base64,{base64.b64encode(seen).decode()}"}
    if isinstance(seen, np.ndarray):
        if seen.ndim != 2 or not seen.size:
            raise InvalidArgument("show", "arrays of grey values, height x width", f"shape {seen.shape}")
        low, high = float(seen.min()), float(seen.max())
        grey = np.round(255 * (seen - low) / max(high - low, 1e-12)).astype(int)
        return {"pixels": grey.tolist()}
    if isinstance(seen, Mapping):
        return {"fields": [[str(name), _text(cell)] for name, cell in seen.items()]}
    return {"text": str(seen)}


def _text(cell: Any) -> str:
    if isinstance(cell, float | np.floating):
        return "–" if np.isnan(cell) else number_text(float(f"{cell:.6g}"))
    return "–" if cell is None else str(cell)
