"""A candidate: a table that may be released, what is asked about it, and what the answers say.

Search, measurement, exploration on public data and verification all ask through this one object.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeVar, cast

from facsimile.acceptance.decision import GRID, Asked, JointTest, Measured
from facsimile.acceptance.kind import Kind, Tested, kind_of, kinds_of
from facsimile.acceptance.model import Model, model_of
from facsimile.acceptance.original import Original
from facsimile.acceptance.regression import Fit
from facsimile.privacy.mechanisms import Answer
from facsimile.privacy.modes import mode_of
from facsimile.privacy.queries import Query
from facsimile.privacy.queries.regression import Cells
from facsimile.shaping.constraints import allowed
from facsimile.spec.choices import Statistic
from facsimile.spec.constraints import Condition, names
from facsimile.spec.criteria import Criterion
from facsimile.spec.families import DENSE_CELLS
from facsimile.spec.formula import Formula
from facsimile.spec.release import Specification
from facsimile.synthesizers.base import Answers
from facsimile.table.table import Table
from facsimile.table.view import View

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Candidate:
    """A candidate table with what questions about it share; each is made once.

    `fit` is the regression of the original that predictions are compared with, `refit` the one that
    coefficients were, where they were measured in the paper's form. Both are one where it was paid once. A copy
    with another fit (`dataclasses.replace`) shares what does not depend on it.
    """

    specification: Specification
    table: Table
    fit: Fit | None = None
    refit: Fit | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    def asked(self, criterion: Criterion, form: Statistic | None = None) -> Asked | None:
        """The criterion's question in its own form or in another; None where the candidate cannot meet it."""
        return self.ask(kind_of(criterion, form or self.specification.statistic_of(criterion)))

    def ask(self, kind: Kind[Any]) -> Asked | None:
        """The question of a kind; None where the candidate cannot meet it."""
        return self._once(("asked", *self._key(kind)), lambda: self._guarded(kind.asked(self)))

    def _guarded(self, asked: Asked | None) -> Asked | None:
        """In scheme `measured` what is measured with noise of its own is tested by it, with a margin."""
        if asked is None or self.specification.scheme != "measured" or not asked.criterion.epsilon:
            return asked
        return asked.guarded(mode_of(self.specification.selection).luck)

    def query(self, kind: Kind[Any]) -> Query | None:
        """The query of a kind; None where the candidate itself decides."""
        return self._once(("query", *self._key(kind)), lambda: kind.query(self))

    def own_fit(self, formula: Formula) -> Fit | None:
        """The candidate's own regression; None where it is not determined."""
        model = self.model(formula)
        return self._once(("fit", formula), lambda: Fit.of(model.of(self.table), model.target))

    def model(self, formula: Formula, event: Condition | None = None) -> Model:
        """The regression that a formula stands for."""
        domain = self.table.domain
        return self._once(
            ("model", formula, event), lambda: model_of(self.specification, formula, domain, event)
        )

    def cells(self, view: View, numbers: int) -> Cells | None:
        """The cells of a view that raw constraints allow, so far as they speak of its columns.

        None where they are too many to list, with so many numbers each.
        """
        domain = view.domain
        if max(1, domain.cells) * max(numbers, len(domain.names)) > DENSE_CELLS * len(domain.names):
            return None
        conditions = [c for c in self.specification.raw_conditions if set(names(c)) <= set(view.plain)]
        return self._once(("cells", view.domain, view.plain), lambda: Cells(allowed(conditions, domain)))

    def joint_test(self, epsilon: Fraction | None = None) -> JointTest | None:
        """The test of several criteria at once; None where it cannot meet one whatever the original is.

        In scheme `measured` they are those without an epsilon of their own, perhaps none.
        """
        spec = self.specification
        found = [self.ask(kind) for kind in kinds_of(spec)]
        if any(one is None for one in found):
            return None
        asked = tuple(one for one in found if one is not None and spec.tested_together(one.criterion))
        return JointTest(asked, epsilon or spec.budget.test or Fraction(0), mode_of(spec.selection).luck)

    def passes(self, answers: Answers) -> bool:
        """The test of the scheme; what the candidate alone decides costs nothing."""
        if self.specification.scheme == "measured":
            return self.measured_by_test(answers) is not None
        test = self.joint_test()
        if test is None or test.hopeless():
            return False
        return test.accepts(answers.run(test.question()))

    def measured_by_test(self, answers: Answers) -> tuple[Measured, ...] | None:
        """Scheme `measured`: every criterion by the one noisy number that tests it; None where one fails.

        The joint test comes first, then each criterion with noise of its own, in the specification's order.
        What only lucky noise would accept is not asked.
        """
        tests = self._tests()
        if tests is None:
            return None
        (test, own), found = tests, dict[str, Measured]()
        if test.asked:
            answer = answers.run(test.question())
            if not test.accepts(answer):
                return None
            found |= {asked.criterion.name: asked.told_by(test, answer) for asked in test.asked}
        for asked in own:
            measured = asked.measured(answers.run(asked.question()))
            if not measured.met:
                return None
            found[measured.criterion.name] = measured
        return tuple(found[criterion.name] for criterion in self.specification.criteria)

    def _tests(self) -> tuple[JointTest, list[Asked]] | None:
        """Scheme `measured`: the joint test and what is tested by itself; None where only luck would accept."""
        test, spec = self.joint_test(), self.specification
        if test is None or test.hopeless():
            return None
        found = (self.ask(kind) for kind in kinds_of(spec) if not spec.tested_together(kind.criterion))
        own = [asked for asked in found if asked is not None]
        return None if any(asked.tested_at <= 0 for asked in own) else (test, own)

    def measured_all(
        self, answers: Answers, stop: bool
    ) -> tuple[tuple[Measured, ...], Fit | None, Fit | None] | None:
        """Every criterion with its own noise, in the specification's order, and the regressions they used.

        `stop`: None at the first that is not met.

        The coefficients come first: in the paper's form they leave a regression. It serves the gap of
        predictions too where none was fitted once; where one was, it serves the coefficients, and they cost
        nothing.
        """
        candidate, found = self, dict[str, Measured]()
        for kind in sorted(kinds_of(self.specification), key=lambda kind: not kind.refits):
            measured, candidate = kind.measure(candidate, answers)
            if measured is None or (stop and not measured.met):
                return None
            found[kind.criterion.name] = measured
        inorder = tuple(found[criterion.name] for criterion in self.specification.criteria)
        return inorder, candidate.fit, candidate.refit

    def measured_again(self, units: Mapping[str, int]) -> Iterator[Measured]:
        """Every criterion from its published answer; ValueError where the candidate does not allow it."""
        shared = {} if self.specification.scheme != "measured" else self._shared_again(units)
        for kind in kinds_of(self.specification):
            name = kind.criterion.name
            yield shared[name] if name in shared else kind.again(self, units[name])

    def _shared_again(self, units: Mapping[str, int]) -> dict[str, Measured]:
        """The criteria that share the number of a joint test, from that number."""
        tests = self._tests()
        if tests is None:
            raise ValueError("the released table does not meet a criterion that it alone decides")
        test = tests[0]
        answers = {Answer(units[asked.criterion.name], GRID) for asked in test.asked}
        if len(answers) > 1:
            raise ValueError("one number tested several criteria, and two are published")
        return {asked.criterion.name: asked.told_by(test, answer) for asked in test.asked for answer in answers}

    def _key(self, kind: Kind[Any]) -> tuple[Hashable, ...]:
        return kind, None if kind.needs is None else self.fit

    def _once(self, key: Hashable, make: Callable[[], T]) -> T:
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])


