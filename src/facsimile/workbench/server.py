"""The server: addresses of the workbench, what each shows and what each does.

A page is made from the files as they are when it is asked for. A form does one thing and leads back to its
page; what went wrong is told there. Nothing is kept here but who is inside.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.staticfiles import StaticFiles

from facsimile.agreement.agreed import GONE, UNSEEN, Author, Change
from facsimile.api.releases import verify
from facsimile.documents.numerals import count
from facsimile.errors import FacsimileError, refusal
from facsimile.sources.address import Address
from facsimile.spec.decimals import parse_decimal
from facsimile.spec.text import read
from facsimile.workbench import budget, columns, criteria, rules, trying
from facsimile.workbench.bench import Bench, Seen
from facsimile.workbench.door import HOST, THEIRS, Door, Guarded, Person, local
from facsimile.workbench.drawing import HEIGHT, WIDTH, anchor

PAGES = {
    "": "Overview",
    "columns": "Columns",
    "rules": "Rules",
    "criteria": "Criteria",
    "budget": "Budget",
    "explore": "Explore",
    "rehearse": "Rehearse",
    "decisions": "Decisions",
    "text": "Text",
}
WALLED = (".html",)
MOST_FIELDS = 600
Told = Mapping[str, Any]
Form = Mapping[str, str]


class Workbench:
    """The pages and forms of one bench."""

    def __init__(self, bench: Bench, door: Door) -> None:
        self.bench, self.door = bench, door
        self.app = Guarded(self._application(), door)

    def _application(self) -> Starlette:
        pages = [Route(f"/{name}", self._page(name)) for name in PAGES]
        asked = {
            "bins": self.ask_bins,
            "rule": self.ask_rule,
            "threshold": self.ask_threshold,
            "budget": self.ask_budget,
            "news": lambda request: self.bench.news(),
        }
        questions = [Route(f"/ask/{name}", self._asked(answer)) for name, answer in asked.items()]
        deeds = {
            "introduce": self.introduce,
            "invite": self.invite,
            "draft": self.draft,
            "change": self.change,
            "edges": self.edges,
            "labels": self.labels,
            "criterion": self.criterion,
            "rule": self.rule,
            "budget": self.spend,
            "comment": self.comment,
            "note": self.note,
            "sign": self.sign,
            "text": self.take_text,
            "explore": self.explore,
            "stop": self.stop,
            "report": self.report,
            "plan": self.take_plan,
            "rehearse": self.rehearse,
            "verify": self.verify,
        }
        forms = [Route(f"/do/{name}", self._done(deed), methods=["POST"]) for name, deed in deeds.items()]
        files = Route("/files/{name:path}", self._file)
        static = StaticFiles(packages=[("facsimile.workbench", "static")])

        @contextlib.asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            yield
            self.door.close()
            self.bench.jobs.stop()

        async def failed(request: Request, error: Exception) -> Response:
            return HTMLResponse(str(refusal("E700")), 500)

        routes = [*pages, *questions, *forms, files]
        found = Starlette(routes=routes, lifespan=lifespan, exception_handlers={Exception: failed})
        found.mount("/static", static)
        return found

    # Pages

    def _page(self, name: str) -> Any:
        async def answer(request: Request) -> Response:
            return await run_in_threadpool(self._shown, name, request)

        return answer

    def _shown(self, name: str, request: Request) -> Response:
        person = self.door.person(request)
        bench = self.bench
        frame: dict[str, Any] = {
            "pages": PAGES,
            "here": name,
            "person": person,
            "told": person.told[:],
            "bench": bench,
            "public": None if bench.public is None else bench.public.name,
            "anchor": anchor,
        }
        person.told.clear()
        if not bench.there:
            return _html("draft.html", frame | {"seen": None, "job": bench.jobs["draft"]})
        seen, outside, log = bench.seen(), False, None
        try:
            log, outside = bench.decisions(), bench.outside
        except FacsimileError as error:
            frame["told"].append(("bad", str(error)))
        frame |= {"seen": seen, "outside": outside, "log": log}
        if seen.problem is not None and name not in ("text", "decisions"):
            return _html("broken.html", frame | {"problem": seen.problem})
        try:
            return _html(
                f"{name or 'overview'}.html", frame | getattr(self, f"show_{name or 'overview'}")(seen)
            )
        except FacsimileError as error:
            return _html("refused.html", frame | {"problem": error}, 422)

    def show_overview(self, seen: Seen) -> Told:
        """What is promised, what is open, who signed."""
        return {"spec": seen.specification, "budget": budget.view(seen.specification)}

    def show_columns(self, seen: Seen) -> Told:
        """Every column with its bins."""
        values = self.bench.read(seen)
        table = None if values is None else values.table(seen.specification)
        rows = None if table is None else columns.Rows.of(seen.specification, table)
        found = list(columns.views(seen, values, table))
        return {"columns": found, "rows": rows, "known": values is not None, "width": WIDTH, "height": HEIGHT}

    def show_rules(self, seen: Seen) -> Told:
        """Every rule as a sentence."""
        values, spec = self.bench.read(seen), seen.specification
        return {
            "rules": list(rules.lines(spec, values)),
            "policy": spec.constraints.policy,
            "names": spec.names,
        }

    def show_criteria(self, seen: Seen) -> Told:
        """Every criterion with its threshold."""
        outlook = self.bench.outlook(seen)
        return {"criteria": list(criteria.views(seen, outlook)), "known": outlook is not None}

    def show_budget(self, seen: Seen) -> Told:
        """Where epsilon goes."""
        return {"budget": budget.view(seen.specification), "meant": budget.MEANT, "spec": seen.specification}

    def show_explore(self, seen: Seen) -> Told:
        """The study of this text, its curve and its report."""
        study = trying.study_view(self.bench, seen)
        job, curve, problem = self.bench.jobs["explore"], None, None
        if study is not None and study.found.finalists and (job is None or not job.running):
            found = self._curve(seen, study.found.trials)
            if found is not None:
                curve, problem = found
        path = trying.study_of(self.bench, seen)
        report = None if path is None else trying.report_of(path)
        return {
            "study": study,
            "job": job,
            "reporting": self.bench.jobs["report"],
            "report": report.name if report is not None and report.is_file() else None,
            "curve": curve,
            "problem": problem,
            "quick": trying.QUICK,
            "typed_words": " ".join(["facsimile", *trying.explore_words(self.bench, seen, {})])
            if self.bench.public
            else None,
        }

    def _curve(self, seen: Seen, trials: int) -> tuple[Any, str | None] | None:
        """The planner's curve, or why there is none; None where it is not known yet."""
        path = trying.study_of(self.bench, seen)
        if path is None:
            return None
        found = self.bench.plans.begun((path, trials), lambda: trying.curves_of(path))
        if not found.done():
            return None
        error = found.exception()
        return (
            (None, trying.said(error)) if error is not None else (trying.curve_view(found.result().at()), None)
        )

    def show_rehearse(self, seen: Seen) -> Told:
        """Rehearsals of this specification, and their pages."""
        return {
            "job": self.bench.jobs["rehearse"],
            "verifying": self.bench.jobs["verify"],
            "bundles": trying.bundles(self.bench),
        }

    def show_decisions(self, seen: Seen) -> Told:
        """The log, newest first, with what changed."""
        log = self.bench.decisions()
        pairs = list(zip(log.entries, ("", *log.texts), log.texts, strict=False))
        return {"entries": [(e, differing(a, b)) for e, a, b in reversed(pairs)], "plan": seen.plan}

    def show_text(self, seen: Seen) -> Told:
        """The text itself."""
        return {}

    # Questions that change nothing

    def _asked(self, answer: Callable[[Request], Told]) -> Any:
        def refused_or(request: Request) -> Told:
            try:
                return answer(request)
            except FacsimileError as error:
                return {"refused": str(error)}
            except (ValueError, KeyError, StopIteration, ArithmeticError) as error:
                return {"refused": f"{error}." if isinstance(error, ValueError) else "That cannot be read."}

        async def told(request: Request) -> Response:
            return JSONResponse(await run_in_threadpool(refused_or, request))

        return told

    def ask_bins(self, request: Request) -> Told:
        """What other edges of an alternative would hold."""
        asked, seen = request.query_params, self.bench.seen()
        values = self.bench.read(seen)
        changes = columns.changed(seen, asked["column"], asked["alternative"], asked["edges"].split(","))
        spec = columns.tried(self.bench, seen, changes)
        table = None if values is None else values.table(spec)
        shown = columns.view(spec.column(asked["column"]), None, table)
        alternative = next(one for one in shown.alternatives if one.name == asked["alternative"])
        rows = None if table is None else columns.Rows.of(spec, table)
        return {
            "bins": [[b.label, b.records, b.number, b.values] for b in alternative.bins],
            "rows": None if rows is None else [rows.records, rows.distinct, rows.rarest, rows.unique, rows.row],
        }

    def ask_rule(self, request: Request) -> Told:
        """Which public records a rule would leave out."""
        seen, never = self.bench.seen(), request.query_params["never"]
        spec = columns.tried(self.bench, seen, [_new_rule(seen, "raw", never, "asked", "")])
        line = rules.raw_line(spec, self.bench.read(seen), len(spec.constraints.raw) - 1)
        shown = [[*example.values, example.records] for example in line.examples]
        return {"sentence": line.sentence, "records": line.records, "examples": shown, "names": spec.names}

    def ask_threshold(self, request: Request) -> Told:
        """What another threshold would cost."""
        asked, seen = request.query_params, self.bench.seen()
        criterion = next(c for c in seen.specification.criteria if c.name == asked["criterion"])
        outlook = self.bench.outlook(seen)
        epsilon = parse_decimal(asked["epsilon"]) if asked.get("epsilon") else None
        return criteria.cost(seen, outlook, criterion, parse_decimal(asked["threshold"]), epsilon)

    def ask_budget(self, request: Request) -> Told:
        """What another budget would mean."""
        seen = self.bench.seen()
        given = {name: request.query_params.get(name, "") for name in budget.PARTS}
        return budget.asked(columns.tried(self.bench, seen, _spending(seen, given)))

    # Deeds

    def _done(self, deed: Callable[[Form, Person, Author], str | None]) -> Any:
        async def done(request: Request) -> Response:
            form = _form(await request.body())
            person = self.door.person(request)
            good, words = await run_in_threadpool(self._tried, deed, form, person)
            if words:
                person.told.append((good, words))
            return RedirectResponse(local(form.get("back", "/")), 303)

        return done

    def _tried(
        self, deed: Callable[[Form, Person, Author], str | None], form: Form, person: Person
    ) -> tuple[str, str | None]:
        try:
            return "good", deed(form, person, Author(person.name, person.role))
        except FacsimileError as error:
            return "bad", str(error)
        except (ValueError, KeyError, IndexError, AttributeError, StopIteration) as error:
            return "bad", f"{error}." if isinstance(error, ValueError) else "That cannot be read."

    def introduce(self, form: Form, person: Person, author: Author) -> str | None:
        """Say who you are."""
        name, role = (form.get(key, "").strip()[:200] for key in ("name", "role"))
        if not name:
            raise refusal("E443")
        person.name, person.role = name, role
        return f"You are {name}{', ' + role if role else ''}."

    def invite(self, form: Form, person: Person, author: Author) -> str:
        """A link for somebody else on this machine."""
        return f"For one other person at this machine, once: {self.door.link()}"

    def draft(self, form: Form, person: Person, author: Author) -> None:
        """A first specification from the public file."""
        self.bench.refuse_confidential()
        given = {name: form.get(name, "").strip() for name in ("records", "title")}
        self.bench.jobs.start("draft", trying.draft_words(self.bench, given))

    def change(self, form: Form, person: Person, author: Author) -> str:
        """Set an item, or take it away."""
        item, given = form["item"], form.get("value", "")
        value: Any = GONE if form.get("gone") else given if form.get("prose") else read(given).data
        seen = UNSEEN if "seen" not in form else _unpacked(form["seen"])
        return self._changed([Change(item, value, seen)], form, author)

    def edges(self, form: Form, person: Person, author: Author) -> str:
        """Move, join and split bins."""
        seen, column, alternative = self.bench.seen(), form["column"], form["alternative"]
        found = columns.changed(seen, column, alternative, form["edges"].split(","))
        return self._changed(
            _as_seen(found, form, f"columns.{column}.alternatives.{alternative}"), form, author
        )

    def labels(self, form: Form, person: Person, author: Author) -> str:
        """Join categories under labels."""
        seen, column, alternative = self.bench.seen(), form["column"], form["alternative"]
        values = seen.specification.column(column).values or ()
        labels = {value: form.get(f"label {i}", value) for i, value in enumerate(values)}
        found = columns.relabelled(seen, column, alternative, labels)
        return self._changed(
            _as_seen(found, form, f"columns.{column}.alternatives.{alternative}"), form, author
        )

    def criterion(self, form: Form, person: Person, author: Author) -> str:
        """Set a criterion's threshold and what its measurement may spend."""
        old = _unpacked(form["seen"])
        given = {key: form[key].strip() for key in ("threshold", "epsilon") if form.get(key, "").strip()}
        changes = [
            Change(f"{form['item']}.{key}", value, old.get(key, GONE))
            for key, value in given.items()
            if value != old.get(key)
        ]
        return self._changed(changes, form, author)

    def rule(self, form: Form, person: Person, author: Author) -> str:
        """Add a rule."""
        seen, kind = self.bench.seen(), "raw" if form.get("kind") != "synthetic" else "synthetic"
        given = [form.get(name, "").strip() for name in ("never", "source", "bins")]
        return self._changed([_new_rule(seen, kind, *given)], form, author)

    def spend(self, form: Form, person: Person, author: Author) -> str:
        """Set the parts of the budget."""
        given = {name: form.get(name, "").strip() for name in budget.PARTS}
        changes = _spending(self.bench.seen(), given)
        old = _unpacked(form["seen"])
        found = [Change(one.item, one.value, old.get(one.item.partition(".")[2], GONE)) for one in changes]
        return self._changed(found, form, author)

    def comment(self, form: Form, person: Person, author: Author) -> str:
        """Say something of an item."""
        self.bench.agreed.comment(form["item"], form["words"].strip(), author)
        return f"Noted, on {form['item']}."

    def note(self, form: Form, person: Person, author: Author) -> str:
        """Note what was changed by other means."""
        words = self.bench.agreed.note(author, form["why"].strip())
        return f"Noted: {'; '.join(words)}."

    def sign(self, form: Form, person: Person, author: Author) -> str:
        """Sign the plan that the page showed."""
        signed = Author(author.name, form.get("role", "").strip() or author.role)
        plan = self.bench.agreed.sign(signed, form["plan"], form.get("why", "").strip())
        return f"Signed as {signed.role}: plan {plan[:16]}…"

    def take_text(self, form: Form, person: Person, author: Author) -> str:
        """Put a whole text in place of the one that was seen."""
        seen = self.bench.seen()
        if form["seen"] != seen.digest:
            raise refusal("E442", item=self.bench.path.name)
        ends = "\r\n" if "\r\n" in seen.text else "\n"
        text = form["text"].replace("\r\n", "\n").replace("\n", ends)
        words = self.bench.agreed.take(text, seen.text, author, form["why"].strip())
        return f"Saved: {'; '.join(words)}."

    def explore(self, form: Form, person: Person, author: Author) -> str | None:
        """Start a study of this text, or go on with it."""
        self.bench.refuse_confidential()
        asked = {name: form.get(name, "").strip() for name in ("trials", "fresh", "steps", "minutes")}
        self.bench.jobs.start("explore", trying.explore_words(self.bench, self.bench.seen(), asked))
        return None

    def stop(self, form: Form, person: Person, author: Author) -> str:
        """Stop what runs."""
        job = self.bench.jobs[form["kind"]]
        if job is not None:
            job.stop()
        return "Stopped. What was found is kept: starting again goes on with it."

    def report(self, form: Form, person: Person, author: Author) -> None:
        """Make the report of the study."""
        study = trying.study_of(self.bench, self.bench.seen())
        if study is None:
            raise refusal("E410")
        page = trying.report_of(study)
        page.unlink(missing_ok=True)
        self.bench.jobs.start("report", ["report", study.name, "-o", page.name])

    def take_plan(self, form: Form, person: Person, author: Author) -> str:
        """Make a point of the curve the specification."""
        seen = self.bench.seen()
        path = trying.study_of(self.bench, seen)
        if path is None:
            raise refusal("E410")
        curves = trying.curves_of(path)
        text = trying.plan_of(path, curves, curves.at().points[int(form["point"])]).text
        words = self.bench.agreed.take(text, seen.text, author, form["why"].strip())
        return f"The plan is the specification now: {'; '.join(words)}."

    def rehearse(self, form: Form, person: Person, author: Author) -> None:
        """Rehearse a release on the public file."""
        self.bench.refuse_confidential()
        out = trying.next_bundle(self.bench)
        words = trying.rehearse_words(self.bench, form.get("seed", "1"), out)
        self.bench.jobs.start("rehearse", words)

    def verify(self, form: Form, person: Person, author: Author) -> str:
        """Check a rehearsed bundle against itself."""
        folder = trying.artefact(self.bench, f"{form['bundle']}/manifest.json").parent
        found = verify(folder, allow_rehearsal=True).found
        return f"{folder.name} holds: every figure follows from the specification, the data and the noisy \
answers. Plan {found.plan_hash[:16]}…"

    def _changed(self, changes: list[Change], form: Form, author: Author) -> str:
        words = self.bench.agreed.change(changes, author, form.get("why", "").strip())
        return f"Saved: {'; '.join(words)}."

    async def _file(self, request: Request) -> Response:
        try:
            path = await run_in_threadpool(trying.artefact, self.bench, request.path_params["name"])
        except (FacsimileError, OSError, ValueError):
            return HTMLResponse(str(refusal("E445")), 404)
        if path.suffix in WALLED:
            return FileResponse(path, headers={"Content-Security-Policy": THEIRS}, media_type="text/html")
        return FileResponse(path, filename=path.name)


