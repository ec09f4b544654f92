"""Every sentence of a page follows from the release: each claim stands there exactly where it is true.

Predicates speak of the specification, the table and the noisy answers, not of what the documents made of them.
A sentence that no claim covers fails too, so a new one needs its predicate here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, cached_property
from html.parser import HTMLParser
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from documents.drawn import KINDS, Drawn, laplace, releases
from facsimile.acceptance.bounds import bound, level
from facsimile.acceptance.kind import kind_of
from facsimile.documents import readme
from facsimile.documents.metadata import REHEARSAL
from facsimile.privacy.modes import mode_of
from facsimile.spec.bins import CategoryBin, NumberBin
from facsimile.spec.columns import Constant
from facsimile.spec.criteria import Criterion

Predicate = Callable[[Drawn], bool]


@cache
def bounds(d: Drawn) -> dict[str, float | None]:
    """Each criterion's bound, all of them sharing 5 %; in scheme measured, no threshold is beyond them."""
    sharing = sum(map(laplace, d.release.measured))
    if measured(d):
        mode = replace(mode_of(d.specification.selection), false_accept=Fraction(1, 20))
        alpha = mode.luck / (sharing + bool(joined(d)))
    else:
        alpha = level(sharing)
    spent = {m.criterion.name: m.criterion.epsilon or d.specification.budget.test for m in d.release.measured}
    found = {
        m.criterion.name: bound(m, spent[m.criterion.name] or Fraction(0), d.in_loop, alpha)
        for m in d.release.measured
    }
    if not measured(d):
        return found
    limits = {c.name: float(c.threshold) for c in d.specification.criteria}
    return {name: limits[name] if one is None else min(one, limits[name]) for name, one in found.items()}


def measured(d: Drawn) -> bool:
    return scheme(d) == "measured"


def joined(d: Drawn) -> list[str]:
    """The criteria that share one number."""
    return [c.name for c in d.specification.criteria if not c.epsilon]


def some_joined(d: Drawn) -> bool:
    return bool(joined(d))


def some_alone(d: Drawn) -> bool:
    return len(joined(d)) < len(d.specification.criteria)


def by_one_test(d: Drawn) -> bool:
    """A joint test decided, and other noise was published."""
    return scheme(d) in ("test-then-measure", "train-once")


def bounded(d: Drawn) -> list[str]:
    return [name for name, found in bounds(d).items() if found is not None]


def kinds_bounded(d: Drawn) -> set[str]:
    """Kinds with a bound; a query's mean is a kind of its own."""
    names = set(bounded(d))
    return {
        c.criterion + ("-of" if c.criterion == "query" and c.of else "")
        for c in d.specification.criteria
        if c.name in names
    }


def form(d: Drawn) -> str:
    return d.specification.statistic


def stands_in(d: Drawn) -> set[str]:
    """What is bounded in place of its error."""
    wanted = {"mean", "proportion", "query-of", "correlation"}
    wanted |= {"regression-mae", "regression-coefficients", "logistic-coefficients"}
    return kinds_bounded(d) & wanted


def regresses(d: Drawn) -> bool:
    return d.has("regression-coefficients", "regression-mae", "logistic-coefficients")


def grouped(d: Drawn) -> list[str]:
    """Criteria that compare groups."""
    return [c.name for c in d.specification.criteria if c.criterion in ("mean", "proportion") and c.by]


def close(d: Drawn) -> list[str]:
    """Those whose bound speaks of whole groups."""
    return [name for name in grouped(d) if bounds(d)[name] is not None and form(d) == "sharp"]


def near(d: Drawn) -> bool:
    return bool(close(d))


def means(d: Drawn) -> bool:
    return d.has("mean") or any(c.criterion == "query" and c.of for c in d.specification.criteria)


def counts(d: Drawn) -> bool:
    tables = (
        "marginals-absolute",
        "marginals-relative",
        "marginals-tail",
        "ranges-absolute",
        "total-variation",
    )
    return d.has(*tables)


def raw(d: Drawn) -> bool:
    return bool(d.specification.constraints.raw)


def read_by_any(d: Drawn) -> bool:
    return any(rule.bins == "any" for rule in d.specification.constraints.synthetic)


def rules(d: Drawn) -> bool:
    return raw(d) or bool(d.specification.constraints.synthetic)


def declared(d: Drawn) -> bool:
    return d.specification.constraints.policy == "declared"


def drops(d: Drawn) -> bool:
    return any("drop" in (c.missing, c.malformed, c.outside) for c in d.specification.columns)


def left_out(d: Drawn) -> bool:
    return declared(d) and (raw(d) or drops(d))


def rare(d: Drawn) -> int:
    return int(d.configuration.projection["min_count"])


def unique(d: Drawn) -> bool:
    return bool((d.table.counts == 1).any())


def mode(d: Drawn) -> str:
    return d.specification.selection.mode


def several(d: Drawn) -> bool:
    return mode(d) != "single"


def scheme(d: Drawn) -> str:
    return d.specification.scheme


def refitted(d: Drawn) -> bool:
    """Coefficients were compared with a noisy regression, not measured with noise."""
    return d.has("regression-coefficients") and form(d) == "paper"


