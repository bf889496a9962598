"""Everything that askone raises on purpose.

::

    AskoneError
    ├── InvalidArgument (also a ValueError)    an argument is wrong: its name, what is allowed, what came
    │   ├── WrongType (also a TypeError)       an argument is of a type that cannot be used
    │   ├── InvalidAnswer                      an answer that is not the kind its question takes
    │   └── IncompatibleParts                  two parts that cannot work together, and what would fit
    ├── UnknownQuestion (also a LookupError)   told a question that was never asked here
    │   └── NotYet (also an AttributeError)    a model has nothing of the kind, or not yet: see its message
    ├── AlreadyAsked                           this row had its one question
    ├── AlreadyAnswered                        this question had its answer
    ├── AlreadyStarted                         this model has answers that starting would forget
    ├── BudgetSpent                            no question is left
    ├── LeaseLost                              a question that somebody else has by now
    ├── CampaignClosed                         nothing more is recorded
    ├── NotPrivate                             it would tell more than a private campaign lets out
    ├── Diverged (also an ArithmeticError)     the steps were too long: the model's numbers mean nothing
    ├── InvalidFile (also a ValueError)        a saved model, a record or data that cannot be read
    ├── DownloadFailed (also an OSError)       data that could not be fetched, and how to fetch it by hand
    ├── RequestRefused                         a server did not grant a client's request
    ├── ServerUnavailable (also an OSError)    a server could not be reached
    ├── StoreUnavailable (also an OSError)     the database is away, or busy for too long: try again later
    ├── UnknownCampaign (also a LookupError)   no campaign has this name
    ├── AlreadyExists                          the name of a campaign or a user, or an id, is taken
    ├── DuplicateEvent                         the log has an event of this id
    └── MissingExtra (also an ImportError)     an optional library is not installed

Whoever raises one of these has not changed any state.

>>> raise_invalid = InvalidArgument("low", "a finite number", "nan")
>>> str(raise_invalid)
'low must be a finite number; got nan'
"""

from __future__ import annotations

from collections.abc import Iterable


class AskoneError(Exception):
    """The root of the tree above."""


class InvalidArgument(AskoneError, ValueError):
    """An argument has a value that is not allowed."""

    def __init__(self, argument: str, allowed: str, got: object) -> None:
        super().__init__(argument, allowed, got)
        self.argument, self.allowed, self.got = argument, allowed, got

    def __str__(self) -> str:
        return f"{self.argument} must be {self.allowed}; got {_short(self.got)}"


class WrongType(InvalidArgument, TypeError):
    """An argument is of a type that cannot be used."""


class InvalidAnswer(InvalidArgument):
    """An answer is not of the kind its question takes."""


class IncompatibleParts(InvalidArgument):
    """Two parts were put together that cannot work together."""


def incompatible(argument: str, got: object, reason: str, fits: Iterable[object]) -> IncompatibleParts:
    """Return the error for a part that does not fit, with the parts that would.

    >>> str(incompatible("loss", "quantile", "2 outputs", ["median", "squared"]))
    "loss must be one of: 'median', 'squared' (2 outputs); got quantile"
    """
    names = ", ".join(repr(one) for one in fits)
    return IncompatibleParts(argument, f"one of: {names or 'nothing'} ({reason})", got)


class UnknownQuestion(AskoneError, LookupError):
    """A question that was never asked here."""

    def __str__(self) -> str:
        return str(self.args[0])


class NotYet(UnknownQuestion, AttributeError):
    """A model has no such thing yet; an ``AttributeError`` for whoever looks through its attributes."""


class AlreadyAsked(AskoneError):
    """A row had its one question already."""


class AlreadyAnswered(AskoneError):
    """A question had its answer already."""


class AlreadyStarted(AskoneError):
    """A model has learnt from answers that starting anew would forget."""


class BudgetSpent(AskoneError):
    """The budget holds no further question."""


class LeaseLost(AskoneError):
    """A question is no longer this person's to answer."""


class CampaignClosed(AskoneError):
    """A campaign records nothing more."""


class NotPrivate(AskoneError):
    """What was asked for would tell more of somebody than a private campaign lets out."""


class Diverged(AskoneError, ArithmeticError):
    """The steps were too long, and the model's numbers mean nothing any more."""


class InvalidFile(AskoneError, ValueError):
    """A saved model, question, event or data file cannot be read."""


class DownloadFailed(AskoneError, OSError):
    """Data could not be fetched."""


class RequestRefused(AskoneError):
    """A server did not grant a request: its status, a code, and the argument at fault where there is one."""

    def __init__(self, status: int, code: str, message: str, argument: str | None = None) -> None:
        super().__init__(status, code, message, argument)
        self.status, self.code, self.message, self.argument = status, code, message, argument

    def __str__(self) -> str:
        return f"{self.message} (status {self.status}, {self.code})"


class ServerUnavailable(AskoneError, OSError):
    """A server could not be reached, or broke off."""


class StoreUnavailable(AskoneError, OSError):
    """The database is away, or others have kept it busy for too long."""


class UnknownCampaign(AskoneError, LookupError):
    """No campaign has this name; ``known`` are those that there are, where that is nobody's secret."""

    def __init__(self, name: str, known: tuple[str, ...] = ()) -> None:
        super().__init__(name)
        self.name, self.known = name, known

    def __str__(self) -> str:
        others = (
            f"; there are: {', '.join(self.known[:20])}{', …' if len(self.known) > 20 else ''}" if self.known else ""
        )
        return f"there is no campaign {_short(self.name, 100)!r}{others}"


class AlreadyExists(AskoneError):
    """A name or an id is taken."""


class DuplicateEvent(AskoneError):
    """The log has an event of this id already."""

    def __init__(self, event: str) -> None:
        super().__init__(event)
        self.event = event

    def __str__(self) -> str:
        return f"the log has an event {_short(self.event, 100)!r} already"


class MissingExtra(AskoneError, ImportError):
    """An optional library is missing."""


def _short(value: object, length: int = 300) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= length else text[: length - 1] + "…"
