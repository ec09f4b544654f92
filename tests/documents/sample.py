"""Two reports to look at: one as a ministry would publish it, one with everything odd."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

from facsimile.documents.report import ORIGINAL, RELEASE, Confidence, LedgerPlace, Report
from facsimile.documents.report import BudgetEntry as BudgetLine
from facsimile.documents.report import ColumnEntry as Column
from facsimile.documents.report import CriterionEntry as Criterion
from facsimile.documents.report import RuleEntry as Rule
from facsimile.spec.bins import parse_bin
from facsimile.spec.meanings import meaning
from facsimile.spec.people import Approval, Governance, Partner
from facsimile.spec.publisher import Publisher
from facsimile.table.faces import FacePrivacy

RECORDS = 165_915


def shared(weights: list[float], total: int = RECORDS) -> tuple[int, ...]:
    """Whole counts in these proportions; the last takes what is left over."""
    counts = [int(total * weight / sum(weights)) for weight in weights]
    return (*counts[:-1], total - sum(counts[:-1]))


def column(
    name: str, description: str, labels: list[str], numbers: list[float] | None, weights: list[float]
) -> Column:
    chosen = None if numbers is None else tuple(numbers)
    meanings = tuple(spoken(label) for label in labels)
    return Column(
        name, description, tuple(labels), meanings, chosen, None, shared(weights), numbers is not None
    )


def spoken(label: str) -> str:
    """A label of a number column in words, as reporting has them."""
    try:
        return meaning(parse_bin(label, Fraction(1)), Fraction(1))
    except ValueError:
        return label


def criterion(
    name: str,
    words: str,
    threshold: float,
    value: float | None,
    epsilon: float,
    sensitivity: float,
    bounds: tuple[float, float] | None = None,
    smallest_group: int | None = None,
    mechanism: str = "discrete Laplace",
    kind: str = "marginals-absolute",
    topic: str = "counts",
    columns: tuple[str, ...] = (),
    stands: str = "itself",
    title: str = "",
) -> Criterion:
    sigma = sqrt(2) * sensitivity / epsilon
    return Criterion(
        name=name,
        kind=kind,
        title=title or words.split(",")[0],
        words=words,
        topic=topic,
        columns=columns,
        stands=stands,
        threshold=threshold,
        tested_at=threshold,
        value=value,
        bound=None if value is None else max(value, 0) + 1.63 * sigma,
        statistic="sharp",
        mechanism=mechanism,
        epsilon=epsilon,
        sensitivity=sensitivity,
        sigma=sigma,
        grid=1024,
        units=0 if value is None else round(1024 * value),
        bounds=bounds,
        smallest_group=smallest_group,
    )


WEIGHTS = [
    "<1500",
    *[f"{low}-{low + 99}" for low in range(1500, 4500, 100)],
    "4499<",
]
CHARTS = "Published charts of birth weight for gestational age"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAIAAAABCAIAAAB7QOjdAAAAD0lEQVR4nGPgjqr9//8/AAn5A+AynD"
    "vUAAAAAElFTkSuQmCC"
)

BIRTHS = Report(
    format=1,
    rehearsal=False,
    title="Live births of 2014, singletons",
    description="Singleton live births of one year: month, age of the mother, parity, week of gestation, sex "
    "and weight.",
    unit="one singleton birth",
    records=RECORDS,
    public_because="The Central Bureau of Statistics publishes the number of live births; the number after the "
    "rules below is declared here and published with the release.",
    day="2026-11-14",
    version="0.1.0",
    epsilon="1.95",
    scheme="test-then-measure",
    mode="coin",
    selection="coin gamma 0.05",
    false_accept="0.05",
    configurations=1_440,
    confidence=Confidence("0.95", "0.992699", 7),
    budget=(
        BudgetLine("generator", "0.8", "one fit of the model, inside the search"),
        BudgetLine("test", "0.1", "one test of a table, inside the search"),
        BudgetLine("search", "1.65", "the whole search: generator and test, times what the coin allows"),
        BudgetLine("criteria", "0.3", "eight measurements of the accepted table, once"),
    ),
    criteria=(
        criterion(
            "marginals-absolute",
            "The largest difference of any count, of one column or of any columns together, as a share of all "
            "records.",
            0.01,
            0.0044,
            0.02,
            1 / RECORDS,
        ),
        criterion(
            "marginals-relative",
            "The largest ratio of two counts of one column, each plus one.",
            2,
            1.284,
            0.06,
            1 / 181,
        ),
        criterion(
            "mean-parity",
            "The largest difference of the mean of parity, overall and within the groups of mother_age.",
            0.3,
            -0.014,
            0.01,
            10 / 32_141,
            (1, 11),
            33_800,
            kind="mean",
            topic="means",
            columns=("parity",),
            stands="floored",
        ),
        criterion(
            "mean-birth_weight",
            "The largest difference of the mean of birth_weight, overall and within the groups of birth_sex, "
            "parity, gestation_week and mother_age.",
            100,
            28.634,
            0.06,
            0.459,
            (1400, 4600),
            6_970,
            kind="mean",
            topic="means",
            columns=("birth_weight",),
            stands="floored",
        ),
        criterion(
            "mean-gestation_week",
            "The largest difference of the mean of gestation_week, overall and within the groups of parity and "
            "mother_age.",
            1,
            0.062,
            0.02,
            15 / 32_141,
            (28, 43),
            33_800,
            kind="mean",
            topic="means",
            columns=("gestation_week",),
            stands="floored",
        ),
        criterion(
            "regression-coefficients",
            "How far the coefficients of a linear regression of birth_weight on all other columns differ, "
            "added up.",
            30,
            31.2,
            0.09,
            0.41,
            mechanism="functional mechanism",
            kind="regression-coefficients",
            topic="regression",
            columns=("birth_weight",),
            stands="fit",
        ),
        criterion(
            "regression-mae",
            "How much worse a regression trained on this data predicts birth_weight than one trained on the "
            "original.",
            5,
            0.351,
            0.03,
            0.0386,
            (1400, 4600),
            kind="regression-mae",
            topic="regression",
            columns=("birth_weight",),
            stands="fit",
        ),
        criterion(
            "faithfulness",
            "The share of rows that have no partner of their own in the original: equal in birth_month, parity "
            "and birth_sex, and at most one bin off in one other column.",
            0.05,
            0.03876,
            0.01,
            1 / RECORDS,
            (0, 1),
            kind="faithfulness",
            topic="rows",
            columns=("birth_month", "parity", "birth_sex"),
        ),
    ),
    columns=(
        column(
            "birth_month",
            "Month of birth",
            [str(month) for month in range(1, 13)],
            [float(month) for month in range(1, 13)],
            [83, 76, 82, 79, 83, 83, 89, 91, 88, 86, 82, 84],
        ),
        column(
            "mother_age",
            "Age of the mother in full years at birth",
            ["<18", "18-19", "20-24", "25-29", "30-34", "35-36", "37-39", "40-42", "43-44", "44<"],
            [17, 18.5, 22, 27, 32, 35.5, 38, 41, 43.5, 45],
            [3, 15, 173, 290, 304, 95, 86, 40, 8, 2],
        ),
        column(
            "parity",
            "The mother's number of live births so far, this one included",
            ["1", "2-3", "4-6", "7-10", "10<"],
            [1, 2.5, 5, 8.5, 11],
            [302, 451, 187, 49, 9],
        ),
        column(
            "gestation_week",
            "The completed week of pregnancy in which the birth took place",
            ["<29", "29-31", "32-33", "34-36", "37-41", "41<"],
            [28, 30, 32.5, 35, 39, 42],
            [3, 5, 8, 43, 930, 16],
        ),
        column("birth_sex", "Sex assigned at birth, M (male) or F (female)", ["M", "F"], [0, 1], [513, 487]),
        column(
            "birth_weight",
            "Weight of the newborn at birth in grams",
            WEIGHTS,
            [1400, *[low + 49.5 for low in range(1500, 4500, 100)], 4600],
            [6, *[max(0.4, 80 * 2.718 ** (-(((low - 3280) / 640) ** 2))) for low in range(1500, 4600, 100)]],
        ),
    ),
    rules=(
        Rule("any column is missing", "Stakeholders; fewer than 1.5 % of raw records break a rule", ORIGINAL),
        Rule(
            "birth_weight < 500 or birth_weight > 5500", "Published reference charts of birth weight", ORIGINAL
        ),
        Rule("mother_age < 23 and parity > 6", "Data processing practice for birth registries", ORIGINAL),
        Rule("gestation_week < 29 and birth_weight > 2999", CHARTS, ORIGINAL),
        Rule("gestation_week < 29 and birth_weight > 2999", "Raw rule of the same words", RELEASE),
        Rule("gestation_week < 34 and birth_weight > 3999", "Raw rule of the same words", RELEASE, "any"),
    ),
    policy="declared",
    family="privbayes",
    hyperparameters={"flavour": "theta", "theta": "20", "epsilon_split": "0.25"},
    alternatives={
        "birth_month": "released",
        "mother_age": "released",
        "parity": "released",
        "gestation_week": "released",
        "birth_sex": "released",
        "birth_weight": "released",
    },
    projection={"algorithm": "paper", "min_count": "2"},
    faces=FacePrivacy(min_count=2, unique_rows=0, k=5, b=5, smallest_group=2),
    plan_hash="9f2b4c61d8e07a35b1c94f6de2087a5340c1bd7fe96a28c35d70e14fb8a6392c",
    data_hash="41d7c0a95be2f8367c1e04d9ab65f32870cd19e4b85a7f3612c9d0e87b54af26",
    ledger=LedgerPlace(
        "births-2014", 3, "c05a1f7be94d2683fa17c0e5d8b3946210ef7ca85d4be19360728fdc5a91be04", "18.74", "1.5"
    ),
)

ODD = Report(
    format=1,
    rehearsal=True,
    title='A <small> & "odd" file: {{ title }} #strong[x] ${1+1}$',
    description=None,
    unit="one <b>person</b> & all",
    records=100,
    public_because="'Quoted' & <said>",
    day="2026-01-02",
    version="0.1.0",
    epsilon="9.98",
    scheme="paper",
    mode="paper",
    selection="paper",
    false_accept="not controlled",
    configurations=1,
    confidence=Confidence("0.95", "0.974679", 2),
    budget=(BudgetLine("<part>", "4.99", "twice & 'more'"),),
    criteria=(
        replace(
            criterion(
                "query-<odd>",
                'An error </td> of & "things" with *stars*, _lines_, #hash and `ticks`',
                0.5,
                None,
                0.5,
                1e-9,
            ),
            tested_at=0.4,
            source="A board: <img src=x onerror=alert(1)> & 'why' #strong[y]",
            threshold_source="</td><script>alert(2)</script> $x$",
        ),
        replace(
            criterion(
                "quantile-0.5-a", "Wide $noise$", 0.5, 0.1, 0.01, 0.2, kind="quantile", topic="quantiles"
            ),
            bound=None,
        ),
    ),
    columns=(
        Column(
            "a<b",
            "Holds <script>alert(1)</script> & 'quotes' \"here\"",
            ("<18", "a & b", 'say "hi"', "it's", "שלום", "naïve – ≤ 5", "</svg><img src=x>", "x" * 60),
            ("<18 (<b>)", "a & b", 'say "hi"', "it's", "שלום", "naïve – ≤ 5", "</svg><img src=x>", "x" * 60),
            None,
            "it's",
            (10, 20, 0, 5, 15, 20, 10, 20),
        ),
        Column("empty", "One value only", ("all",), ("all",), (0.0,), None, (100,)),
    ),
    rules=(Rule("a<b = '<18' and b > 2", "A lawyer & <co>", ORIGINAL),),
    policy="clamp",
    family="mst",
    hyperparameters={},
    alternatives={"a<b": "first & only"},
    projection={},
    faces=FacePrivacy(min_count=1, unique_rows=3, k=5, b=1, smallest_group=0),
    plan_hash="0" * 64,
    data_hash="1" * 64,
    ledger=None,
    governance=Governance.model_construct(
        partners=(
            Partner(
                name="<b>Ada</b> & Co",
                role="</td></tr><script>x</script>",
                organisation="#link(1) <i>office</i>",
            ),
            Partner(role="*lead* {{ 7 * 7 }}"),
            Partner(organisation="An 'office' \"alone\""),
        ),
        requirements={"<h1>Format</h1>": "A table </ul> & rows"},
        approvals=(
            Approval(by="A <b>board</b>", of="All & <u>everything</u>", when="2024-02-29"),
            Approval(by="B", of="Some"),
        ),
        legal_basis="Article <7> & `code`",
        ethics_review="None; <svg onload=alert(1)>",
        contact="not an <address>",
        feedback='javascript:alert("x")',
    ),
    sources={"budget": "A <b>board</b> & co", "selection": "#pagebreak()", "projection": "<br> _eyes_"},
)

PUBLISHED = replace(
    BIRTHS,
    publisher=Publisher(
        name="Ministry of <Health> & Care",
        homepage="https://health.example/data?a=1&b=2",
        licence="CC-BY-4.0",
        licence_link="https://creativecommons.org/licenses/by/4.0/",
        doi="10.5281/zenodo.1234567",
        version="1.2",
        provenance="The register of <births> & more",
        provenance_link="https://health.example/register",
        logo=PIXEL,
    ),
    criteria=(
        replace(
            BIRTHS.criteria[0],
            source="Users, February 2024: counts matter most.",
            threshold_source="Stakeholders: 1 % of all records.",
        ),
        *BIRTHS.criteria[1:],
    ),
    governance=Governance(
        partners=(
            Partner(name="TIMNA", role="Primary stakeholder", organisation="Ministry"),
            Partner(role="Birth Registry steward", organisation="Ministry"),
            Partner(organisation="An association of midwives"),
        ),
        requirements={"Format": "A table of records.", "Privacy": "No row is unique."},
        approvals=(
            Approval(by="Chief Data Officer", of="The release", when="2024-02"),
            Approval(by="Steward", of="The plan"),
        ),
        legal_basis="The law of statistics.",
        contact="births@health.example",
        feedback="https://health.example/feedback?a=1&b=2",
    ),
    sources={"budget": "Authors, 2023: three heuristics.", "projection": "The steward."},
)