def clipped(d: Drawn) -> bool:
    return d.in_loop and form(d) == "paper" and d.has("marginals-relative")


def given_at(d: Drawn) -> bool:
    return any(getattr(c, "tested_at", None) is not None for c in d.specification.criteria)


def lot(d: Drawn) -> bool:
    return d.specification.drawable.size > 1


def coarse(d: Drawn) -> bool:
    return any(
        (isinstance(b, NumberBin) and (b.low is None or b.low != b.high))
        or (isinstance(b, CategoryBin) and len(b.values) > 1)
        for axis in d.table.domain.axes
        for b in axis.bins
    )


def leaned(*kinds: str) -> Predicate:
    """The plan names a prior of one of these kinds."""
    return lambda d: any(getattr(d.specification.prior, kind, None) is not None for kind in kinds)


def leans(*kinds: str) -> Predicate:
    """So it does, and the model that was drawn uses it."""
    return lambda d: leaned(*kinds)(d) and d.configuration.family == "workload"


def many(d: Drawn) -> bool:
    return len(d.specification.criteria) > 1


def rehearsed(d: Drawn) -> bool:
    return d.rehearsal


def released(d: Drawn) -> bool:
    return not d.rehearsal


def always(d: Drawn) -> bool:
    return True


def values(d: Drawn) -> dict[str, float | None]:
    return {m.criterion.name: None if m.value is None else float(m.value) for m in d.release.measured}


def shares(d: Drawn) -> list[float]:
    """All that the chart of the criteria draws, in thresholds."""
    limits = {c.name: float(c.threshold) for c in d.specification.criteria}
    shown = [(n, v) for n, v in values(d).items() if v is not None or n in joined(d)]
    drawn = [(n, x) for n, v in shown for x in (v, bounds(d)[n]) if x is not None]
    return [x / limits[name] for name, x in drawn]


def beyond(d: Drawn) -> bool:
    limits = {c.name: c.threshold for c in d.specification.criteria}
    return any(v is None or v >= limits[name] for name, v in values(d).items() if name not in joined(d))


def approximate(d: Drawn) -> bool:
    return bool(d.specification.budget.delta)


def risky(d: Drawn) -> bool:
    """The number of records times δ is no small chance."""
    return d.specification.budget.delta * d.table.n > Fraction(1, 1000)


def large(d: Drawn) -> bool:
    return Fraction(d.report.epsilon) >= 3


def nearly(d: Drawn) -> bool:
    """Nearly every guess about one record may be right."""
    return Fraction(d.report.epsilon) > Fraction("4.595")


def each_counted(d: Drawn) -> bool:
    """Every count has a bound, or there are three other numbers that have one."""
    return bool(kinds_bounded(d) & {"marginals-absolute", "marginals-relative"})


def guaranteed(d: Drawn) -> bool:
    """A bound speaks of a count, or of a mean or a share of all records."""
    whole = {"mean", "proportion"} if form(d) == "sharp" else set()
    return each_counted(d) or bool(kinds_bounded(d) & whole)


def published(key: str) -> Predicate:
    def found(d: Drawn) -> bool:
        publisher = d.specification.publisher
        return publisher is not None and getattr(publisher, key) is not None

    return found


def governed(key: str) -> Predicate:
    def found(d: Drawn) -> bool:
        return d.specification.governance is not None and bool(getattr(d.specification.governance, key))

    return found


def named(*keys: str) -> Predicate:
    return lambda d: any(governed(key)(d) for key in keys)


def dated(d: Drawn) -> bool:
    governance = d.specification.governance
    return governance is not None and any(approval.when for approval in governance.approvals)


def sourced(part: str) -> Predicate:
    return lambda d: getattr(d.specification, part).source is not None


def told_why(d: Drawn) -> bool:
    return any(c.source or c.threshold_source for c in d.specification.criteria)


def chosen(*parts: str) -> Predicate:
    """The sources of exactly these parts."""
    return lambda d: {p for p in ("budget", "selection", "projection") if sourced(p)(d)} == set(parts)


def no(one: Predicate) -> Predicate:
    return lambda d: not one(d)


def both(*parts: Predicate) -> Predicate:
    return lambda d: all(part(d) for part in parts)


def uncovered(d: Drawn) -> bool:
    everything = counts(d) and d.has("mean") and d.has("quantile") and d.has("correlation")
    return not (everything and regresses(d)) or unmeant(d)


def unmeant(d: Drawn) -> bool:
    """Some means are compared, but not that of the second column of numbers."""
    return d.has("mean") and d.specification.column("sex").numbers is not None


def numbered(d: Drawn) -> bool:
    return wide(d) or d.specification.column("sex").numbers is not None


def wide(d: Drawn) -> bool:
    """Ages in ranges, not in single years."""
    return d.table.domain.axis("age").labels[0] == "<18"