@dataclass(frozen=True)
class Verdict:
    """A criterion's error beside its threshold; None where it is not defined, which is not met."""

    name: str
    value: float | None
    threshold: Fraction

    @property
    def met(self) -> bool:
        """Strictly below the threshold."""
        return self.value is not None and self.value < float(self.threshold)


def exact_errors(specification: Specification, real: Table, synthetic: Table) -> list[Verdict]:
    """Every criterion of the specification, exactly, between two public tables under the same alternatives."""
    if real.domain != synthetic.domain or real.n != synthetic.n:
        raise ValueError("two tables of one domain and one size are compared")
    candidate, original = Candidate(specification, synthetic), Original(real)
    kinds = kinds_of(specification)
    return [Verdict(k.criterion.name, k.exact(candidate, original), k.criterion.threshold) for k in kinds]


def exact_error(
    specification: Specification, criterion: Criterion, real: Table, synthetic: Table
) -> float | None:
    """One criterion, exactly, between two public tables; None where it is not defined."""
    kind = kind_of(criterion, specification.statistic_of(criterion))
    return kind.exact(Candidate(specification, synthetic), Original(real))


def as_tested(
    specification: Specification, real: Table, synthetic: Table, form: Statistic
) -> list[Tested | None]:
    """Every criterion in one of its two forms, between two public tables: see Tested.

    The public original's own regression stands in place of a private one.
    """
    kinds = [kind_of(criterion, form) for criterion in specification.criteria]
    formula = next((kind.needs for kind in kinds if kind.needs), None)
    fit = None if formula is None else Candidate(specification, real).own_fit(formula)
    candidate = Candidate(specification, synthetic, fit)
    original = Original(real)
    return [kind.tested(candidate, original) for kind in kinds]
