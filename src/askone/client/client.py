"""A campaign on a server, from Python: ask, tell, and what its manager does.  A door to httpx.

::

    with askone.Client("http://127.0.0.1:8000", token, "prices") as client:
        while (question := client.ask()) is not None:
            client.tell(question, my_answer(question))

Requests that fail on the way are sent again, an answer always under the id of its first attempt, so that
however often it arrives it counts once.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self, final
from urllib.parse import quote

from askone._common.atomic_write import atomic_write
from askone._common.validate import as_choice, as_number
from askone.client.question import Posed, Record
from askone.errors import AskoneError, InvalidArgument, MissingExtra, RequestRefused, ServerUnavailable
from askone.privacy import as_epsilon, coin_toss, randomized

try:
    import httpx
except ImportError as missing:
    raise MissingExtra("askone.Client needs httpx: pip install 'askone[client]'") from missing

_PASSING = (429, 502, 503, 504)
_LONGEST_WAIT = 10.0
_WAITING = 0.5
_TABLES = 600.0  # seconds for an answer about a file of rows, which may have millions of them
_NOBODY = 5.0  # seconds for an address at which nobody was met yet: it may be mistyped
FORMATS = {
    "answers": ("csv", "jsonl", "parquet", "label-studio"),
    "predictions": ("csv", "jsonl", "parquet"),
    "model": ("",),
    "log": ("",),
    "backup": ("",),
}
"""What can be exported, and how."""


@final
class Client:
    """A server at ``url``, for the holder of ``token``; questions are of ``campaign``.

    ``timeout`` is for one request, but ten minutes for the answer to a file of rows, ``patience`` how long a request
    that fails on its way is repeated, in seconds; five at most while nobody was met at the address at all.

    Answers to a private campaign are flipped here (see ``askone.privacy``), by the campaign's epsilon; with an
    ``epsilon`` by this one, whatever the server says: a campaign that has another refuses them.
    """

    def __init__(
        self,
        url: str,
        token: str,
        campaign: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 60.0,
        kind: str = "person",
        epsilon: float | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise InvalidArgument("url", "an address that begins with http:// or https://", url)
        if not re.fullmatch(r"[!-~]+", token):  # nobody else should read what came: it may be one, and a line more
            came = "nothing" if not token.strip() else "one with blanks, or with signs that no token has"
            raise InvalidArgument("token", "one that askone users token or an account's page made", came)
        if campaign is not None and not campaign.strip():
            raise InvalidArgument("campaign", "the name of a campaign, or None", repr(campaign))
        self.campaign = campaign
        self._patience = as_number(patience, "patience", 0.0)
        self._kind = {} if as_choice(kind, "kind", ("person", "program")) == "person" else {"kind": kind}
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        self._slow = httpx.Timeout(timeout, read=max(timeout, _TABLES))
        # Redirects are not followed: a token goes where it was meant to go.
        self._http = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout, transport=transport)
        self._epsilon = None if epsilon is None else as_epsilon(epsilon)
        self._private: Record = {}
        self._serving: Record | None = None
        self._began = 0.0
        self._met = False

    def __repr__(self) -> str:
        """Return the address and the campaign, without the token: representations end in logs and notebooks."""
        return f"Client({str(self._http.base_url)!r}, campaign={self.campaign!r})"

    # -- asking and telling -----------------------------------------------------------------------

    @property
    def state(self) -> str:
        """What the last serving said: question, waiting, paused, closed, spent, resting or done."""
        return "" if self._serving is None else str(self._serving["state"])

    @property
    def mine(self) -> int:
        """How many answers the holder of the token gave."""
        return 0 if self._serving is None else int(self._serving["mine"])

    def ask(self, wait: float = 0.0) -> Posed | None:
        """Return the next question, or None where there is none now: see ``state``.

        The same one until it is told, skipped or refused.  While others hold all open questions (``state`` is
        "waiting") it is asked again for ``wait`` seconds.
        """
        end = time.monotonic() + as_number(wait, "wait", 0.0)
        if self._serving is None or self._serving["question"] is None:
            self._serve("next", {})
        while self.state == "waiting" and time.monotonic() < end:
            time.sleep(_WAITING)
            self._serve("next", {})
        return self._posed()

    def tell(self, question: Posed, answer: object, took: float | None = None, cost: float | None = None) -> None:
        """Answer: a bool, or one of ``question.answers``; ``took`` seconds, or the time since it was asked.

        ``cost`` is what the answer did, in the campaign's currency: the page of people shows what a bit of it costs.
        """
        took = time.monotonic() - self._began if took is None else as_number(took, "took", 0.0)
        bit = question.bit(answer)
        if self.epsilon is None:
            body = {"lease": question.lease, "answer": bit, "id": _new_id(), "took": took, **self._kind}
            self._serve("answers", body | ({} if cost is None else {"cost": as_number(cost, "cost", 0.0)}))
        else:
            self._tell_privately(question, randomized(bit, self.epsilon))

    @property
    def epsilon(self) -> float | None:
        """By which answers are flipped before they are sent; None: they are not."""
        privacy = (self._serving or {}).get("privacy")
        return self._epsilon if self._epsilon is not None or privacy is None else float(privacy["epsilon"])

    @property
    def spent(self) -> tuple[float, float | None]:
        """What the holder of the token has spent of their privacy in this campaign, and of how much (None: any)."""
        privacy = (self._serving or {}).get("privacy") or {"spent": 0.0, "budget": None}
        return privacy["spent"], privacy["budget"]

    def _tell_privately(self, question: Posed, bit: bool) -> None:
        """Send a bit that was made private, and no time; told again, the question has the bit that it had."""
        if self._private.get("lease") != question.lease:
            self._private = {
                "lease": question.lease, "answer": bit, "id": _new_id(), "epsilon": self.epsilon, **self._kind
            }  # fmt: skip
        self._serve("answers", self._private)

    def skip(self, question: Posed, reason: str = "skip") -> None:
        """Leave a question; with the reason "cannot tell" nobody else is asked either.

        In a private campaign the toss of a coin is sent, so that nobody can tell.
        """
        as_choice(reason, "reason", ("skip", "cannot tell"))
        if self.epsilon is None:
            body = {"lease": question.lease, "id": _new_id(), "reason": reason, **self._kind}
            self._serve("skips", body)
        else:
            self._tell_privately(question, coin_toss())

    def flag(self, question: Posed, reason: str) -> None:
        """Say that something is wrong with a question or its row; it stays open."""
        self._serve("flags", {"lease": question.lease, "id": _new_id(), "reason": reason})

    def undo(self) -> Posed | None:
        """Take back the last answer or skip: its question is open again."""
        self._serve("undo", {"id": _new_id()})
        return self._posed()

    def picture(self, question: Posed) -> bytes | None:
        """Return the picture of a question's row, PNG or JPEG, while the question is held; None if it has none."""
        address = question.record["row"].get("image")
        return None if address is None else self._sent(lambda: self._http.get(address), self._patience).content

    def release(self) -> None:
        """Give back an open question, so that others need not wait."""
        if self._serving is not None and self._serving["question"] is not None:
            leases = [self._serving["question"]["lease"]]
            self._serving = None
            self._json("POST", self._path("leases/release"), {"leases": leases}, patience=0.0)

    def _serve(self, verb: str, body: Record) -> None:
        try:
            self._serving = self._json("POST", self._path(verb), body)
        except RequestRefused:
            self._serving = None  # ask anew
            raise
        self._began = time.monotonic()

    def _posed(self) -> Posed | None:
        record = None if self._serving is None else self._serving["question"]
        return None if record is None else Posed.from_json(record)

    # -- looking ----------------------------------------------------------------------------------

    def me(self) -> Record:
        """Return who the token's holder is, and their campaigns."""
        return dict(self._json("GET", "/api/v1/me"))

    def campaigns(self) -> list[Record]:
        """Return the campaigns that the holder of the token manages."""
        return list(self._json("GET", "/api/v1/campaigns"))

    def status(self) -> Record:
        """Return the campaign: its status, settings and counts."""
        return dict(self._json("GET", self._path()))

    def dashboard(self) -> Record:
        """Return counts, the learning curve, the cloud of questions."""
        return dict(self._json("GET", self._path("dashboard")))

    def people(self) -> list[Record]:
        """Return who answers, and how."""
        return list(self._json("GET", self._path("people")))

    def answers(self, which: str = "all", person: str | None = None, first: int = 20, skip: int = 0) -> Record:
        """Return a page of answered questions: how many there are in all (``total``), and these ``answers``.

        Of which sort: all, undecided (people disagree, or the model hardly expected the answer), disagreement, flagged,
        wrong, slow or surprising; everybody's or one person's.
        """
        params = {"which": which, "first": str(first), "skip": str(skip)} | (
            {} if person is None else {"person": person}
        )
        return dict(self._json("GET", self._path("answers"), params=params))

    def predict(self, keys: Iterable[str | int]) -> list[Record]:
        """Return what the model says of the rows with these keys, with its uncertainty; unknown keys have none.

        Other rows are predicted by the exported model: ``askone.load(path).predict(rows)``.
        """
        wanted = list(keys)
        if isinstance(keys, str) or not all(isinstance(key, str | int) for key in wanted):
            allowed = "a list of keys of the campaign's rows (askone.load(path).predict is for other rows)"
            raise InvalidArgument("keys", allowed, repr(keys)[:60])
        return list(self._json("GET", self._path("predictions"), params={"keys": ",".join(map(str, wanted))}))

    def estimate(self, what: str, by: str | None = None) -> list[Record]:
        """Return an estimate of the whole table, such as its "mean", or of each group of rows by a column."""
        params = {"what": what} if by is None else {"what": what, "by": by}
        return list(self._json("GET", self._path("estimate"), params=params)["estimates"])

    def compare(self, seconds: float = 600.0) -> Record:
        """Return what other models would have made of the answers: the ``models``, and a ``verdict`` in a sentence.

        The first time, and when the answers have grown by a fifth, that takes a while; it is waited for so long.
        """
        return dict(self._json("GET", self._path("comparison"), again=False, timeout=seconds))

    def export(self, what: str, path: str | Path, form: str | None = None) -> Path:
        """Write the answers, predictions, model, log or backup into a file, which appears whole or not at all.

        The format of answers and predictions is that of the file's name unless it is said.  Nobody else may read a
        backup.
        """
        as_choice(what, "what", FORMATS)
        target = Path(path)
        chosen = (form or target.suffix.removeprefix(".")) if FORMATS[what] != ("",) else ""
        as_choice(chosen, "form", FORMATS[what])
        with atomic_write(target, private=what == "backup") as out:
            out.writelines(self._streamed(self._path(f"export/{what}"), {"format": chosen} if chosen else {}))
        return target

    # -- managing ---------------------------------------------------------------------------------

    def create(self, settings: Mapping[str, Any], rows: str | Path | None = None, name: str | None = None) -> str:
        """Make a campaign of a file of rows (an order of items needs none) and go on with it; returns its name."""
        upload = None if rows is None else self._upload("/api/v1/uploads", Path(rows))["upload"]
        body = {"settings": dict(settings), "upload": upload} | ({} if name is None else {"name": name})
        return self._go_on(self._json("POST", "/api/v1/campaigns", body, again=False, timeout=self._slow)["name"])

    def add_rows(self, rows: str | Path) -> int:
        """Add the rows of a file; returns how many."""
        upload = self._upload("/api/v1/uploads", Path(rows))["upload"]
        added = self._json("POST", self._path("rows"), {"upload": upload}, again=False, timeout=self._slow)["added"]
        return int(added)

    def set_status(self, status: str) -> None:
        """Make the campaign "running", "paused" or "closed"."""
        self._json("PATCH", self._path(), {"status": status})

    def set_budget(self, budget: int | None) -> None:
        """Set how many questions may be asked in all; None: any number."""
        self._json("PATCH", self._path(), {"budget": budget})

    def rule(self, number: int, answer: bool | None) -> None:
        """Decide a question, whatever people said: it teaches as what is certain, and measures who answered.

        With None, what people said counts again.
        """
        self._json("POST", self._path(f"questions/{number}/ruling"), {"answer": answer})

    def exclude(self, person: str) -> int:
        """Let nothing that a person answered count; returns how many answers that were.

        ``person`` is the ``id`` that ``people`` tells, not a name: names may change.
        """
        return int(self._json("POST", self._path(f"people/{quote(person, safe='')}/exclude"), {})["answers"])

    def include(self, person: str) -> int:
        """Let a person's answers count again."""
        return int(self._json("POST", self._path(f"people/{quote(person, safe='')}/include"), {})["answers"])

    def resume(self, person: str) -> int:
        """Ask somebody again who was paused (``people.pause_below``); returns how many answers they gave."""
        return int(self._json("POST", self._path(f"people/{quote(person, safe='')}/resume"), {})["answers"])

    def members(self) -> list[Record]:
        """Return who has been let into the campaign, and as what."""
        return list(self._json("GET", self._path("members")))

    def remove_member(self, person: str) -> None:
        """Take somebody out of the campaign; what they answered stays."""
        self._json("DELETE", self._path(f"members/{quote(person, safe='')}"), again=False)

    def invite(self, title: str = "", expires_hours: float = 168.0, most_uses: int = 100) -> str:
        """Return a link by which people join the campaign as annotators; it cannot be shown again."""
        body = {"title": title, "expires_hours": expires_hours, "most_uses": most_uses}
        link = str(self._json("POST", self._path("invitations"), body, again=False)["link"])
        return link if "://" in link else f"{str(self._http.base_url).rstrip('/')}{link}"

    def join(self, invitation: str) -> str:
        """Become an annotator by an invitation's link, and go on with its campaign; returns its name."""
        secret = invitation.rpartition("#")[2]
        return self._go_on(self._json("POST", "/api/v1/join", {"invitation": secret}, again=False)["campaign"])

    def import_label_studio(self, path: str | Path) -> Record:
        """Take the answers of a JSON export of Label Studio; how many were taken, known, unknown and none."""
        return self._upload(self._path("import/label-studio"), Path(path))

    def restore(self, path: str | Path, name: str | None = None) -> str:
        """Make a campaign of a backup, perhaps under another name, and go on with it; returns the name."""
        params = {} if name is None else {"name": name}
        return self._go_on(self._upload("/api/v1/restore", Path(path), params)["name"])

    def _go_on(self, campaign: str) -> str:
        self.campaign, self._serving = campaign, None
        return campaign

    # -- the way there and back -------------------------------------------------------------------

    def close(self) -> None:
        """Give back an open question and the connection."""
        try:
            self.release()
        except AskoneError:
            pass  # its lease ends by itself
        finally:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _path(self, rest: str = "") -> str:
        if self.campaign is None:
            raise InvalidArgument("campaign", "the name of a campaign, for this request", None)
        return f"/api/v1/campaigns/{quote(self.campaign, safe='')}" + (f"/{rest}" if rest else "")

    def _upload(self, path: str, file: Path, params: Mapping[str, str] | None = None) -> Record:
        headers = {"X-File-Name": quote(file.name), "Content-Type": "application/octet-stream"}
        with file.open("rb") as content:
            response = self._sent(
                lambda: self._http.post(path, content=content, headers=headers, params=params, timeout=self._slow), 0.0
            )
        return dict(response.json())

    def _json(
        self,
        method: str,
        path: str,
        body: Record | None = None,
        params: Mapping[str, str] | None = None,
        patience: float | None = None,
        again: bool = True,
        timeout: Any = None,
    ) -> Any:
        """Send a request and return its answer; without ``again`` it is repeated only if it cannot have arrived."""
        content = None if body is None else json.dumps(body, allow_nan=False)
        headers = {} if body is None else {"Content-Type": "application/json"}
        longest = self._patience if patience is None else patience
        limit = self._http.timeout if timeout is None else timeout
        return self._sent(
            lambda: self._http.request(method, path, content=content, params=params, headers=headers, timeout=limit),
            longest,
            again,
        ).json()

    def _sent(self, send: Any, patience: float, again: bool = True) -> httpx.Response:
        begun, wait = time.monotonic(), 0.1
        while True:
            end = begun + patience
            try:
                response: httpx.Response = send()
            except httpx.TransportError as error:
                refused = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                if refused and not self._met:
                    end = begun + min(patience, _NOBODY)
                if (not refused and not again) or time.monotonic() + wait > end:
                    raise ServerUnavailable(self._away(error, refused)) from error
            else:
                self._met = True
                wait = max(wait, _retry_after(response))
                if response.status_code not in _PASSING or time.monotonic() + wait > end:
                    return _granted(response)
            time.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    def _away(self, error: Exception, refused: bool) -> str:
        hint = ": is the server running, and is this its address?" if refused and not self._met else ""
        return f"{self._http.base_url} cannot be reached ({error or type(error).__name__}){hint}"

    def _streamed(self, path: str, params: Mapping[str, str]) -> Iterator[bytes]:
        """Yield the pieces of a file; the request is repeated until its first piece, not after."""
        response = self._sent(lambda: self._begun(path, params), self._patience)
        try:
            yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise ServerUnavailable(f"the export from {self._http.base_url} broke off: {error}") from error
        finally:
            response.close()

    def _begun(self, path: str, params: Mapping[str, str]) -> httpx.Response:
        asked = self._http.build_request("GET", path, params=params, timeout=self._slow)
        response = self._http.send(asked, stream=True)
        if not response.is_success:
            response.read()
        return response


def _new_id() -> str:
    return uuid.uuid4().hex


def _retry_after(response: httpx.Response) -> float:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 0.0


def _granted(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        told = response.json()["error"]
        refused = RequestRefused(response.status_code, told["code"], told["message"], told.get("argument"))
    except (ValueError, KeyError, TypeError):
        refused = RequestRefused(response.status_code, "http", response.reason_phrase or "the server refused")
    raise refused