CLAIMS: dict[str, Predicate] = {
    # head
    r"Synthetic data with differential privacy": released,
    r"Rehearsal of a release with differential privacy": rehearsed,
    r"Planned privacy loss": rehearsed,
    r"Version 3": published("version"),
    # in one page
    r"A table with 60 rows and [23] columns that resembles a confidential file\.": always,
    r"A computer program drew every row by chance: no row is a person\.": always,
    r"One row has the form of one record: one person\.": always,
    r"A release would be made from: The register of people\.": both(rehearsed, published("provenance")),
    r"Public or simulated data took the place of the confidential file": rehearsed,
    r"What follows is what a release by this plan would promise": rehearsed,
    r"Somebody who knows every other record guesses one fact in yours, yes or no": always,
    r"Without this release, 50 of 100 such guesses are right": no(nearly),
    r"With it, at most [5-9][0-9] of 100 ?: odds of 1 to 1 become at most": no(nearly),
    r"such a reader may be right nearly always: ε = [0-9.]+ is large": nearly,
    r"This may fail one person with a chance of δ = (?:10⁻⁹|0\.001)": approximate,
    r"A real reader usually learns far less": always,
    r"where this document gives a guarantee": lambda d: bool(kinds_bounded(d) - {"faithfulness"}),
    r"A first answer, before you ask for the confidential file": always,
    r"Preparing an analysis, teaching, studying methods": always,
    r"Finding people, or decisions about one person": always,
    r"Small groups, rare combinations, unusual cases": always,
    r"The bounds of this release hold together with a probability of at least 95 %": lambda d: (
        guaranteed(d) and len(bounded(d)) > 1 and not measured(d)
    ),
    r"This release has no bound that speaks of these numbers": no(guaranteed),
    r"They show the table, and are no statement about the confidential file": no(guaranteed),
    r"Confidential file: [0-9.,]+": guaranteed,
    r"No bound: nobody can say how far it is off": lambda d: not each_counted(d),
    # what this data is
    r"The file is a table with 60 rows and [23] columns\.": always,
    r"Each row has the form of a record: one person\.": always,
    r"No row is a person\.": always,
    r"A computer program drew every row by chance from a statistical model of a confidential file\.": always,
    r"The table as a whole resembles that file; a single row is about nobody\.": always,
    r"A row that looks like somebody you know is a coincidence\.": always,
    r"This is a rehearsal\.": rehearsed,
    r"Where this document speaks of a confidential file, public or simulated data took its place\.": rehearsed,
    r"it says what a release by the same plan would do\.": rehearsed,
    r"is the number of records in the data used here\.": both(rehearsed, no(left_out)),
    r"in the data used here, without those that were left out\.": both(rehearsed, left_out),
    r"For a release the number is declared in public\.": rehearsed,
    r"is the number of records in the confidential file\.": both(released, no(left_out)),
    r"in the confidential file, without those that were left out\.": both(released, left_out),
    r"That number is public\.": released,
    r"The same table comes as text \(data\.csv\) and in a compact form \(data\.parquet\)\.": always,
    r"datapackage\.json describes both for programs": always,
    r"The publisher is An office": published("name"),
    r"The licence of the table and of its documents is CC0-1\.0": both(released, published("licence")),
    r"The release is found at https://doi\.org/10\.1234/abc": both(released, published("doi")),
    r"The confidential file is: The register of people\.": both(released, published("provenance")),
    r"A release by this plan would be made from: The register": both(rehearsed, published("provenance")),
    # columns
    r"Every column holds a fixed list of values\.": always,
    r"A value that is a range or a group stands for all that it covers": coarse,
    r"a value counts as the number shown beside it in grey\.": numbered,
    r"Every row has a value\.": lambda d: any(c.missing_bin is None for c in d.specification.columns),
    r"means that the value is missing\.": lambda d: any(
        c.missing_bin is not None for c in d.specification.columns
    ),
    r"A blank was read as 18\.": lambda d: isinstance(d.specification.column("age").missing, Constant),
    r"A value that is not listed was read as sea\.": lambda d: "area" in d.specification.names,
    r"A number beyond the list was moved": lambda d: d.specification.column("age").outside == "clip",
    r"A record (?:without a usable value here|with a value that is not listed) was left out\.": drops,
    r"less than 18": wide,
    r"more than 64": wide,
    r"land \(north or south\)": lambda d: "area" in d.specification.names,
    # uses
    r"Statistics of the kinds that have a guarantee below\.": lambda d: bool(bounded(d)),
    r"A first answer, before you ask for access": always,
    r"Preparing and testing an analysis": always,
    r"Teaching, and the study of statistical methods": always,
    r"Looking for a person, or joining the rows": always,
    r"The rows are not people\.": always,
    r"Decisions about a single person": always,
    r"Small groups, rare combinations of values, and unusual cases": always,
    r"They are the least reliable part of the file": always,
    r"Results that matter and rest on a question without a guarantee": always,
    r"Have them checked against the confidential file first": always,
    # questions
    r"For this question the error was measured": lambda d: len(bounded(d)) == 1,
    r"For these questions the error was measured": lambda d: len(bounded(d)) > 1,
    r"This holds with a confidence of 95 %": lambda d: len(bounded(d)) == 1 and not measured(d),
    r"bounds hold together with a confidence of 95 %": lambda d: len(bounded(d)) > 1 and not measured(d),
    r"Part 2 says how each was measured": lambda d: bool(bounded(d)),
    r"At most [−0-9]": lambda d: bool(bounded(d)),
    r"the bound is on a figure that stands in for the error": lambda d: bool(stands_in(d)),
    r"The known limits say which": lambda d: bool(stands_in(d)),
    r"No question has one\.": lambda d: not bounded(d),
    r"For no condition of this release can a bound be given\.": lambda d: not bounded(d),
    r"Means are of the numbers that stand for bins, not of the original values\.": means,
    r"Each value or range of a column counts as one number\.": means,
    r"shows it in grey where it differs from the value": means,
    r"The mean of the original values can be another": means,
    r"Every other question\.": always,
    r"The table will answer it, and nothing in this document says how far the answer is off": always,
    r"In particular:": always,
    r"It was a condition of the release, but no bound can be given": lambda d: len(bounded(d)) < len(bounds(d)),
    r"What no condition of this release speaks of": uncovered,
    r"speaks of: [^.]*counts and shares": no(counts),
    r"speaks of: [^.]*means of a column": lambda d: not d.has("mean"),
    r"speaks of: [^.]*medians and other quantiles": lambda d: not d.has("quantile"),
    r"speaks of: [^.]*correlations": lambda d: not d.has("correlation"),
    r"speaks of: [^.]*regression": lambda d: not regresses(d),
    r"the mean of sex": unmeant,
    r"Groups that the sentences above do not name": always,
    r"Relations between columns that no sentence above covers": always,
    r"Extremes, outliers and rare combinations of values": always,
    r"Standard errors, confidence intervals and tests that treat the rows as a sample": always,
    r"so they look more certain than they are": always,
    # people
    r"Who is behind it": named("partners", "requirements", "approvals", "legal_basis", "ethics_review"),
    r"Partners: who took part in this plan\. Partner Organisation A steward An office Ada A reader –": governed(
        "partners"
    ),
    r"Partners: who took part in this plan\.": governed("partners"),
    r"What was asked for": governed("requirements"),
    r"What was asked for Format\. A table of records\.": governed("requirements"),
    r"Approvals, as the plan names them\.": governed("approvals"),
    r"It gives no days\.": both(governed("approvals"), no(dated)),
    r"them\. It gives no days\. By Of what A board The plan": both(governed("approvals"), no(dated)),
    r"them\. By Of what When A board The plan February 2024 Ada The rest –": dated,
    r"Laws that govern it\.": governed("legal_basis"),
    r"Review of its ethics\.": governed("ethics_review"),
    r"Laws that govern it\. The law of statistics\.": governed("legal_basis"),
    r"Review of its ethics\. A review took place\.": governed("ethics_review"),
    # cite and feedback
    r"A rehearsal is not for publication, so there is nothing to cite\.": rehearsed,
    r"Please name the data as synthetic": released,
    r"An office: Small, version 3\.": both(released, published("version")),
    r"An office: Small\.": lambda d: released(d) and published("name")(d) and not published("version")(d),
    r"Synthetic data with differential privacy, ε = [0-9.]+, 3 February 2026\.": both(
        released, no(approximate)
    ),
    r"Synthetic data with differential privacy, ε = [0-9.]+, δ = [^,]+, 3 February 2026\.": both(
        released, approximate
    ),
    r"Fingerprint of the table \(SHA-256\)": always,
    r"Was a question missing that you need\?": always,
    r"Did a figure surprise you\?": always,
    r"Is a sentence here hard to understand\?": always,
    r"Your answer shapes the next release\.": always,
    r"Please send it to the publisher of this file": no(named("contact", "feedback")),
    r"Please send it to (?:data@|https://office\.example/contact)": both(
        governed("contact"), no(governed("feedback"))
    ),
    r"Please send it to https://office\.example/feedback": governed("feedback"),
    r"If you believe that the data gives away something about a person": always,
    r"please report it to the publisher of this file": no(governed("contact")),
    r"please report it to (?:data@|https://)office\.example": governed("contact"),
    # quality
    r"one condition was fixed: an error, and a threshold": no(many),
    r"[0-9]+ conditions were fixed: for each an error": many,
    r"The error compares this table with the confidential file\.": always,
    r"It is published with noise, because an exact error would say something": always,
    r"Each measured error \(dot\) beside its threshold": some_alone,
    r"The bound of each error beside its threshold": no(some_alone),
    r"A line without a dot has no value\.": both(some_alone, some_joined),
    r"All conditions (?:share|has) one noisy number, which gives (?:each|it) a bound and no value": both(
        some_joined, no(some_alone)
    ),
    r"[0-9]+ conditions share one noisy number, which gives each a bound": lambda d: (
        some_alone(d) and len(joined(d)) > 1
    ),
    r"One condition has one noisy number, which gives it a bound": lambda d: (
        some_alone(d) and len(joined(d)) == 1
    ),
    r"The chance of a release with (?:its bound|one of its [0-9]+ bounds) wrong was at most 5 %\.": measured,
    r"The line ends at the bound\.": lambda d: bool(bounded(d)),
    r"A broken line means that there is no bound\.": lambda d: any(
        v is not None and bounds(d)[name] is None for name, v in values(d).items()
    ),
    r"What lies outside the chart is drawn at its edge\.": lambda d: any(not 0 <= x <= 1.5 for x in shares(d)),
    r"What was measured\.": always,
    r"All [0-9]+ bounds hold together with a probability of at least 95 %": lambda d: (
        len(bounded(d)) > 1 and not measured(d)
    ),
    r"The bound holds with a probability of at least 95 %": lambda d: len(bounded(d)) == 1 and not measured(d),
    r"Where the conditions come from: who asked for each and who set its threshold": told_why,
    # groups
    r"Group by group": lambda d: bool(grouped(d)),
    r"One condition compares groups of records\.": lambda d: len(grouped(d)) == 1,
    r"[0-9]+ conditions compare groups of records\.": lambda d: len(grouped(d)) > 1,
    r"One error was measured for all groups of a condition together: the largest\.": lambda d: bool(grouped(d)),
    r"So its bound holds for each of them: the confidential figure of a group lies within the distance given "
    r"here, if the confidential file has at least as many records in the group as the last column says": near,
    r"With half as many there, the distance is twice as large\.": near,
    r"Where no distance is given, there is no bound, or it speaks of records that were drawn": lambda d: (
        len(close(d)) < len(grouped(d))
    ),
    # charts
    r"The bars count rows of this table, not people\.": always,
    r"Ranges may differ in width": coarse,
    # measured
    r"The noise of each measurement\.": always,
    r"“Tested at”, Δ and σ are on the scale of the statistic": always,
    r"One noisy number, at ε = [0-9.]+, speaks for the (?:condition|[0-9]+ conditions) marked": some_joined,
    r"each group or count in units of its own Δ; the table shows the largest": some_joined,
    r"Below zero means that (?:the condition is|all of them are) met": some_joined,
    r"It had to be at most [−0-9.,]+ and is [−0-9.,]+; its noise has a standard deviation of": some_joined,
    r"The σ of (?:this condition|these conditions) is that noise times Δ": some_joined,
    r"that coefficients were compared with": lambda d: (
        "refit" in d.fits and d.fits.get("fit") != d.fits["refit"]
    ),
    r"that predictions were compared with": lambda d: "fit" in d.fits and d.fits.get("refit") != d.fits["fit"],
    r"that coefficients and predictions were compared with": lambda d: (
        len(d.fits) == 2 and d.fits["fit"] == d.fits["refit"]
    ),
    r"It was fitted to the confidential file with noise": lambda d: bool(d.fits),
    r"Numbers that stand for values\.": numbered,
    r"Means, correlations and regressions are of these numbers": numbered,
    # privacy
    r"A rehearsal protects nobody\.": rehearsed,
    r"Its noise comes from a seed that is known\.": rehearsed,
    r"This section says what a release by the same plan would promise": rehearsed,
    r"The method is called differential privacy\.": always,
    r"Chance enters every step that reads the confidential file": always,
    r"How little is a number, ε \(epsilon\)\.": always,
    r"for everything together: the table, the measured errors and this document\.": always,
    r"How often that may fail is another one, δ \(delta\)\.": approximate,
    r"Here ε = [0-9.]+ for everything": no(approximate),
    r"Here ε = [0-9.]+ and δ = [^,]+ for everything": approximate,
    r"(?:It|The ε) is rounded up from": lambda d: len(d.report.epsilon.partition(".")[2]) > 2,
    r"A smaller ε protects more; 0 would mean": no(approximate),
    r"A smaller ε protects more, and so does a smaller δ; 0 for both would mean": approximate,
    r"Take one record and put any other in its place\.": always,
    r"Whatever is published could also have been published then": no(approximate),
    r"Whatever somebody looks for in what is published, the chance to find it there changes by": approximate,
    r"and beyond that by at most δ\.": approximate,
    r"unless the rare chance δ has come true": approximate,
    r"δ = (?:10⁻⁹|0\.001) is one in [0-9,]+: the chance that the promise of ε fails": approximate,
    r"Think of a lot that is drawn first\.": approximate,
    r"With a probability of 1 − δ, everything said above holds for this person": approximate,
    r"With a probability of δ, nothing is promised to this person": approximate,
    r"The promise is made for each of the 60 records\.": approximate,
    r"fails anybody is at most 60 × δ = (?:6 × 10⁻⁸, one in 16,666,666|0\.06, one in 16)\.": approximate,
    r"That is not small\.": risky,
    r"the number of records times δ is far below one in a thousand": risky,
    r"With ε alone there is no such exception\.": approximate,
    r"That is the stronger promise, and the one that is recommended for small tables": approximate,
    r"A plan declares δ to use Gaussian noise": approximate,
    r"The Gaussian noise is in whole numbers, and it was drawn exactly": approximate,
    r"The tests and the measured errors have noise of ε alone\.": approximate,
    r"protected at 2ε = [0-9.]+ with a δ of [^,]+, a person with three at 3ε with a larger δ": approximate,
    r"An example\.": always,
    r"Somebody knows every other record of the file": always,
    r"Before the publication, the chances are even": always,
    r"After reading everything in this release, the odds are at most": always,
    r"In other words, 50 % becomes something between": always,
    r"How far one person's belief about one record can move": always,
    r"These are the limits of what is possible for a reader": always,
    r"They are not an estimate of what a real reader learns": always,
    r"ε = [0-9.]+ is large\.": large,
    r"In the worst case it allows near certainty": large,
    r"The protection then rests also on what cannot be proved": large,
    r"The unit is one record: one person": always,
    r"A person with two records in the file is protected at 2ε": always,
    r"The same holds for what two people share, looked at together": always,
    r"Every record is protected": no(declared),
    r"one that breaks a rule was first changed, by itself": both(no(declared), raw),
    r"Facts about groups\.": always,
    r"If the table shows that something is common in a group": always,
    r"The number of records\.": always,
    r"It is public\.": always,
    r"That a record was left out\.": left_out,
    r"Records that break a rule for the original were removed first": both(declared, raw, no(drops)),
    r"rule for the original, and records without a usable value, were": both(declared, raw, drops),
    r"Records without a usable value were removed first": both(declared, no(raw), drops),
    r"The guarantee is for the records that remained": left_out,
    r"What is published elsewhere\.": always,
    r"Each further release from the same file adds its own ε\.": no(approximate),
    r"Each further release from the same file adds its own ε and δ\.": approximate,
    r"What people tell about themselves": always,
    r"No rows that occur only once": no(unique),
    r"No row is unique: every row of the table occurs at least": no(unique),
    r"The table holds [0-9]+ rows? that occurs? only once\.": unique,
    r"The plan did not ask for their removal\.": unique,
    r"A row that occurs once was drawn by chance like any other": unique,
    r"Every combination of [12] columns? that occurs in it occurs at least": always,
    r"Leaving out rows that would occur fewer than [25] times is a courtesy": lambda d: rare(d) > 1,
    r"The protection comes from ε\.": no(approximate),
    r"The protection comes from ε and δ\.": approximate,
    # made
    r"were written down before a confidential record was read": always,
    r"The hash of this plan is below": always,
    r"The whole budget was charged at once": released,
    r"ε [0-9.]+ and δ (?:10⁻⁹|0\.001) for this release\.": both(released, approximate),
    r"With it the ledger had spent": released,
    r"No ledger was charged": rehearsed,
    r"A regression of the confidential file was fitted once, with noise": lambda d: (
        d.specification.budget.once is not None and (d.has("regression-mae") or refitted(d))
    ),
    r"The coefficients of a table were compared with it, at no further cost": lambda d: (
        d.specification.budget.once is not None and refitted(d)
    ),
    r"was drawn by lot from the [0-9]+ in the plan": lot,
    r"The plan names one way to make the table": no(lot),
    r"A statistical model was fitted, with noise, to the confidential file": always,
    r"Where the noise leaves room, the model leans on a public table: Births elsewhere\.": leans("file"),
    r"Where the noise leaves room, the model leans on published facts\.": leans("facts"),
    r"What the model leans on is public, as the plan declares, and was fixed by its hash": leans(
        "file", "facts"
    ),
    r"It holds nothing that was read from the confidential file, so leaning on it": leans("file", "facts"),
    r"The plan names a public table for models that can lean on one\.": both(leaned("file"), no(leans("file"))),
    r"The plan names published facts for models that can lean on one\.": both(
        leaned("facts"), no(leans("facts"))
    ),
    r"The model of this table does not\.": both(leaned("file", "facts"), no(leans("file", "facts"))),
    r"Its source: A board, 2024: To be useful\.": leaned("file"),
    r"What the plan names to lean on\.": leaned("file", "facts"),
    r"the noise may have hidden that the confidential file is different": leans("file", "facts"),
    r"Each condition was measured against the confidential file itself": leans("file", "facts"),
    r"A table with 60 rows was drawn from the model": always,
    r"Rows that break a rule were not kept": rules,
    r"Rows that occurred fewer than [25] times were removed or replaced": lambda d: rare(d) > 1,
    r"Each condition was measured with noise\.": lambda d: (
        d.in_loop or (measured(d) and some_alone(d) and not some_joined(d))
    ),
    r"Each condition was measured with noise, some of them by one number that they share": both(
        some_alone, some_joined
    ),
    r"Each number had to lie a margin below what it is compared with, so that luck": both(measured, some_alone),
    r"One noisy number compared it with the confidential file": both(measured, no(some_alone)),
    r"It had to lie a margin below zero, so that luck with the noise seldom decides": both(
        measured, no(some_alone)
    ),
    r"The figures published above follow from the numbers that decided": measured,
    r"Nothing was measured again": measured,
    r"If one failed, everything was done again": lambda d: (
        (d.in_loop or (measured(d) and some_alone(d))) and several(d)
    ),
    r"The figures published above are those that decided": lambda d: d.in_loop,
    r"One noisy test compared it with the confidential file": by_one_test,
    r", all conditions at once": lambda d: (by_one_test(d) or (measured(d) and not some_alone(d))) and many(d),
    r"If it failed, everything was done again": lambda d: (
        (scheme(d) == "test-then-measure" or (measured(d) and not some_alone(d))) and several(d)
    ),
    r"done again from the lot on": lambda d: scheme(d) != "train-once" and several(d) and lot(d),
    r"done again from the fit of the model on": lambda d: (
        scheme(d) != "train-once" and several(d) and not lot(d)
    ),
    r"If it failed, another table was drawn": lambda d: scheme(d) == "train-once" and several(d),
    r"The table that passed was measured once more with fresh noise": by_one_test,
    r"fresh noise, condition by condition": both(by_one_test, many),
    r"These figures are published above": by_one_test,
    r"The search went on until a table passed": lambda d: mode(d) == "paper",
    r"After each failure a coin decided whether to give up": lambda d: "coin" in mode(d),
    r"the number of tries was limited in advance": lambda d: mode(d) == "capped-coin",
    r"less and less likely to do so": lambda d: mode(d) == "rising-coin",
    r"There was one try: had it failed, nothing would have been released": no(several),
    r"How often a table was tried is kept secret": several,
    r"The charge covers the search however long it took": several,
    r"The budget\.": always,
    r"A line may be the sum of others, as its note says": no(approximate),
    r"A line may be composed of others, as its note says": approximate,
    r"Where there is Gaussian noise, parts compose to their sum or less": approximate,
    r"the total is what was charged": released,
    r"the total is what a release would be charged": rehearsed,
    r"Who chose the budget, and why": chosen("budget"),
    r"Who chose the way to search, and why": chosen("selection"),
    r"Who chose how to treat rare rows, and why": chosen("projection"),
    r"Who chose the budget and the way to search, and why": chosen("budget", "selection"),
    r"Who chose the budget and how to treat rare rows, and why": chosen("budget", "projection"),
    r"Who chose the way to search and how to treat rare rows, and why": chosen("selection", "projection"),
    r"Who chose the budget, the way to search and how to treat rare rows, and why": chosen(
        "budget", "selection", "projection"
    ),
    r"The configuration of this table, and where it is recorded": always,
    r"left out before anything else \(declared\)": both(declared, raw),
    r"changed by a fixed rule into records that break none": both(no(declared), raw),
    r"there is no rule for the original": no(raw),
    r"Rules: what no record may satisfy": rules,
    r"Behind a row stand all records, real or not, whose values lie in the ranges": rules,
    r"A rule that is read by any record removes a row even where other records": read_by_any,
    r"The confidential file may hold such records": read_by_any,
    r"That their row is missing here says nothing about them": read_by_any,
    # limits
    r"The test and the published measurement use different noise": by_one_test,
    r"So a published value can lie beyond its threshold": by_one_test,
    r"Here this is so for": both(by_one_test, beyond),
    r"The published values are those that let the table pass": lambda d: (
        d.in_loop or (measured(d) and some_alone(d))
    ),
    r"The published number is the one that let the table pass": both(measured, no(some_alone)),
    r"The bounds take this into account": lambda d: (d.in_loop or measured(d)) and bool(bounded(d)),
    r"Before the search began, the probability that it would end in a release with": measured,
    r"That is a statement about the whole search\.": measured,
    r"Given that there is a release, it can be more: 5 % divided by the chance of a release": measured,
    r"The [0-9]+ noisy numbers share what may fail": lambda d: (
        measured(d) and len(d.specification.criteria) - len(joined(d)) + some_joined(d) > 1
    ),
    r"The [0-9]+ bounds hold together with a probability of at least 95 %": lambda d: (
        len(bounded(d)) > 1 and not measured(d)
    ),
    r"Each by itself holds with at least 9[0-9.]+ %": lambda d: len(bounded(d)) > 1 and not measured(d),
    r"Each condition was tested with noise": lambda d: d.in_loop,
    r"By luck of the noise a table can pass although an exact error lies": lambda d: d.in_loop,
    r"By luck of the noise one test accepts a table that misses": lambda d: (
        not d.in_loop and mode(d) == "paper"
    ),
    r"no such limit holds for the whole search": lambda d: not d.in_loop and mode(d) == "paper",
    r"By luck of the noise a table that misses a condition can": lambda d: not d.in_loop and mode(d) != "paper",
    r"happened in the whole search was at most 5 %": lambda d: (
        not d.in_loop and mode(d) not in ("paper", "single")
    ),
    r"happened in the one try was at most 5 %": lambda d: not d.in_loop and mode(d) == "single",
    r"the threshold is 1\.9, and the noisy ratio was tested at 1\.3\.": lambda d: clipped(d) and given_at(d),
    r"the threshold is 1\.9, and the noisy ratio was tested at 1\.652\.": lambda d: (
        clipped(d) and not given_at(d)
    ),
    r"A ratio of 2 or more would have passed by luck of the noise with a probability of [0-9.]+ %": clipped,
    r"The plan expected no count below 50; the smallest here is [0-9]+\.": clipped,
    r"the distance of this table's coefficients from those of a noisy regression, which stands below": refitted,
    r"It is not an exact distance with noise added, so there is no Δ and no σ": refitted,
    r"Such noise alone moves the coefficients of this table by [0-9.,]+ on average": refitted,
    r"A measured error can be negative": lambda d: any(map(laplace, d.release.measured)),
    r"The exact error is never below zero": lambda d: any(map(laplace, d.release.measured)),
    r"A bound is a bound on the figure that was measured": lambda d: bool(stands_in(d)),
    r"For conditions not named here this is the error itself": lambda d: (
        0 < len(stands_in(d)) < len(bounded(d))
    ),
    r"For a mean or a share, a group that is smaller than expected is filled up": lambda d: bool(
        kinds_bounded(d) & {"mean", "proportion", "query-of"}
    ),
    r"Of a group that is larger, a random part is taken": lambda d: (
        bool(kinds_bounded(d) & {"mean", "proportion"}) and form(d) == "paper"
    ),
    r"the figure is one step from those of this table": lambda d: bool(
        kinds_bounded(d) & {"correlation", "regression-coefficients", "logistic-coefficients"}
    ),
    r"For predictions, a noisy regression takes the place of the exact one": lambda d: (
        "regression-mae" in kinds_bounded(d)
    ),
    r"The model keeps some relations between columns": always,
    r"What no condition covers may be lost": always,
    r"Rows that break a rule and rows that would be rare were removed": lambda d: rules(d) and rare(d) > 1,
    r"Rows that break a rule were removed on purpose": lambda d: rules(d) and rare(d) == 1,
    r"Rows that would be rare were removed on purpose": lambda d: not rules(d) and rare(d) > 1,
    r"Do not use the table to study": lambda d: rules(d) or rare(d) > 1,
    r"The same seed and the same data give the same table again": rehearsed,
    r"The table cannot be made again by the same steps": released,
    r"Written by facsimile": always,
    r"The files of the release belong together": always,
}


