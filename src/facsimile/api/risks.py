"""Risk: attacks on a public file, itself and as a specification would release it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.api.given import checked, refuse_unless, refuse_unless_whole, source
from facsimile.errors import refusal
from facsimile.results import Page, Result, Tabular

if TYPE_CHECKING:
    import pyarrow as pa

    from facsimile.risk.findings import Risk
    from facsimile.spec.release import Specification


def risk(
    specification: Specification | Path | str,
    data: Any,
    *,
    public: bool = False,
    attacks: int | None = None,
    releases: int | None = None,
    shadows: int | None = None,
    watched: int | None = None,
    seed: int = 1,
    tell: Callable[[str], None] = lambda doing: None,
) -> Risks:
    """Attack a public table three times: as it is, as it would be released, and without the attacked people.

    `attacks`: people of each group that are attacked at most; `releases`: rehearsals that are attacked;
    `shadows`: shadow runs; `watched`: people whose membership is guessed in each. Nothing is charged, and
    confidential data are refused.

    >>> facsimile.risk("ours.yaml", "births.csv", public=True).save("risk.html")  # doctest: +SKIP
    """
    from facsimile.explore.priors import prior_of
    from facsimile.privacy.reader import read_public
    from facsimile.risk.run import Rule, risk_of

    refuse_unless(public, "facsimile.risk")
    wanted = {"attacks": attacks, "releases": releases, "shadows": shadows, "watched": watched}
    given = {name: number for name, number in wanted.items() if number is not None}
    least = {"attacks": 1, "releases": 1, "shadows": 2, "watched": 2}
    refuse_unless_whole("facsimile.risk", seed=(seed, 0), **{n: (x, least[n]) for n, x in given.items()})
    spec, records = checked(specification), source(data)
    tell("Reading")
    table = read_public(records, spec)
    return Risks(risk_of(spec, table, Rule(**given, seed=seed), prior_of(spec, records), tell))


@dataclass(frozen=True, repr=False)
class Risks(Result, Tabular):
    """What the attacks found; as a table: a line for each question and each published table."""

    found: Risk

    def save(self, out: Path | str) -> None:
        """Write the page to a new file, or, where the name ends with .json, the same as data."""
        from facsimile.release.writing import write_told
        from facsimile.risk.page import page

        write_told(Path(out), self.as_json(), lambda: page(self.found))

    @classmethod
    def load(cls, path: Path | str) -> Risks:
        """A report that `save` wrote as data; any other file is refused."""
        import json

        from facsimile.risk.findings import Risk
        from facsimile.spec.text import read_limited

        try:
            return cls(Risk.of_json(json.loads(read_limited(Path(path)))))
        except (ValueError, RecursionError):
            raise refusal("E424") from None

    def to_arrow(self) -> pa.Table:
        """A line for each question and each published table."""
        import pyarrow as pa

        lines = self.as_json()["attacks"]
        return pa.Table.from_pylist([{k: v for k, v in line.items() if k != "parts"} for line in lines])

    def as_json(self) -> dict[str, Any]:
        return self.found.as_json()

    def page(self) -> Page:
        from facsimile.risk.words import QUESTION_WORDS, TABLE_WORDS, between, percent

        found, page = self.found, Page(self.found.title)
        for sentence in found.says:
            page.line(sentence)
        rows = [
            (
                QUESTION_WORDS[f.question],
                TABLE_WORDS[f.table],
                percent(f.success),
                percent(f.control),
                percent(f.risk),
                between(f),
            )
            for f in found.attacks
        ]
        heads = "attack|published|>in it|>others|>risk|interval"
        page.table(f"Risk, all intervals together {100 * found.confidence:g} %", heads, rows)
        page.line("\nAn attack that fails proves nothing: what holds against every attack is epsilon.")
        return page
