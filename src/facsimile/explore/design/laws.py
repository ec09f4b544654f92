"""Laws: whether δ pays. What a design is worth with the Gaussian noise of the declared δ, and with the Laplace
noise that the same ε buys without δ.

k tables that share ε evenly have cells of variance 8k²/ε² in Laplace noise, and of k/ρ in Gaussian noise, ρ
about ε²/(4·ln(1/δ)): few tables are cheaper without δ, many with it. A design has its own tables and shares
under each law, so either law is searched, the second from what the first found. Worth is the predicted chance
that the linear criteria are met; where there is none, the distance of tables of a few columns on a seed that no
search had; where neither can be told, how many of a few candidates meet every criterion.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from facsimile.explore.design.law import GAUSSIAN, LAPLACE
from facsimile.spec.release import Specification

By = Literal["chance", "distance", "candidates"]
NONE = Fraction(0)


@dataclass(frozen=True)
class Laws:
    """What either law is worth, and by what: a chance or a share of candidates, more is better; or a distance.

    `cheaper` is the law with more worth for the same ε; the smooth promise decides between equal chances.
    """

    by: By
    gaussian: float
    laplace: float
    cheaper: str

    @classmethod
    def of(cls, by: By, gaussian: float, laplace: float, promises: tuple[float, float] = (0.0, 0.0)) -> Laws:
        """From what both are worth; at a tie without δ."""
        sign = -1 if by == "distance" else 1
        better = (sign * gaussian, promises[0]) > (sign * laplace, promises[1])
        return cls(by, gaussian, laplace, (GAUSSIAN if better else LAPLACE).name)

    def words(self, delta: str) -> str:
        """One line."""
        kinds = {
            "chance": "predicted {:.0%}",
            "distance": "distance {:.2%}",
            "candidates": "{:.0%} of candidates",
        }
        worth = [kinds[self.by].format(value) for value in (self.gaussian, self.laplace)]
        said = f"Gaussian noise at delta {delta}: {worth[0]}; Laplace noise, without delta: {worth[1]}."
        advice = "leave budget.delta out" if self.cheaper == LAPLACE.name else "delta pays"
        return f"{said} {self.cheaper} noise is cheaper: {advice}."


def undeclared(specification: Specification) -> Specification:
    """The same release without δ."""
    budget = specification.budget.model_copy(update={"delta": NONE})
    return specification.model_copy(update={"budget": budget})
