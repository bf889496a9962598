"""askone decide: questions about which people disagree, or that surprise the model, for whoever has the database."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from askone.campaign.engine.commands import Rule
from askone.cli.console import counted, number, say, show
from askone.cli.files import known_store, whole_campaign
from askone.cli.manage import carry_out, names_of
from askone.errors import InvalidArgument
from askone.server.security.tokens import new_id

_MOST = 20  # questions that are listed
_ANSWERS = {"yes": True, "no": False, "people": None}


def run_decide(chosen: argparse.Namespace, console: Console) -> int:
    """List what is to be decided, or decide a question: it is a known answer from then on."""
    if (chosen.number is None) != (chosen.answer is None):
        raise InvalidArgument("answer", "yes, no or people, with the number of a question", chosen.answer)
    with known_store(chosen.store) as store:
        campaign = whole_campaign(store, chosen.name, console)
        if chosen.number is not None:
            carry_out(campaign, Rule("", new_id("m"), chosen.number, _ANSWERS[chosen.answer]))
            say(
                console,
                f"Question {chosen.number} counts as {'people said' if chosen.answer == 'people' else chosen.answer}.",
            )
            return 0
        found, names = campaign.answers("undecided", None, _MOST, 0), names_of(store)
    if not found["total"]:
        say(console, "Nothing is left to decide: people agree, and no answer surprises the model much.")
        return 0
    shown = Table("number", "row", "question", "said", "the model's chance")
    for one in found["answers"]:
        sentence, said = Text(one["sentence"]), Text(_said(one, names))
        shown.add_row(str(one["number"]), Text(one["key"]), sentence, said, number(one["chance"], share=True))
    show(console, shown)
    say(console, f"{counted(found['total'], 'question')} to decide: askone decide {chosen.name} NUMBER yes, or no.")
    return 0


def _said(one: dict[str, Any], names: dict[str, str]) -> str:
    return ", ".join(
        f"{names.get(given['who'], given['who'])}: {one['words'][not given['answer']]}" for given in one["given"]
    )
