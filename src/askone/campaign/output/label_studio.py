"""Questions and answers as tasks of Label Studio, and answers given there taken back.

A task is a question: its data are the sentence, the two answers, the row's fields, and the campaign and number
under which it is known here.  Its annotations are the answers that count, each a choice of one of the two.
``CONFIG`` is the labelling interface for such tasks.  Answers that come back are for questions that wait for one;
what a question has already, or what was here before, is passed over, so that a file may be taken twice.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, final

from askone.campaign.engine.training_set import MOST_OPINIONS
from askone.campaign.kinds.base import Kind
from askone.campaign.output._formats import Record, pages
from askone.campaign.output.export import begun_settings, fate, iso, until
from askone.campaign.settings.settings import Settings
from askone.campaign.tables.json_list import list_elements
from askone.errors import CampaignClosed, InvalidFile, NotPrivate
from askone.questions.base import Question
from askone.session.log import Answered, Asked
from askone.store.entries import Entry, Row, Seat, as_json
from askone.store.store import Store, Transaction

if TYPE_CHECKING:  # it comes opened
    from askone.campaign.campaign import Campaign

CONFIG = """<View>
  <Header value="$question"/>
  <Text name="question" value="$text"/>
  <Choices name="answer" toName="question" choice="single" value="$answers"/>
