"""An API of campaigns made up for the managers' pages: numbers that look like learning, texts that may be hostile."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from pages import Call, Reply, Site, refused

NOW = 1_790_000_000.0
QR = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="290" height="290" viewBox="0 0 29 29">'
    '<path fill="#fff" d="M0 0h29v29H0z"/><path d="{}"/></svg>'
)
TOML = """title = "{title}"

[labels]
kind = "{kind}"
low = 200
high = 2600
unit = "EUR"

[ask]
budget = 3000
exam_share = 0.1
"""
DRINKS = ["coffee", "tea", "cocoa", "lemonade", "orange juice", "water", "kombucha", "tomato juice"]
DIGITS = [str(digit) for digit in range(10)]
Words = Callable[[str], str]


def same(text: str) -> str:
    return text


def settings(kind: str, t: Words = same) -> dict[str, Any]:
    """Settings of a campaign, as the API gives them."""
    labels: dict[str, dict[str, Any]] = {
        "number": {"kind": "number", "low": 200, "high": 2600, "unit": t("EUR"), "decimals": 0, "name": t("the rent")},
        "class": {"kind": "class", "classes": [t(one) for one in DIGITS], "attributes": None, "max_set_size": None},
        "order": {"kind": "order", "items": [t(one) for one in DRINKS]},
    }
    titles = {"number": "What is a fair rent?", "class": "Handwritten digits", "order": "Drinks for the summer party"}
    return {
        "title": t(titles[kind]),
        "rows": {
            "key": t("flat"),
            "show": [t("size"), t("district")],
            "learn": [t("size"), t("district")],
            "gold": None,
        },
        "labels": labels[kind],
        "question": {
            "wording": t("Is {name} {side} {amount}?"),
            "instructions": t("Without heating."),
            "answers": [t("yes"), t("no")],
        },
        "ask": {
            "budget": 3000,
            "overlap": 1,
            "gold_share": 0.0,
            "exam_share": 0.1,
            "order": "random",
            "per_person": None,
            "target": None,
            "price": 0.05,
            "currency": "EUR",
            "seconds": 3.5,
        },
        "learner": {"flip": 0.02, "seed": 0},
    }


def curve(kind: str, answers: int) -> dict[str, Any]:
    """A learning curve as progressive validation measures it: noisy at first, its band as wide as 1/sqrt(n)."""
    draw = random.Random(3)
    points = []
    for n in range(40, answers + 1, 40):
        if kind == "number":
            value, width = 95 + 5200 / (n + 12) ** 0.72 + draw.gauss(0, 90 / n**0.5), 1900 / n**0.5
        else:
            value, width = 0.93 - 3.2 / (n + 14) ** 0.52 + draw.gauss(0, 0.3 / n**0.5), 0.9 / n**0.5
            value = min(0.995, max(0.1, value))
        points.append({"n": n, "value": value, "low": max(0.0, value - width), "high": value + width})
    if kind != "number":
        points = [{**point, "high": min(1.0, point["high"])} for point in points]
    measure = {"number": "mean error", "class": "share right", "order": "agreement"}[kind]
    return {
        "measure": measure,
        "unit": "EUR" if kind == "number" else "",
        "points": points,
        "latest": points[-1] if points else None,
    }


def cloud(kind: str, answers: int, column: str, t: Words = same) -> dict[str, Any]:
    """Questions that close in on the truth, as in the paper's figure 1."""
    draw = random.Random(5)
    points: list[dict[str, Any]] = []
    count = min(answers, 700)

    def rent(size: float) -> float:
        return 220 + 13 * size + 170 * math.sin(size / 22)

    for i in range(count):
        n = answers - count + i + 1
        if kind == "number":
            x = draw.uniform(18, 140)
            y = min(2600.0, max(200.0, rent(x) + draw.gauss(0, 140 + 900 * math.exp(-i / 120))))
            points.append({"n": n, "x": x, "y": round(y), "answer": rent(x) + draw.gauss(0, 60) > y})
        elif kind == "class":
            truth = draw.choice(DIGITS)
            size = draw.choice([1, 2, 2, 3, 3, 4, 5]) if i < 600 else draw.choice([1, 1, 2, 3])
            members = sorted({draw.choice(DIGITS) for _ in range(size)} | ({truth} if draw.random() < 0.4 else set()))
            points.append({"n": n, "members": [t(one) for one in members], "answer": truth in members})
        else:
            first, second = draw.sample(range(len(DRINKS)), 2)
            better = draw.random() < 1 / (1 + math.exp(0.75 * (first - second)))
            points.append({"n": n, "first": t(DRINKS[first]), "second": t(DRINKS[second]), "answer": better})
    kinds = {"number": "threshold", "class": "set", "order": "pair"}
    line = [[x, rent(x) + 20 * math.sin(x / 9)] for x in range(18, 141, 2)] if kind == "number" and count else None
    columns = [t("size"), t("district"), "year"] if kind == "number" else []
    return {
        "kind": kinds[kind],
        "x": {"name": column or t("size"), "kind": "number"},
        "columns": columns,
        "points": points,
        "prediction": line,
    }