def _form(body: bytes) -> Form:
    """The fields of a form; nothing where it is none."""
    try:
        return dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        return {}


def _as_seen(changes: list[Change], form: Form, item: str) -> list[Change]:
    """The changes, the one of this item held against what the page showed."""
    old = _unpacked(form["seen"])
    return [Change(one.item, one.value, old if one.item == item else one.seen) for one in changes]


def _unpacked(text: str) -> Any:
    """What a page saw, as it was told: null stands for nothing there."""
    found = json.loads(text)
    return GONE if found is None else found


def _new_rule(seen: Seen, kind: str, never: str, source: str, bins: str) -> Change:
    """A further rule at the end of its list, which is made where there is none."""
    rule = (
        {"never": never}
        | ({"bins": bins} if bins == "any" and kind == "synthetic" else {})
        | {"source": source}
    )
    there = seen.data["constraints"].get(kind)
    if not there:
        return Change(f"constraints.{kind}", [rule])
    return Change(f"constraints.{kind}.{len(there) + 1}", rule, GONE)


def _spending(seen: Seen, given: Mapping[str, str]) -> list[Change]:
    """The parts of the budget that differ from what is declared."""
    old = seen.data["budget"]
    found = []
    for name in budget.PARTS:
        now, new = old.get(name), given.get(name, "").strip()
        if new != (now or ""):
            found.append(Change(f"budget.{name}", new or GONE, GONE if now is None else now))
    return found