</View>
"""
"""What to paste into the labelling set-up of a project."""
WORDS = ("Yes", "No")
_PAGE = 500  # tasks that are read or written at once
_MOST_ANNOTATIONS = 1_000_000  # of a file
_MOST = 4 << 20  # characters of a task
_FROM, _TO = "answer", "question"  # names in CONFIG
_LONGEST = 86_400.0  # seconds that an answer may have taken


@final
@dataclass(eq=False)
class _Task:
    """A question with the answers that it has so far."""

    asked: Asked
    position: int
    wanted: int
    given: list[Entry] = field(default_factory=list)


@final
@dataclass(frozen=True)
class Imported:
    """Counts of annotations: taken, known or too late, for no question of this campaign, no yes or no."""

    answers: int = 0
    already: int = 0
    unknown: int = 0
    other: int = 0


def task_chunks(store: Store, name: str) -> Iterator[bytes]:
    """Yield all questions, those without an answer too, as the bytes of a JSON file of tasks."""
    yield b"["
    first, settings = True, begun_settings(store, name)
    for page in pages(_tasks(store, name), _PAGE):
        rows = {row.position: row for row in store.rows(name, sorted({task.position for task in page}))}
        texts = [as_json(_record(name, settings, task, rows[task.position])) for task in page]
        yield (("\n" if first else ",\n") + ",\n".join(texts)).encode()
        first = False
    yield b"\n]\n"


def _tasks(store: Store, name: str) -> Iterator[_Task]:
    """Yield questions as they are complete; those that wait for answers at the end.  Only these are held in memory."""
    end, _ = store.head(name)
    known, waiting = fate(store, name, end), dict[str, _Task]()
    for entry in until(store.entries(name, kinds=("asked", "answered")), end):
        event = entry.event
        if isinstance(event, Asked):
            wanted = (
                1
                if entry.aside.get("role") == "gold"
                else (MOST_OPINIONS if known.settings.ask.overlap == "auto" else known.settings.ask.overlap)
            )
            waiting[event.id] = _Task(event, int(entry.aside["position"]), wanted)
        elif isinstance(event, Answered) and event.asked in waiting:
            if event.id in known.retracted or entry.who in known.excluded:
                continue
            task = waiting[event.asked]
            task.given.append(entry)
            if len(task.given) >= task.wanted:
                yield waiting.pop(event.asked)
    yield from waiting.values()


def _record(name: str, settings: Settings, task: _Task, row: Row) -> Record:
    question, labels, show = task.asked.question, settings.labels, settings.rows.show
    seen = {title: value for title, value in row.content.items() if show is None or title in show}
    own = {
        "question": str(question),
        "text": "\n".join(f"{title}: {'' if value is None else value}" for title, value in seen.items()) or row.key,
        "answers": [{"value": word} for word in words(labels, question)],
        "kind": labels.view(question).kind,
        "key": row.key,
        "askone_campaign": name,
        "askone_number": question.number,
    }
    fields = {f"row_{title}" if title in own else title: value for title, value in row.content.items()}
    return {"data": own | fields, "annotations": [_annotation(labels, question, entry) for entry in task.given]}


def words(labels: Kind, question: Question) -> tuple[str, str]:
    """Return what is chosen there for True and for False."""
    return labels.view(question).answers or WORDS


def _annotation(labels: Kind, question: Question, entry: Entry) -> Record:
    yes, no = words(labels, question)
    value = {"choices": [yes if isinstance(entry.event, Answered) and entry.event.answer is True else no]}
    result = {"id": entry.id, "from_name": _FROM, "to_name": _TO, "type": "choices", "value": value}
    told = {"was_cancelled": False, "ground_truth": False, "created_at": iso(entry.at), "lead_time": entry.took}
    return {"result": [result], **told}


# -- and back -----------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class GivenChoice:
    """An annotation that says yes or no, or nothing of the kind (``choice`` None)."""

    number: int
    choice: str | None
    mark: str
    person: str
    took: float | None
    known: str


def import_tasks(campaign: Campaign, file: BinaryIO, now: float) -> Imported:
    """Take the answers that the campaign waits for; annotators are label-studio:1, ... by their numbers there."""
    counts = asdict(Imported())
    for page in annotation_pages(file, campaign.name, counts):
        take_page(campaign, page, now, counts)
    return Imported(**counts)


def annotation_pages(file: BinaryIO, name: str, counts: dict[str, int]) -> Iterator[list[GivenChoice]]:
    """Yield the annotations of a file, some at a time; all is read before, so that nothing of a bad one is taken."""
    read = 0
    for read, _ in enumerate(_annotations(file, name, asdict(Imported())), start=1):
        if read > _MOST_ANNOTATIONS:
            raise InvalidFile(f"a file of tasks may have at most {_MOST_ANNOTATIONS} annotations")
    file.seek(0)
    yield from pages(_annotations(file, name, counts), _PAGE)


def take_page(campaign: Campaign, page: Sequence[GivenChoice], now: float, counts: dict[str, int]) -> None:
    """Take some of them in, and count them."""
    campaign.refresh()
    if campaign.projection.status == "closed":
        raise CampaignClosed("this campaign is closed: nothing more is recorded")
    if campaign.settings.privacy.epsilon is not None:
        raise NotPrivate("in a private campaign answers are flipped by who gives them: those of a file are not taken")
    with campaign.store.transaction(campaign.name) as transaction:
        _take(transaction, campaign, page, now, counts)
    campaign.refresh()


def _annotations(file: BinaryIO, name: str, counts: dict[str, int]) -> Iterator[GivenChoice]:
    for task in _tasks_in(file):
        if isinstance(task, Mapping) and "askone_number" in task and "data" not in task:
            # It lacks the ids by which an answer that is here already is told from a new one.
            raise InvalidFile("a file of tasks must be Label Studio's export JSON; got JSON-MIN")
        data = task.get("data") if isinstance(task, Mapping) else None
        notes = task.get("annotations", []) if isinstance(task, Mapping) else []
        number = data.get("askone_number") if isinstance(data, Mapping) else None
        here = isinstance(data, Mapping) and data.get("askone_campaign") in (name, None)
        notes = [note for note in notes if isinstance(note, Mapping)] if isinstance(notes, list) else []
        if not here or not isinstance(number, int) or isinstance(number, bool):
            counts["unknown"] += len(notes)
            continue
        yield from (_read(number, note, place) for place, note in enumerate(notes))


def _tasks_in(file: BinaryIO) -> Iterator[Any]:
    """Yield the tasks of a file as JSON values, one at a time."""
    for line, text in list_elements(file, _refusal, _MOST):
        try:
            yield json.loads(text)
        except (ValueError, RecursionError) as error:
            reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise _refusal(f"line {line}: {reason}") from error


def _refusal(reason: str) -> InvalidFile:
    return InvalidFile(f"a file of tasks must be a JSON list: {reason}")


def _read(number: int, note: Mapping[str, Any], place: int) -> GivenChoice:
    choice, known = _choice(note.get("result"))
    who = note.get("completed_by")
    if isinstance(who, Mapping):
        who = who.get("id", who.get("email"))
    # An address of a person has no place in a log that is kept for good.
    person = str(who) if isinstance(who, int) else hashlib.sha256(str(who).encode()).hexdigest()[:12]
    unique = note.get("unique_id") or f"{note.get('id', place)}"
    mark = hashlib.sha256(f"{number}\n{unique}\n{person}".encode()).hexdigest()[:32]
    took = note.get("lead_time")
    valid = isinstance(took, int | float) and not isinstance(took, bool) and 0 <= took <= _LONGEST
    cancelled = note.get("was_cancelled") is True
    seconds = round(float(took), 3) if valid and took is not None else None
    return GivenChoice(number, None if cancelled else choice, f"ls-{mark}", f"label-studio:{person}", seconds, known)


def _choice(results: Any) -> tuple[str | None, str]:
    """Return the one choice that was made, and the id that the result had here."""
    for result in results if isinstance(results, list) else []:
        if isinstance(result, Mapping) and result.get("type") == "choices":
            value = result.get("value")
            chosen = value.get("choices") if isinstance(value, Mapping) else None
            if isinstance(chosen, list) and len(chosen) == 1 and isinstance(chosen[0], str):
                return chosen[0], str(result.get("id", ""))
    return None, ""


def _take(
    transaction: Transaction, campaign: Campaign, page: Sequence[GivenChoice], now: float, counts: dict[str, int]
) -> None:
    """Answers into the log, each in a seat of its question that nobody holds."""
    names = [f"ask-{one.number}" for one in page]
    known = transaction.known([*names, *(one.mark for one in page), *(one.known for one in page if one.known)])
    seats: dict[int, list[Seat]] = {}
    for seat in transaction.seats(numbers=sorted({one.number for one in page})):
        if seat.expires <= now:
            seats.setdefault(seat.number, []).append(seat)
    entries, drop = list[Entry](), list[tuple[int, int]]()
    for one, asked in zip(page, names, strict=True):
        source = known.get(asked)
        question = source.event.question if source is not None and isinstance(source.event, Asked) else None
        bit = None if question is None or one.choice is None else _bit(campaign.settings.labels, question, one.choice)
        fresh = one.mark not in known and one.known not in known
        if question is None:
            counts["unknown"] += 1
        elif bit is None:
            counts["other"] += 1
        elif not fresh or not seats.get(one.number):
            counts["already"] += 1
        else:
            seat = seats[one.number].pop(0)
            drop.append((seat.number, seat.seat))
            entry = Entry(
                Answered(one.mark, asked, bit), one.person, now, one.took, {"learnt": campaign.projection.learnt}
            )
            known[one.mark] = entry
            entries.append(entry)
            counts["answers"] += 1
    transaction.write(entries, drop=drop)


def _bit(labels: Kind, question: Question, choice: str) -> bool | None:
    yes, no = words(labels, question)
    if choice in (yes, no):
        return choice == yes
    return {"yes": True, "no": False}.get(choice.strip().lower())
