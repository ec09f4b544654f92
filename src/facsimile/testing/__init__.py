"""Contracts: what every query, mechanism, synthesizer and kind of criterion must keep.

    from facsimile.testing import check_query

    def test_my_query() -> None:
        check_query(MyQuery(candidate), candidate.domain, candidate.n)

Each check takes what you built, measures it over every table of a tiny domain, and raises `Broken`, an
AssertionError that says which part of the contract does not hold. They need nothing but facsimile: call them
from pytest, unittest or a shell.
"""

from facsimile.testing.apart import check_apart as check_apart
from facsimile.testing.canaries import check_canary as check_canary
from facsimile.testing.contract import Broken as Broken
from facsimile.testing.drawn import check_noise as check_noise
from facsimile.testing.hostile import check_parameters as check_parameters
from facsimile.testing.kinds import check_kind as check_kind
from facsimile.testing.mechanisms import NoNoise as NoNoise
from facsimile.testing.mechanisms import check_mechanism as check_mechanism
from facsimile.testing.mechanisms import moves as moves
from facsimile.testing.neighbours import every_pair as every_pair
from facsimile.testing.neighbours import random_pairs as random_pairs
from facsimile.testing.neighbours import small_domain as small_domain
from facsimile.testing.queries import check_query as check_query
from facsimile.testing.synthesizers import check_columns as check_columns
from facsimile.testing.synthesizers import check_only_answers as check_only_answers
from facsimile.testing.synthesizers import check_spending as check_spending
from facsimile.testing.synthesizers import check_synthesizer as check_synthesizer
