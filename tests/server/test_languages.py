"""Everything that people who answer can read is in every catalogue, and catalogues say it with the same places."""

from __future__ import annotations

import errno
import io
import json
import re
from html.parser import HTMLParser
from string import Formatter
from typing import get_args, get_type_hints

import pytest
from babel import Locale
from babel.messages.pofile import read_po
from babel.plural import to_gettext

from askone.campaign.settings.settings import ClassNames, Items, Numbers, QuestionSettings, Settings
from askone.labels.wording import USUAL, Wording
from askone.questions.between import Between
from askone.questions.comparison import Prefer
from askone.questions.half_space import HalfSpace
from askone.questions.subset import Subset
from askone.server import _errors
from askone.server.languages import CATEGORIES, FOLDER, LANGUAGES, catalogue
from askone.server.routes.pages import PAGE, file_of
from sites import Site

SCRIPTS = [
    *sorted((PAGE / "answer").glob("*.js")),
    *(PAGE / name for name in ("account/join.js", "account/login.js")),
    *(PAGE / "shared" / f"{name}.js" for name in ("forms", "header", "language")),
]
"""The scripts that say something to people who answer."""
HTML = [PAGE / "answer" / "answer.html", PAGE / "shared" / "shell.html"]
STRING = r'"((?:[^"\\]|\\.)*)"'
CALL = re.compile(rf"\bt\({STRING}|\btn\({STRING},\s*{STRING}")
RAISED = [  # by what those who answer may do; elsewhere than in `_errors`
    ("campaign/engine/handlers.py", "this campaign is closed: nothing more is recorded"),
    ("campaign/engine/handlers.py", "there is nothing to take back"),
    ("server/security/authentication.py", "The header X-CSRF-Token is missing or wrong: load the page again."),
    ("server/routes/accounts.py", "The name or the password is wrong."),
    ("server/web/shared/api.js", "The server took too long to answer."),
    ("server/web/shared/api.js", "The server cannot be reached."),
]


