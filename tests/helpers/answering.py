"""A campaign that is only played: it lends questions, takes answers once by their id, and looks one question ahead."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Callable
from typing import Any

from askone.labels.wording import USUAL
from askone.server.guidelines import parts
from pages import Call, Reply, Site, refused
from waiting import HANGS

API = "/api/v1/campaigns/c"


def png(width: int, height: int, shade: Callable[[int, int], int]) -> bytes:
    """A grey picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = b"".join(b"\0" + bytes(shade(x, y) for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")


def row(*fields: tuple[str, str, str], image: str | None = None) -> dict[str, Any]:
    shown = [{"name": name, "value": value, "kind": kind} for name, value, kind in fields]
    return {"fields": shown, "image": image}


def number(shown: str = "37", unit: str = "EUR", of: dict[str, Any] | None = None) -> dict[str, Any]:
    """A threshold question without its lease."""
    return {
        "kind": "threshold",
        "sentence": f"Is the price above {shown} {unit}?",
        "template": "Is {amount} above {threshold}?",
        "answers": ["Yes", "No"],
        "threshold": {"shown": shown, "unit": unit, "name": "the price", "side": "above"},
        "set": None,
        "pair": None,
        "row": of or row(("size", "74", "number"), ("town", "Nantes", "category")),
    }


def members(names: list[str], of: dict[str, Any] | None = None) -> dict[str, Any]:
    template = USUAL["one" if len(names) == 1 else "several"]
    words = {"sentence": template.replace("{set}", ", ".join(names)), "template": template}
    return {**number(of=of), "kind": "set", **words, "threshold": None, "set": names}


def pair(left: str = "tea", right: str = "coffee", of: dict[str, Any] | None = None) -> dict[str, Any]:
    words = {"sentence": f"Do you prefer {left} or {right}?", "template": USUAL["pair"]}
    parts = {"kind": "pair", **words, "threshold": None}
    return {**number(of=of or row()), **parts, "answers": [left, right], "pair": {"left": left, "right": right}}


class Campaign:
    """Question n asks about the threshold n + 1, and half of it after a no: the two questions ahead differ."""

    def __init__(
        self, site: Site, *, make: Callable[[int, bool], dict[str, Any]] | None = None, left: int = 50
    ) -> None:
        self.make = make or (
            lambda n, yes: number(f"{n + 1}" if yes else f"{n + 1}.5", of=row(("size", f"{n}", "number")))
        )
        self.budget, self.state, self.renewed = left, "question", 1
        self.log: list[tuple[str, dict[str, Any]]] = []  # what was counted, in order
        self.seen: dict[str, int] = {}  # how often each id came
        self.trail: list[bool] = [True]  # the answers so far, which decide the questions
        self.taken: set[str] = set()  # leases that went to somebody else
        self.failures, self.look = [], True
        self.replies = threading.Event()  # without it nothing comes back
        self.replies.set()
        self.replaced: dict[str, Any] | None = None  # what comes instead of the question ahead, once
        self.instructions = ""
        self.title = "Prices of flats"
        self.goal: int | None = None
        self.epsilon: float | None = None  # by which the page is to flip answers
        self.allowed: float | None = None  # what a person may spend
        self.language = "auto"
        self.practice: list[dict[str, Any]] = []  # questions with their answers
        self.bag = 1  # rows that are asked about at once
        self.lock = threading.Lock()
        for path in ("next", "answers", "bags", "skips", "flags", "undo"):
            site.on("POST", f"{API}/{path}", self._serve)
        site.on("POST", f"{API}/leases/renew", lambda call: {"renewed": self.renewed})
        site.on("POST", f"{API}/leases/release", lambda call: {"released": len(call.json["leases"])})
        site.on("GET", f"{API}/brief", lambda call: {
            "name": "c", "title": self.title, "instructions": self.instructions, "kind": "number",
            "guidelines": parts(self.instructions, {"round.png": f"{API}/rows/3/image"}),
            "answers": ["yes", "no"], "mine": len(self.answers), "goal": self.goal, "total": None, "given": 0,
            "language": self.language, "practice": self.practice, "privacy": self.privacy()})  # fmt: skip
        site.on(
            "GET",
            f"{API}/rows/(\\d+)/image",
            lambda call: Reply(200, self.picture(int(call.match[1])), {"Content-Type": "image/png"}),
        )
        site.person["campaigns"] = [{"name": "c", "title": self.title, "role": "annotator"}]
        state = {"created": 0.0, "status": "running", "finished": None, "mine": 2, "goal": None, "answerable": True}
        numbers = {"answers": 20, "total": 40, "rows": 30}
        site.on("GET", "/api/v1/campaigns", lambda call: [
            {**one, **state, **(numbers if one["role"] == "manager" else {})}
            for one in site.person["campaigns"]])  # fmt: skip

    def picture(self, position: int) -> bytes:
        return png(8, 8, lambda x, y: 255 if (x + y * position) % 3 else 0)

    @property
    def answers(self) -> list[bool]:
        return [body["answer"] for path, body in self.log if path == "answers"]

    def privacy(self) -> dict[str, Any] | None:
        if self.epsilon is None:
            return None
        return {"epsilon": self.epsilon, "spent": self.epsilon * len(self.answers), "budget": self.allowed}

    def question(self, n: int, yes: bool) -> dict[str, Any]:
        return {"lease": f"lease-{n}", "number": n, "expires_in": 60.0, **self.make(n, yes)}

    def serving(self, duplicate: bool = False) -> dict[str, Any]:
        n = len(self.trail) - 1
        asks = self.state == "question"
        ahead = {"yes": self.question(n + 1, True), "no": self.question(n + 1, False)}
        question = self.question(n, self.trail[-1])
        if self.replaced and n > 0:
            question, self.replaced = self.replaced, None
        return {
            "state": self.state, "mine": len(self.answers), "left": max(0, self.budget - len(self.answers)),
            "undoable": len(self.trail) - 1, "duplicate": duplicate, "question": question if asks else None,
            "ahead": ahead if asks and self.look and self.bag == 1 else None, "privacy": self.privacy(),
            "bag": [self.question(n + more, True) for more in range(1, self.bag)],
        }  # fmt: skip

    def _serve(self, call: Call) -> Any:
        if call.headers.get("X-CSRF-Token") != "token-1":
            return refused(403, "csrf")
        assert self.replies.wait(HANGS)
        with self.lock:
            path = call.path.rsplit("/", 1)[1]
            if self.failures and path != "next":
                failure = self.failures.pop(0)
                if failure == "after":  # counted, but the page never hears of it
                    self._count(path, call.json)
                    return refused(503, "too_slow")
                return failure
            return self.serving() if path == "next" else self._count(path, call.json)

    def _count(self, path: str, body: dict[str, Any]) -> Any:
        self.seen[body["id"]] = self.seen.get(body["id"], 0) + 1
        if self.seen[body["id"]] > 1:
            return self.serving(duplicate=True)
        if body.get("lease") in self.taken:
            return refused(409, "lease_lost", "This question is no longer yours.")
        if path == "undo":
            for _ in self.log.pop()[1].get("answers", [None]):
                self.trail.pop()
            return self.serving()
        if path == "bags":
            self.log.append((path, body))
            self.trail.extend(body["answers"])
            return self.serving()
        if body["lease"] != f"lease-{len(self.trail) - 1}" and not body["lease"].startswith("other"):
            return refused(409, "lease_lost", "Out of order.")
        self.log.append((path, body))
        if path != "flags":
            self.trail.append(bool(body.get("answer", True)))
        return self.serving()