def differing(before: str, after: str) -> list[tuple[str, str]]:
    """The lines that differ, each with a sign: what went, what came, and the line before them."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1)
    return [(line[:1], line[1:]) for line in lines if not line.startswith(("---", "+++"))] if before else []


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("facsimile.workbench"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"count": count, "packed": lambda value: json.dumps(value, ensure_ascii=False)}
    return found


def _html(template: str, context: Told, status: int = 200) -> Response:
    return HTMLResponse(_templates().get_template(template).render(context), status)


class Serving(uvicorn.Server):
    """A server that does something beside, once it answers."""

    def __init__(self, config: uvicorn.Config, then: Callable[[], object]) -> None:
        super().__init__(config)
        self._then = then

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen; from now on requests are answered."""
        await super().startup(sockets)
        if self.started:
            threading.Thread(target=self._then, daemon=True).start()


def server(bench: Bench, door: Door, then: Callable[[], object] = lambda: None) -> uvicorn.Server:
    """What serves the bench, and does `then` once it answers; it writes no log, since addresses hold tokens."""
    application = Workbench(bench, door).app
    quiet = {"log_level": "critical", "access_log": False, "server_header": False}
    return Serving(uvicorn.Config(application, timeout_graceful_shutdown=2, **quiet), then)  # type: ignore[arg-type]


def listening(port: int) -> socket.socket:
    """A socket of this machine's own address, and no other; port 0 is any free one."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError:
        found.close()
        raise refusal("E446", port=str(port)) from None
    found.listen(128)
    return found


def bench_of(specification: Path, public: Address | None) -> Bench:
    """A bench for a file that may not be there yet; refused where what is called public is not."""
    if not specification.absolute().parent.is_dir():
        raise refusal("E403")
    bench = Bench(specification, public)
    bench.refuse_confidential()
    if public is not None and public.scheme == "file" and (public.file is None):
        raise refusal("E101")
    if not bench.there and public is None:
        raise refusal("E212", file=specification.name)
    return bench
