"""What goes wrong: one table from exceptions to the status and the words of a response."""

from __future__ import annotations

import errno
from typing import final

from starlette.exceptions import HTTPException

from askone import errors


@final
class ApiError(errors.AskoneError):
    """A request that is not granted, with the status and the words of its response."""

    def __init__(
        self, status: int, code: str, message: str, argument: str | None = None, wait: float | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.argument, self.wait = status, code, message, argument, wait


def unauthorized() -> ApiError:
    """Nobody is signed in, or the credentials are wrong: the same words for all of it."""
    return ApiError(401, "unauthorized", "Sign in, or send a token that is valid.")


def forbidden(message: str = "You may not do this.") -> ApiError:
    """Somebody is signed in who may not."""
    return ApiError(403, "forbidden", message)


def not_found(what: str = "page") -> ApiError:
    """There is no such thing, or it is not for you: the same words for both."""
    return ApiError(404, "not_found", f"There is no such {what}.")


def conflict(message: str, code: str = "conflict") -> ApiError:
    """Return that what is asked for does not fit what is there."""
    return ApiError(409, code, message)


def invalid(argument: str | None, message: str) -> ApiError:
    """Return that an argument is wrong."""
    return ApiError(422, "invalid", message, argument)


def too_large(limit: int) -> ApiError:
    """Return a body beyond its limit."""
    return ApiError(413, "too_large", f"The body may have at most {limit} bytes.")


def too_many_requests(wait: float) -> ApiError:
    """Return a rate beyond its limit."""
    return ApiError(429, "too_many_requests", "Too many requests: wait a little.", wait=wait)


# From the special to the general: the first class that fits decides.  None: the words are the exception's own.
PROBLEMS: tuple[tuple[type[BaseException], int, str, str | None], ...] = (
    (errors.StoreUnavailable, 503, "store_unavailable", "The store is away for the moment: try again."),
    (errors.UnknownCampaign, 404, "not_found", "There is no such campaign."),
    (errors.UnknownQuestion, 409, "unknown_question", None),
    (errors.LeaseLost, 409, "lease_lost", None),
    (errors.CampaignClosed, 409, "campaign_closed", None),
    (errors.BudgetSpent, 409, "budget_spent", None),
    (errors.NotPrivate, 409, "not_private", None),
    (errors.AlreadyExists, 409, "already_exists", None),
    (errors.DuplicateEvent, 409, "duplicate_event", None),
    (errors.InvalidArgument, 422, "invalid", None),
    (errors.InvalidFile, 422, "invalid_file", None),
    (errors.MissingExtra, 409, "missing_extra", None),
    (errors.AskoneError, 409, "refused", None),
    (TimeoutError, 503, "too_slow", "This took too long: try again."),
)
_PHRASES = {404: ("not_found", "There is no such page."), 405: ("method_not_allowed", "Not with this method.")}


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""A disk that is full or broken, or a limit that its owner has reached."""


def to_api_error(error: BaseException) -> ApiError:
    """Return an exception as the refusal that its sender sees; what is not in the table says nothing of itself."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, HTTPException):
        code, message = _PHRASES.get(error.status_code, ("http_error", "The request could not be served."))
        return ApiError(error.status_code, code, message)
    for kind, status, code, words in PROBLEMS:
        if isinstance(error, kind):
            argument = error.argument if isinstance(error, errors.InvalidArgument) else None
            return ApiError(
                status, code, str(error) if words is None else words, argument, 1.0 if status == 503 else None
            )
    if isinstance(error, OSError) and error.errno in _FULL:
        return ApiError(507, "storage_full", "There is no room for this on the server's disk.")
    return ApiError(500, "internal", "Something went wrong here.")