class Prose(HTMLParser):
    """A page as its blocks of text: paragraphs, items, headings, captions; not cells, not lists of values."""

    BLOCKS = frozenset({"p", "li", "h4", "caption", "figcaption"})

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.words: list[str] = []
        self.blocks: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self.BLOCKS:
            values = ("class", "values") in attrs
            self.open.append("values" if values else tag)
            self.blocks.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.BLOCKS:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.open and self.open[-1] != "values":
            self.blocks[-1] += data

    @cached_property
    def text(self) -> str:
        return squeezed(" ".join(self.words))

    def sentences(self) -> list[str]:
        """What the page says, sentence by sentence."""
        return [s for block in self.blocks for s in re.split(r"(?<=[.?!])\s+(?=[A-Z“ε])", squeezed(block)) if s]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def given_texts(d: Drawn) -> list[str]:
    """What the page repeats from the specification."""
    spec = d.specification
    words = [text for c in spec.criteria for one in [kind_of(c).told] for text in (one.words, one.title)]
    columns = [text for c in spec.columns for text in (c.description, c.name)]
    said = ["Format", "A table of records.", "The law of statistics.", "A review took place.", "An office"]
    return [spec.title, spec.records.public_because, *words, *columns, *said, REHEARSAL]


HEADINGS = (
    *("Contents", "Part 1", "Part 2", "For everyone", "For data users", "What this data is"),
    *(
        "What the columns mean",
        "What to use it for",
        "Questions with and without a guarantee",
        "How to cite it",
    ),
    *("Tell us what you find", "Quality", "Each column in a chart", "How each error was measured"),
    *("Privacy in plain words", "How it was made", "Known limits", "Intended uses", "Unintended uses"),
    *("With a guarantee", "Without a guarantee", "What ε means for one person", "Whom it protects"),
    *("What is not protected", "Rows that occur only once", "What δ means"),
)
"""What promises nothing."""