class Texts(HTMLParser):
    """Texts and labels of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.found |= {value for name, value in attributes if name == "aria-label" and value}

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if data.strip() and not {"title", "noscript"} & set(self.open):
            self.found.add(" ".join(data.split()))


def called() -> tuple[set[str], dict[str, str]]:
    """The texts of the scripts; and those with a plural."""
    texts, plurals = set(), {}
    for path in SCRIPTS:
        for text, one, many in CALL.findall(path.read_text(encoding="utf-8")):
            if text:
                texts.add(text)
            else:
                plurals[one] = many
    return texts, plurals


def wanted() -> tuple[set[str], dict[str, str]]:
    """All that a catalogue must have."""
    texts, plurals = called()
    standing = [Texts(path.read_text(encoding="utf-8")).found for path in HTML]
    problems = [
        _errors.unauthorized(),
        _errors.forbidden(),
        _errors.not_found("campaign"),
        _errors.too_many_requests(1.0),
        _errors.to_api_error(RuntimeError()),
        _errors.to_api_error(OSError(errno.ENOSPC, "full")),
    ]
    said = {one.message for one in problems} | {words for *_, words in _errors.PROBLEMS if words}
    return texts.union(USUAL.values(), said, (text for _, text in RAISED), *standing), plurals


def read(language: str):
    return read_po(io.BytesIO((FOLDER / f"{language}.po").read_bytes()), language, abort_invalid=True)


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def test_settings_pages_and_catalogues_know_the_same_languages():
    choices = get_args(get_type_hints(QuestionSettings)["language"])
    script = (PAGE / "shared" / "language.js").read_text(encoding="utf-8")
    named = re.findall(r"(\w\w): \"", script[script.index("LANGUAGES = {") : script.index("};")])
    assert {*choices} == {"auto", *named} == {"auto", "en", *LANGUAGES}
    assert len(LANGUAGES) == 5


def test_every_place_of_errors_is_real():
    for path, text in RAISED:
        assert text in (PAGE.parents[1] / path).read_text(encoding="utf-8"), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_in_english(language):
    texts, plurals = wanted()
    found = {one.id if isinstance(one.id, str) else one.id[0]: one for one in read(language) if one.id}
    assert found.keys() - texts - plurals.keys() == set(), "nobody says this any more"
    assert (texts | plurals.keys()) - found.keys() == set(), "not translated"
    for text, many in plurals.items():
        assert found[text].id == (text, many)
    for text, message in found.items():
        assert not message.fuzzy, text
        forms = [message.string] if isinstance(message.string, str) else message.string
        assert all(form.strip() for form in forms), text
        for form in forms:  # none, one and two need no digit
            assert places(text) - {"n", "right"} <= places(form) <= places(text), form
        assert places(forms[-1]) == places(text), text


@pytest.mark.parametrize("language", LANGUAGES)
def test_plural_forms_are_those_of_cldr(language):
    rule, file = Locale(language).plural_form, read(language)
    assert f"nplurals={file.num_plurals}; plural={file.plural_expr};" == to_gettext(rule)
    assert [error for message in file for error in message.check(file)] == []
    [forms] = [one for name, one in json.loads(catalogue(language))["words"].items() if name == "{n} left"]
    assert list(forms) == [one for one in CATEGORIES if one in {*rule.tags, "other"}]
    assert len(forms) == {"ar": 6, "zh": 1, "de": 2}.get(language, 3)


NAMES = {
    "English", "Deutsch", "Français", "Español", "Each reader’s own", "ApiError", "noopener noreferrer",
    "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Ctrl+Z", "Yes,No", "cannot tell",
    "The server cannot be reached.", "the value", "Is it {set}?",
}  # fmt: skip
"""Names of languages, keys and others; what the log has; what is said in other words where it is shown."""


def test_no_text_of_the_scripts_is_forgotten():
    """Whatever looks like words and is no class; ``web/test_languages.py`` looks at the pages themselves."""
    left = {}
    for path in SCRIPTS:
        text = CALL.sub("", path.read_text(encoding="utf-8"))
        text = re.sub(r"^\s*(//|/?\*).*$|^import .*$|\bclass(Name)?(: | = )[^,}\n]*", "", text, flags=re.MULTILINE)
        literals = [re.sub(r"\$\{[^}]*\}", "", a or b).strip() for a, b in re.findall(rf"{STRING}|`([^`]*)`", text)]
        said = {one for one in literals if re.search(r"^[A-Z]\w*[a-z]|[a-z]{2,} [a-z]{2,}|[a-z][.!?…]$", one)} - NAMES
        if said:
            left[path.name] = sorted(said)
    assert left == {}


def test_a_campaign_may_have_a_language():
    settings = Settings.from_toml('title = "Preise"\n[labels]\nkind = "number"\n[question]\nlanguage = "de"')
    assert settings.question.language == "de"
    assert settings.changed({"question": {"language": "ar"}}).question.language == "ar"
    with pytest.raises(ValueError, match="question.language must be"):
        settings.changed({"question": {"language": "tlh"}})


def test_a_template_with_its_parts_is_the_sentence():
    words = Wording(("price",), "EUR")
    numbers, classes, items = Numbers(0, 99), ClassNames(("cat", "owl")), Items(("tea", "milk"))
    for labels, question, parts in (
        (numbers, HalfSpace((1.0,), 37.0, wording=words), {"amount": "the price", "threshold": "37 EUR"}),
        (numbers, HalfSpace((-1.0,), -37.0, wording=words), {"amount": "the price", "threshold": "37 EUR"}),
        (numbers, Between(7, 37, wording=words), {"amount": "the price", "low": "7", "high": "37 EUR"}),
        (classes, Subset(("cat",)), {"set": "cat"}),
        (classes, Subset(("cat", "owl")), {"set": "cat, owl"}),
        (classes, Subset(("cat",), wording="Is it the {set}?"), {"set": "cat"}),
        (classes, Subset(("cat",), title="feline"), {"title": "feline"}),
        (classes, Subset(("owl",), title="tufted ears"), {"title": "tufted ears"}),
        (classes, Subset(("owl",), title="Can it fly?"), {}),
        (items, Prefer("tea", "milk"), {"first": "tea", "second": "milk"}),
    ):
        template = labels.view(question).template
        assert template.format(**parts) == str(question)
        assert places(template) == parts.keys()
    assert classes.view(Subset(("owl",), wording="Is it a {set}?")).template == ""  # "an owl": the sentence itself


def test_catalogues_are_served(site: Site):
    client = site.client()
    for language in LANGUAGES:
        response = client.get(f"/static/languages/{language}.json")
        assert response.headers["content-type"] == "application/json"
        assert response.json()["direction"] == ("rtl" if language == "ar" else "ltr")
        tag = {"If-None-Match": response.headers["etag"]}
        assert client.get(f"/static/languages/{language}.json", headers=tag).status_code == 304
    for path in ("languages/de.po", "languages/en.json", "languages/", "languages/../shared/style.css"):
        assert file_of("", path) is None