def dashboard(kind: str, answers: int, column: str = "", t: Words = same) -> dict[str, Any]:
    draw = random.Random(7)
    minutes = min(45, answers // 30)
    start = NOW - NOW % 60
    activity = [
        [start - 60 * k, max(0, round(24 + 14 * math.sin(k / 6) + draw.gauss(0, 5)))] for k in reversed(range(minutes))
    ]
    return {
        "status": "running",
        "answers": answers,
        "asked": answers + 9,
        "skipped": answers // 40,
        "retracted": answers // 90,
        "stale": {"count": answers // 6, "mean": 1.7, "most": 6},
        "rate_per_minute": 27.4 if answers else 0.0,
        "budget": 3000,
        "left": 3000 - answers,
        "people_active": 6 if answers else 0,
        "progress_rows": {"asked": min(answers, 1200), "rows": 1200},
        "curve": curve(kind, answers),
        "cloud": cloud(kind, answers, column, t),
        "activity": activity,
        "spent": {"answers": answers, "money": answers * 0.05, "hours": answers * 3.5 / 3600, "currency": "EUR"},
        "forecast": None,
    }


def predictions(kind: str, keys: list[str], t: Words = same) -> list[dict[str, Any]]:
    draw = random.Random(11)
    if kind == "order":
        order = [t(one) for one in DRINKS]
        return [{"key": "all", "row": [], "prediction": order, "std": None, "probabilities": None, "answers": 900}]
    found = []
    for i, key in enumerate(keys or [f"flat-{i + 1}" for i in range(8)]):
        size = draw.uniform(20, 120)
        row = [
            {"name": t("size"), "value": f"{size:.0f}", "kind": "number"},
            {"name": t("district"), "value": t("Mitte"), "kind": "category"},
        ]
        one: dict[str, Any] = {"key": t(key), "row": row, "answers": i % 3}
        if kind == "number":
            middle, half = 220 + 13 * size, 130 + 12 * i
            ends = {"low": middle - half, "high": middle + half}
            one |= {"prediction": middle, "std": 60 + 8 * i, **ends, "probabilities": None}
        else:
            best = draw.choice(DIGITS)
            rest = {digit: draw.random() * 0.2 for digit in DIGITS}
            rest[best] = 1.5 + draw.random()
            shares = {t(name): share / sum(rest.values()) for name, share in rest.items()}
            one |= {"prediction": t(best), "std": None, "probabilities": shares}
        found.append(one)
    return found


def people(t: Words = same) -> list[dict[str, Any]]:
    names = ["Ada", "Grace", "Emmy", "Sofia", "Guest 7", "Guest 12"]
    seen = []
    for i, name in enumerate(names):
        seen.append(
            {
                "id": f"p{i}",
                "name": t(name),
                "answers": 420 - 65 * i,
                "skips": 3 * i,
                "flags": i % 2,
                "yes_rate": 0.49 + 0.02 * (i % 3) if i < 5 else 0.93,
                "median_seconds": 2.4 + 0.4 * i if i < 5 else 0.5,
                "fast": 0 if i < 5 else 61,
                "hasty": i >= 5,
                "gold_right": 19 - i if i < 5 else 8,
                "gold_asked": 20 if i < 5 else 15,
                "agreement": 0.94 - 0.02 * i if i < 5 else 0.52,
                "agreement_of": 60 - 6 * i,
                "rates": {
                    "sensitivity": 0.97 - 0.02 * i if i < 5 else 0.52,
                    "specificity": 0.96 - 0.02 * i if i < 5 else 0.5,
                    "sensitivity_interval": [0.4, 0.99],
                    "specificity_interval": [0.4, 0.99],
                    "yes_bias": 0.005,
                    "bits": 0.8 - 0.1 * i if i < 5 else 0.001,
                    "bits_interval": [0.6 - 0.1 * i if i < 5 else 0.0, 0.9 - 0.1 * i if i < 5 else 0.04],
                },
                "kind": "program" if i == 3 else "person",
                "cost": 0.0004 if i == 3 else 0.05,
                "cost_per_bit": 0.0008 if i == 3 else 0.0625 + 0.01 * i if i < 5 else None,
                "contradictions": i,
                "contradictions_of": 40 - 5 * i,
                "paused": None if i < 5 else {"at": NOW - 500, "bits": 0.04, "below": 0.2, "answers": 95},
                "excluded": False,
                "last_seen": NOW - 40 * 3**i,
            }
        )
    return seen


def question(kind: str, i: int, t: Words = same) -> dict[str, Any]:
    """A question of the preview."""
    fields = [
        {"name": t("size"), "value": str(31 + 14 * i), "kind": "number"},
        {"name": t("district"), "value": t(["Mitte", "Altona", "Linden"][i % 3]), "kind": "category"},
        {"name": t("text"), "value": t("Bright, second floor, quiet yard."), "kind": "text"},
    ]
    base = {
        "lease": "",
        "number": i,
        "expires_in": 60.0,
        "answers": [t("Yes"), t("No")],
        "threshold": None,
        "set": None,
        "pair": None,
        "row": {"fields": fields, "image": None},
    }
    if kind == "number":
        shown = str(650 + 110 * i)
        threshold = {"shown": shown, "unit": t("EUR"), "name": t("the rent"), "side": "above"}
        return {**base, "kind": "threshold", "sentence": t(f"Is the rent above {shown} EUR?"), "threshold": threshold}
    if kind == "class":
        return {**base, "kind": "set", "sentence": t("Is it one of these?"), "set": [t("3"), t("5"), t("8")]}
    return {
        **base,
        "kind": "pair",
        "sentence": t("Which do you like better?"),
        "pair": {"left": t("tea"), "right": t("coffee")},
    }


def uploaded(t: Words = same) -> dict[str, Any]:
    columns = [
        {"name": t("flat"), "kind": "text", "examples": [t("flat-1"), "flat-2", "flat-3"]},
        {"name": t("size"), "kind": "number", "examples": [31, 45, 59]},
        {"name": t("district"), "kind": "category", "examples": [t("Mitte"), "Altona", "Linden"]},
        {"name": t("text"), "kind": "text", "examples": [t("Bright, second floor, quiet yard.")]},
        {"name": t("rent"), "kind": "number", "examples": [700, None, 910]},
    ]
    suggested = settings("number", t)
    suggested["rows"] = {"key": t("flat"), "show": None, "learn": [t("size"), t("district"), t("text")], "gold": None}
    parts = {"part": t("Flats"), "parts": [t("Flats"), t("Notes")]}
    return {"upload": "u-1", "rows": 1200, "columns": columns, "sample": [], "suggested": suggested, **parts}


def forecast(call: Call) -> dict[str, Any]:
    wish = call.json
    steps = [round(wish["answers"] * k / 24) for k in range(1, 25)]
    points = []
    for n in steps:
        value = 95 + 5200 / (n + 12) ** 0.72
        points.append([n, value - 1500 / n**0.5, value, value + 1900 / n**0.5])
    return {
        "points": points,
        "measure": "mean error in EUR",
        "cost": {"price": wish["answers"] * 0.05, "currency": "EUR", "hours": wish["answers"] * 3.5 / 3600},
    }


class Managed:
    """The API behind the managers' pages: ``answers`` may be raised to see a page follow."""

    def __init__(self, site: Site, kind: str = "number", answers: int = 1480, t: Words = same) -> None:
        self.site, self.kind, self.answers, self.t = site, kind, answers, t
        self.status = "running"
        self.finished: str | None = None
        self.said: dict[str, int] | None = None
        self.anew: dict[str, int] | None = None
        self.ruling: bool | None = None
        self.resolved: set[str] = set()
        self.people = people(t) if answers else []
        self.invitations: list[dict[str, Any]] = []
        self.tokens = [
            {
                "id": "t1",
                "title": t("nightly export"),
                "prefix": "ask1_7fQ2",
                "scopes": ["read"],
                "expires": NOW + 6e6,
                "last_used": NOW - 4000,
            }
        ]
        self.hooks = [{"id": "w1", "url": t("https://example.org/hook"), "events": ["closed", "spent"]}]
        site.person = {
            "user": {"id": "u1", "name": t("Ada Lovelace"), "role": "admin"},
            "csrf": "token-1",
            "campaigns": [{"name": "rents", "title": t("What is a fair rent?"), "role": "manager"}],
            "needs_setup": False,
            "version": "1.0",
        }
        self._serve()

    def record(self) -> dict[str, Any]:
        wish = settings(self.kind, self.t)
        toml = TOML.format(title=wish["title"], kind=self.kind)
        return {
            "name": "rents",
            "title": wish["title"],
            "status": self.status,
            "finished": self.finished,
            "settings": wish,
            "toml": toml,
            "answers": self.answers,
            "rows": 1200,
            "budget": 3000,
        }

    def listed(self) -> list[dict[str, Any]]:
        rows = [
            ("rents", "What is a fair rent?", "running", 1480, 1200, 3000),
            ("digits", "Handwritten digits", "running", 412, 1797, 4000),
            ("drinks", "Drinks for the summer party", "paused", 655, 1, None),
            ("ripe", "Is the tomato ripe?", "closed", 5000, 20000, 5000),
        ]
        names = ("name", "title", "status", "answers", "rows", "budget")
        found: list[dict[str, Any]] = [dict(zip(names, row, strict=True)) for row in rows]
        values = [41.0, 30.0, 22.5, 20.1]
        curve = {
            "measure": "mean error",
            "unit": "EUR",
            "latest": {"value": 20.1, "low": 15.2, "high": 25.3},
            "values": values,
        }
        more = {"mine": 3, "goal": None, "role": "manager", "curve": curve}
        for place, one in enumerate(found):
            one |= {**more, "title": self.t(one["title"]), "created": NOW - 1e5 * place, "total": one["budget"]}
            one["answerable"] = one["status"] == "running"
        return found

    def _serve(self) -> None:
        site, c = self.site, "/api/v1/campaigns/[^/]+"
        site.on("GET", "/api/v1/campaigns", lambda call: self.listed())
        site.on("POST", "/api/v1/campaigns", lambda call: Reply(201, {"name": "rents"}))
        site.on("POST", "/api/v1/uploads", lambda call: uploaded(self.t))
        site.on("POST", "/api/v1/uploads/[^/]+/preview", self.preview)
        site.on("POST", "/api/v1/uploads/[^/]+/forecast", forecast)
        site.on("GET", c, lambda call: self.record())
        site.on("PATCH", c, self.patch)
        site.on("DELETE", c, lambda call: Reply(204))
        site.on("GET", f"{c}/dashboard", self.dashboard)
        site.on("GET", f"{c}/predictions", self.predictions)
        site.on("GET", f"{c}/rows", self.browse)
        site.on("GET", f"{c}/answers", self.answered)
        site.on("GET", f"{c}/rows/7/history", lambda call: {**self.row(), "asked": [self.question()]})
        site.on("POST", f"{c}/questions/3/ruling", self.rule)
        site.on("POST", f"{c}/flags/([^/]+)/resolve", self.resolve)
        site.on("GET", f"{c}/estimate", self.estimate)
        site.on("GET", f"{c}/comparison", self.compare)
        site.on("GET", f"{c}/people", lambda call: self.people)
        site.on("POST", f"{c}/people/([^/]+)/(exclude|include)", self.exclude)
        site.on("POST", f"{c}/people/([^/]+)/resume", self.resume)
        self.members = [{"id": one["id"], "name": one["name"], "role": "annotator"} for one in self.people]
        site.on("GET", f"{c}/members", lambda call: self.members)
        site.on("DELETE", f"{c}/members/([^/]+)", self.remove_member)
        site.on("GET", f"{c}/invitations", lambda call: self.invitations)
        site.on("POST", f"{c}/invitations", self.invite)
        site.on("DELETE", f"{c}/invitations/([^/]+)", self.revoke)
        site.on("GET", f"{c}/flags", lambda call: self.flags())
        site.on("POST", f"{c}/rows", lambda call: {"added": 250})
        site.on("GET", f"{c}/webhooks", lambda call: self.hooks)
        site.on("POST", f"{c}/webhooks", lambda call: Reply(201, {"id": "w2", "secret": "whs_secret"}))
        site.on("POST", f"{c}/import/label-studio", lambda call: {"answers": 12})
        site.on("GET", "/api/v1/tokens", lambda call: self.tokens)
        site.on("POST", "/api/v1/tokens", lambda call: Reply(201, {"id": "t2", "token": "ask1_once"}))
        site.on("DELETE", "/api/v1/tokens/[^/]+", lambda call: Reply(204))
        site.on("POST", "/api/v1/me/password", lambda call: Reply(204))
        site.on("POST", "/api/v1/restore", lambda call: {"name": "rents"})
        roles = [("u1", "Ada Lovelace", "admin"), ("u2", "Grace Hopper", "manager"), ("u3", "Guest 7", "annotator")]
        users = [
            {"id": user, "name": self.t(name), "role": role, "disabled": user == "u3"} for user, name, role in roles
        ]
        users.append({"id": "u9", "name": "forgotten u9", "role": "annotator", "disabled": True})
        site.on("GET", "/api/v1/users", lambda call: users)
        site.on("POST", "/api/v1/users", lambda call: Reply(201, {"id": "u4"}))
        site.on("PATCH", "/api/v1/users/[^/]+", lambda call: {})
        site.on("DELETE", "/api/v1/users/[^/]+/tokens", lambda call: {"ok": True})

    def preview(self, call: Call) -> Any:
        wish = call.json["settings"]
        labels = wish["labels"]
        ends = (labels["low"], labels["high"]) if labels["kind"] == "number" else (None, None)
        if None not in ends and ends[0] >= ends[1]:
            return refused(422, "invalid_argument", "labels.low must be below labels.high, got 9000", "labels.low")
        if "{x}" in wish["question"]["wording"]:
            message = "question.wording may have {threshold}, {amount}, {side}, got {x}"
            return refused(422, "invalid_argument", message, "question.wording")
        questions = [question(labels["kind"], i, self.t) for i in range(5)]
        told = {
            "text": self.t("The labels follow exactly from 'district', which people see."),
            "column": self.t("district"),
        }
        shown = wish["rows"]["show"] is None or self.t("district") in wish["rows"]["show"]
        return {
            "questions": questions,
            "settings": wish,
            "toml": self.record()["toml"],
            "doubts": [told] if shown and wish["rows"]["gold"] else [],
        }

    def predictions(self, call: Call) -> Any:
        return predictions(self.kind, [key for one in call.query.get("keys", []) for key in one.split(",")], self.t)

    def question(self) -> dict[str, Any]:
        people = [("Ada", True), ("Guest 7", False)] if self.answers else []
        given = [{"who": name, "name": self.t(name), "answer": said, "at": NOW, "took": 3.2, "excluded": not said}
                 for name, said in people]  # fmt: skip
        where = {"key": self.t("flat-7"), "position": 7, "row": [], "image": None}
        state = {"gold": None, "decided": self.ruling is not False, "ruling": self.ruling, "flags": 1, "chance": 0.2}
        words = [self.t("yes"), self.t("no")]
        return {"number": 3, "sentence": self.t("Is it above 5?"), "words": words, "given": given, **where, **state}

    def row(self) -> dict[str, Any]:
        cells = [{"name": self.t("size"), "value": self.t("31"), "kind": "text"}]
        return {"key": self.t("flat-7"), "position": 7, "row": cells, "image": None, "prediction": 480.0}

    def answered(self, call: Call) -> Any:
        return {"total": 41, "answers": [self.question()] if self.answers else []}

    def rule(self, call: Call) -> Any:
        self.ruling = call.json["answer"]
        return {"ok": True}

    def resolve(self, call: Call) -> Any:
        self.resolved.add(call.match[1])
        return {"ok": True}

    def browse(self, call: Call) -> Any:
        rows = predictions(self.kind, [call.query["search"][0]] if "search" in call.query else [], self.t)
        return {"total": 40 * len(rows) if len(rows) > 1 else 1, "weighed": 40 * len(rows), "rows": rows}

    def estimate(self, call: Call) -> Any:
        what, by = call.query["what"][0], call.query.get("by", [None])[0]
        if by not in (None, "district"):
            return refused(422, "invalid_argument", f"by must be one of the columns district, got {by!r}", "by")
        ends = {"value": 0.61, "low": 0.58, "high": 0.64, "always_low": 0.56, "always_high": 0.66}
        known = {**ends, "bits": 212, "rows": 3000, "model": 0.63, "labels": 402.7}
        unknown = {**dict.fromkeys(ends), "value": 0.6, "bits": 3, "rows": 40, "model": 0.6, "labels": None}
        groups = {"": known} if by is None else {self.t("Altona"): known, self.t("Veddel"): unknown}
        return {"what": what, "by": by, "estimates": [{"group": name, **one} for name, one in groups.items()]}

    def compare(self, call: Call) -> Any:
        bits, steps = ("bits per answer", ""), ("mean error", "EUR")
        lines = [
            ("This campaign's model", *bits, 412, 0.934, 0.0121, 0.0, 0.0),
            ("Linear", *bits, 412, 0.903, 0.0118, -0.031, 0.00941),
            ("Filters alone", *bits, 412, 0.9412, 0.0125, 0.0072, 0.0066),
            ("This campaign's model", *steps, 61, 143.2, 11.8, 0.0, 0.0),
            ("Stochastic gradients", *steps, 61, 171.9, 14.2, 28.7, 9.96),
        ]
        names = ("name", "measure", "unit", "answers", "value", "error", "difference", "difference_error")
        models = [dict(zip(names, line, strict=True)) for line in lines]
        verdict = "“Linear” would have forecast better by 0.031 bits an answer (3.3 standard errors)."
        return {"answers": 412, "models": models, "verdict": self.t(verdict)}

    def dashboard(self, call: Call) -> Any:
        column = call.query.get("column", [""])[0]
        told = {"status": self.status, "finished": self.finished}
        said = {} if self.said is None else {"said": self.said}
        return {**dashboard(self.kind, self.answers, column, self.t), **told, **said, "anew": self.anew}

    def patch(self, call: Call) -> Any:
        self.status = call.json.get("status", self.status)
        return self.record()

    def resume(self, call: Call) -> Any:
        found = next(person for person in self.people if person["id"] == call.match[1])
        found["paused"] = None
        return {"answers": found["answers"]}

    def exclude(self, call: Call) -> Any:
        found = next(one for one in self.people if one["id"] == call.match[1])
        found["excluded"] = call.match[2] == "exclude"
        return {"excluded": found["excluded"], "answers": found["answers"]}

    def remove_member(self, call: Call) -> Any:
        self.members = [one for one in self.members if one["id"] != call.match[1]]
        return {"ok": True}

    def invite(self, call: Call) -> Any:
        wish = call.json
        made = {
            "id": f"i{len(self.invitations)}",
            "title": self.t(wish["title"]),
            "expires": NOW + 3600 * wish["expires_hours"],
            "most_uses": wish.get("most_uses", 100),
            "uses": 0,
        }
        self.invitations.append(made)
        draw = random.Random(1)
        squares = "".join(f"M{x} {y}h1v1h-1z" for x in range(4, 25) for y in range(4, 25) if draw.random() < 0.5)
        return Reply(201, {**made, "link": "/join#SECRET-ONCE", "qr": QR.format(squares)})

    def revoke(self, call: Call) -> Any:
        self.invitations = [one for one in self.invitations if one["id"] != call.match[1]]
        return Reply(204)

    def flags(self) -> list[dict[str, Any]]:
        if not self.answers:
            return []
        reasons = ["The picture does not load.", "This is a garage, not a flat.", "Two flats in one row?"]
        return [
            {
                "id": f"f{i}",
                "resolved": f"f{i}" in self.resolved,
                "position": 7 + i,
                "number": 212 + 90 * i,
                "key": self.t(f"flat-{7 + i}"),
                "sentence": self.t("Is the rent above 900 EUR?"),
                "reason": self.t(reason),
                "who": self.t("Grace"),
                "at": NOW - 4000 * i,
            }
            for i, reason in enumerate(reasons)
        ]
