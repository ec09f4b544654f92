"""Trying on the page: explore configurations, see which criterion fails, choose a plan, rehearse a release."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from facsimile.api.plans import KEEP, NOISE, PlannedRelease, plan
from facsimile.errors import FacsimileError, refusal
from facsimile.explore.curve import Curve, Point
from facsimile.explore.options import BOUNDED, levels, options
from facsimile.explore.race import LEAST_TRIALS
from facsimile.explore.run import Summary, summary
from facsimile.explore.study import Study
from facsimile.release import bundle
from facsimile.release.check import show_upper
from facsimile.spec.choices import SchemeName
from facsimile.workbench.bench import Bench, Seen

RULE = ("trials", "fresh", "steps")
REPORT = r"\.[0-9a-f]{8}-[0-9x]+-[0-9x]+-[0-9x]+\.report\.html"
QUICK = {"trials": "3", "fresh": "8", "steps": "0", "minutes": "2"}
"""A first look; for a study to rely on: leave the fields empty."""
MOST_BUNDLES = 50


@dataclass(frozen=True)
class Failing:
    """A criterion, and the trials that it ended."""

    name: str
    trials: int
    share: float


@dataclass(frozen=True)
class StudyView:
    """Where the study of this very specification stands."""

    name: str
    found: Summary
    failing: tuple[Failing, ...]
    accepted: int


def study_name(bench: Bench, seen: Seen, asked: Mapping[str, str]) -> str:
    """Each text of the specification and each way to race has a study of its own, which the same button goes on
    with."""
    rule = "-".join(_number(asked[name]) if asked.get(name) else "x" for name in RULE)
    return bench.beside(f"{seen.digest[:8]}-{rule}.study")


def study_of(bench: Bench, seen: Seen) -> Path | None:
    """The study of this text that was worked on last."""
    found = bench.folder.glob(bench.beside(f"{seen.digest[:8]}-*.study"))
    return max(found, key=lambda path: path.stat().st_mtime_ns, default=None)


def report_of(study: Path) -> Path:
    """Where the report of a study is written."""
    return study.with_suffix(".report.html")


def explore_words(bench: Bench, seen: Seen, asked: Mapping[str, str]) -> list[str]:
    """The command that explores, with what the form asked for."""
    if bench.public is None:
        raise refusal("E444")
    words = ["explore", bench.path.name, "--data", address(bench), "--public", "-o"]
    words.append(study_name(bench, seen, asked))
    for name in RULE:
        if asked.get(name):
            words += [f"--{name}", _number(asked[name])]
    if asked.get("minutes"):
        words += ["--time-limit", f"{_number(asked['minutes'])}m"]
    return words


def draft_words(bench: Bench, asked: Mapping[str, str]) -> list[str]:
    """The command that drafts a specification."""
    if bench.public is None:
        raise refusal("E444")
    words = ["init", "--public", address(bench), "-o", bench.path.name]
    if asked.get("records"):
        words += ["--records", _number(asked["records"].replace(",", ""), 12)]
    return [*words, *(["--title", asked["title"]] if asked.get("title") else [])]


def address(bench: Bench) -> str:
    """Where the public file is, from any folder."""
    public = bench.public
    assert public is not None
    if public.path is None:
        return public.identity
    table = "" if public.table is None else f"#{public.table}"
    return f"{public.path.absolute()}{table}"


def _number(text: str, digits: int = 6) -> str:
    if not re.fullmatch(f"[0-9]{{1,{digits}}}", text.strip()):
        raise refusal("E001", problem=f"{text[:20]} is not a whole number.", command="facsimile workbench")
    return text.strip()


def study_view(bench: Bench, seen: Seen) -> StudyView | None:
    """What the study's file holds by now; None where there is none."""
    path = study_of(bench, seen)
    if path is None:
        return None
    study = Study.open(path)
    trials = study.trials()
    unmet = [next((r.criterion for r in t.readings if not r.met), t.refused) for t in trials if not t.accepted]
    counted = Counter(name for name in unmet if name).most_common()
    failing = tuple(Failing(name, n, n / max(len(trials), LEAST_TRIALS)) for name, n in counted)
    found = summary(study, False, trials)
    return StudyView(path.name, found, failing, sum(t.accepted for t in trials))


