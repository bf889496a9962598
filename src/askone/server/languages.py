"""The words of the pages for people who answer, in other languages than English: from gettext catalogues to JSON.

A catalogue has the English words as they stand in the pages, so that English needs none.  Plural forms are CLDR's, in
its order (zero, one, two, few, many, other), and the page chooses among them by the same rules.

>>> import json
>>> arabic = json.loads(catalogue("ar"))
>>> arabic["direction"], sorted(arabic["words"]["{n} answered"])
('rtl', ['few', 'many', 'one', 'other', 'two', 'zero'])
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from askone._common.lazy_import import lazy_import

if TYPE_CHECKING:
    import babel
    from babel.messages import pofile
else:  # loaded with the first page in another language
    babel = lazy_import("babel")
    pofile = lazy_import("babel.messages.pofile")

FOLDER = Path(__file__).parent / "web" / "languages"
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.po")))
"""Languages that there is a catalogue of."""
CATEGORIES = ("zero", "one", "two", "few", "many", "other")


@cache
def catalogue(language: str) -> bytes:
    """Return the catalogue of a language as JSON: its direction, and its words by the English ones."""
    locale = babel.Locale(language)
    with (FOLDER / f"{language}.po").open("rb") as file:
        messages = [message for message in pofile.read_po(file, language) if message.id]
    forms = [one for one in CATEGORIES if one in {*locale.plural_form.tags, "other"}]
    words: dict[str, object] = {}
    for message in messages:
        if isinstance(message.id, str):
            words[message.id] = message.string
        else:  # the first is the key of all forms
            words[message.id[0]] = dict(zip(forms, message.string or (), strict=True))
    return json.dumps({"direction": locale.text_direction, "words": words}, ensure_ascii=False).encode()
