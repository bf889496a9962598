"""All families of questions by name, and how one is read back from JSON."""

from __future__ import annotations

import json

from askone._common.types import Record
from askone.errors import InvalidFile
from askone.questions.base import FORMAT, Question
from askone.questions.between import Between
from askone.questions.comparison import BestOf, PairSum, Prefer, PreferOrTie
from askone.questions.half_space import HalfSpace
from askone.questions.reveal import Reveal
from askone.questions.slope import Slope
from askone.questions.subset import Subset

FAMILIES: dict[str, type[Question]] = {
    family.kind: family for family in (HalfSpace, Between, Reveal, Subset, Prefer, PreferOrTie, BestOf, PairSum, Slope)
}
"""Question classes by the name that their records carry; a family of one's own is entered here."""


def question_from_json(record: Record | str) -> Question:
    """Read a question back from its JSON record (a dict, or its text).

    >>> question_from_json('{"kind": "riddle"}')
    Traceback (most recent call last):
    askone.errors.InvalidFile: a question of kind 'riddle', format None cannot be read; ...
    """
    try:
        fields = json.loads(record) if isinstance(record, str) else record
    except ValueError as error:
        raise InvalidFile(f"a question must be JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InvalidFile(f"a question must be a JSON object; got {type(fields).__name__}")
    kind = str(fields.get("kind"))
    family = FAMILIES.get(kind)
    if family is None or fields.get("format") != FORMAT:
        known = f"known: {', '.join(FAMILIES)}, format {FORMAT}"
        raise InvalidFile(
            f"a question of kind {fields.get('kind')!r}, format {fields.get('format')} cannot be read; {known}"
        )
    try:
        return family.from_json(fields)
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidFile(f"a question of kind {fields['kind']!r} lacks or misstates a field: {error!r}") from error