@dataclass(frozen=True)
class Choice:
    """A point of the planner's curve, as people choose it."""

    place: int
    total: str
    release: float
    span: str
    variant: str
    x: float
    y: float


@dataclass(frozen=True)
class CurveView:
    """The planner's curve: what a total buys."""

    choices: tuple[Choice, ...]
    variants: tuple[str, ...]
    most: str


def curve_of(path: Path) -> Curve:
    """The curve of a study."""
    study = Study.open(path)
    return Curve.of(options(study.setup.specification, levels(study), KEEP, NOISE))


def curve_view(curve: Curve) -> CurveView | None:
    """The curve of the schemes that bound the chance of a bad release, as a picture of 1000 × 300; None where
    it has no point."""
    points = [(place, point) for place, point in enumerate(curve.points) if point.scheme in BOUNDED]
    if not points:
        return None
    most = max(point.total for _, point in points)
    choices = tuple(
        Choice(
            place,
            show_upper(point.total),
            point.release,
            point.span,
            point.variant,
            round(float(point.total / most) * 960 + 20, 1),
            round(280 - 260 * point.release, 1),
        )
        for place, point in points
    )
    return CurveView(choices, tuple(dict.fromkeys(c.variant for c in choices)), show_upper(most))


def planned(path: Path, point: Point) -> PlannedRelease:
    """The plan that a point of the curve stands for."""
    scheme: SchemeName = point.option.scheme
    study, valued = Study.open(path), point.option.valued
    found = plan(study, accept=point.release, scheme=scheme, total=point.total, values=valued)
    assert isinstance(found, PlannedRelease)
    return found


@dataclass(frozen=True)
class BundleView:
    """A rehearsed release, and the pages of it that can be opened."""

    name: str
    title: str
    epsilon: str
    files: tuple[str, ...]
    criteria: tuple[Mapping[str, Any], ...]


def rehearse_words(bench: Bench, seed: str, out: str) -> list[str]:
    """The command that rehearses."""
    if bench.public is None:
        raise refusal("E444")
    words = ["release", bench.path.name, "--data", address(bench), "--rehearse", "--seed", _number(seed)]
    return [*words, "-o", out, "--json"]


def next_bundle(bench: Bench) -> str:
    """A name that is not taken."""
    for number in range(1, 1000):
        name = bench.beside(f"rehearsal-{number}")
        if not (bench.folder / name).exists():
            return name
    raise refusal("E401")


def bundles(bench: Bench) -> list[BundleView]:
    """The rehearsed releases beside the specification, the latest first."""
    found = sorted(
        bench.folder.glob(bench.beside("rehearsal-*")), key=lambda path: int(path.name.rpartition("-")[2] or 0)
    )
    views = (bundle_view(path) for path in reversed(found[-MOST_BUNDLES:]))
    return [one for one in views if one is not None]


def bundle_view(path: Path) -> BundleView | None:
    """A folder that is a rehearsed bundle; None for any other."""
    try:
        if path.is_symlink() or not json.loads((path / bundle.MANIFEST).read_bytes())["rehearsal"]:
            return None
        said = json.loads((path / bundle.REPORT).read_bytes())
        files = tuple(sorted(name for name in bundle.listed(path) if bundle.ours(name)))
        return BundleView(path.name, said["title"], said["epsilon"], files, tuple(said["criteria"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def artefact(bench: Bench, name: str) -> Path:
    """A file that the page may show: of a rehearsed bundle, or a report of a study that was made here.

    Nothing else of the folder is ever served, and nothing outside it, whatever the address says.
    """
    first, _, rest = name.partition("/")
    folder = bench.folder / first
    if rest and first.startswith(bench.beside("rehearsal-")) and "/" not in first:
        found = bundle_view(folder)
        if found is not None and rest in found.files:
            return _plain(folder / rest, folder)
    elif not rest and re.fullmatch(re.escape(bench.path.stem) + REPORT, first):
        return _plain(folder, bench.folder)
    raise refusal("E445")


def _plain(path: Path, folder: Path) -> Path:
    """A file that is there, behind no link."""
    if path.is_symlink() or not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise refusal("E445")
    return path


def said(error: BaseException) -> str:
    """An error as people read it."""
    return str(error) if isinstance(error, FacsimileError) else "This could not be worked out."
