"""Feasible: what no data at all could meet is refused before a budget is charged for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from facsimile.shaping.constraints import MOST_CELLS, impossible, zeros
from facsimile.spec.constraints import Possible, names
from facsimile.spec.criteria import LogisticCoefficients, NamedQuery, Proportion
from facsimile.spec.mistakes import Mistake, Place, every, refused
from facsimile.spec.release import Specification
from facsimile.table.conditions import Mask
from facsimile.table.domain import Clique, Domain

MOST_STEPS = 100_000
MOST_CHOICES = 1_000


def refuse_infeasible(specification: Specification) -> None:
    """Refuse the first thing that no data could meet."""
    for mistake in infeasible(specification):
        raise refused([mistake], {})


def infeasible(specification: Specification) -> Iterator[Mistake]:
    """Minimal counts above the number of records, rules that leave no row, queries that ask nothing."""
    yield from every(_too_rare(specification), _without_rows(specification), _idle_queries(specification))


def _too_rare(specification: Specification) -> Iterator[Mistake]:
    n, listed = specification.n, specification.space.listed
    counts: list[tuple[Place, int]] = [
        (("projection", "min_count", i), count) for i, count in enumerate(specification.projection.min_count)
    ]
    if listed is not None:
        asked = [int(c.projection["min_count"]) for c in listed]
        counts = [(("configurations", i, "projection"), count) for i, count in enumerate(asked)]
    for place, count in counts:
        if count > n:
            problem = f"no row of {n:,} can occur {count:,} times: projection.min_count is too large"
            yield Mistake(place, problem, hides=False)


def _without_rows(specification: Specification) -> Iterator[Mistake]:
    """Under every choice of alternatives some row is left.

    What holds on all values of a bin holds on all of a smaller one: the finest refinement decides. What holds
    on some (`bins: any`) holds on some of a larger one: columns of such rules are looked at as they are used.
    """
    conditions = (*specification.raw_conditions, *specification.synthetic_conditions)
    spoken = sorted({name for c in conditions if isinstance(c, Possible) for name in names(c)})
    for chosen in islice(specification.space.choices(spoken), MOST_CHOICES):
        domain = Domain(
            tuple(c.axis(chosen[c.name]) if c.name in chosen else c.finest for c in specification.columns)
        )
        if not some_row(domain, zeros(conditions, domain)):
            under = ", ".join(f"{name}: {used}" for name, used in chosen.items())
            problem = "the constraints leave no row that a release could hold"
            yield Mistake(("constraints",), f"{problem} ({under})" if under else problem)
            return


def _idle_queries(specification: Specification) -> Iterator[Mistake]:
    for place, criterion in enumerate(specification.criteria):
        if isinstance(criterion, NamedQuery | Proportion | LogisticCoefficients):
            key = "event" if isinstance(criterion, LogisticCoefficients) else "where"
            for mistake in every(_idle(specification, criterion)):
                yield mistake.within(("criteria", place, key))


def some_row(domain: Domain, ruled_out: Sequence[tuple[Clique, Mask]]) -> bool:
    """Whether a row meets none of these; yes where that takes too many steps to tell."""
    order = list(dict.fromkeys(name for clique, _ in ruled_out for name in clique))
    due = {
        name: [(c, m) for c, m in ruled_out if max(map(order.index, c)) == i] for i, name in enumerate(order)
    }
    steps = 0

    def found(place: int, row: Mapping[str, int]) -> bool:
        nonlocal steps
        if place == len(order) or steps > MOST_STEPS:
            return True
        name = order[place]
        for code in range(domain.axis(name).size):
            steps += 1
            longer = {**row, name: code}
            broken = any(mask[tuple(longer[n] for n in clique)] for clique, mask in due[name])
            if not broken and found(place + 1, longer):
                return True
        return False

    return found(0, {})


def _idle(
    specification: Specification, query: NamedQuery | Proportion | LogisticCoefficients
) -> Iterator[Mistake]:
    """Under every choice of alternatives some bins meet the query; for a share, others do not."""
    condition = query.condition(specification.names)
    columns = [specification.column(name) for name in specification.names if name in names(condition)]
    for chosen in islice(specification.space.choices([c.name for c in columns]), MOST_CHOICES):
        domain = Domain(tuple(c.axis(chosen[c.name]) for c in columns))
        if domain.cells > MOST_CELLS:
            continue
        _, met = impossible(condition, domain)
        if not met.any():
            under = ", ".join(f"{column}: {name}" for column, name in chosen.items())
            problem = f"no bin meets the condition of {query.name} ({under}): cut the bins at its edges"
            yield Mistake((), problem)
            return
        if getattr(query, "of", None) is None and met.all():
            yield Mistake((), f"every record meets the condition of {query.name}: its share is always 1")
            return