def unclaimed(d: Drawn, page: Prose) -> list[str]:
    """Sentences that are neither a claim, nor a heading, nor words of the specification."""
    texts = sorted(given_texts(d), key=len, reverse=True)
    found = []
    for sentence in page.sentences():
        rest = sentence
        for text in texts:
            rest = rest.replace(text, "").replace(text.rstrip("."), "")
        covered = any(re.search(claim, sentence) for claim in CLAIMS)
        if re.search("[a-z]", rest) and not sentence.startswith(HEADINGS) and not covered:
            found.append(sentence)
    return found


def judge(d: Drawn) -> None:
    """Each claim stands on the page exactly where it holds, and every sentence is a claim."""
    page = Prose(readme.html(d.report))
    wrong = [claim for claim, holds in CLAIMS.items() if bool(re.search(claim, page.text)) is not holds(d)]
    assert wrong == []
    assert unclaimed(d, page) == []


CHECKS = settings(max_examples=70, deadline=None, suppress_health_check=list(HealthCheck))


@seed(14)
@CHECKS
@given(releases())
def test_a_claim_stands_on_the_page_exactly_where_it_holds(drawn: Drawn) -> None:
    judge(drawn)


@seed(14)
@settings(CHECKS, max_examples=4)
@pytest.mark.parametrize("kind", sorted(KINDS))
@given(data=st.data())
def test_so_it_does_for_each_kind_of_criterion_alone(kind: str, data: st.DataObject) -> None:
    judge(data.draw(releases((kind,))))


def test_every_kind_of_criterion_is_drawn() -> None:
    tags = {tag.tag for option in get_args(get_args(Criterion)[0]) for tag in get_args(option)[1:]}
    assert {kind.removesuffix("-of") for kind in KINDS} == tags
