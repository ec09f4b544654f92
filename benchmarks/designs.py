"""Designs for wide tables, each made on a public stand-in and measured on another table.

python -m benchmarks.designs adult discharges            makes others and prints them: some minutes each
python -m benchmarks.designs --delta adult discharges    the same for Gaussian noise
"""

from __future__ import annotations

import sys
from fractions import Fraction

from benchmarks.adult import RECORDS, stand_in
from facsimile.explore.design.wide import designed
from facsimile.privacy.budget import rho_of
from facsimile.synthesizers.base import Known
from facsimile.table.table import Table

OTHER_SEED = 99
DELTA = Fraction(1, 10**9)
DESIGNS: dict[str, dict[str, str]] = {
    "adult": {
        "measurements": (
            "age; capital_gain; capital_loss; hours; occupation; country; marital*relationship; "
            "education*occupation; marital*hours@6; age@14*education_num; capital_gain@8*income; "
            "age@14*occupation; workclass*relationship; occupation*sex*income; relationship*sex*income; "
            "education*relationship*income; age@14*marital*race; education_num*race*country@6; "
            "education*education_num; age@14*workclass; workclass*occupation*hours@6; age@14*relationship"
        ),
        "weights": (
            "1.217; 1.414; 1.414; 2.251; 0.214; 2.346; 0.917; 2.191; 1.183; 1.697; 0.500; 1.643; 1.039; "
            "1.549; 1.000; 2.186; 1.959; 2.040; 1.414; 0.795; 2.110; 0.650"
        ),
    },
    "discharges": {
        "measurements": (
            "admission_month; age; sex; region; admission_type; procedures; intensive_care_days; "
            "discharge_destination; payer; readmission_30d; severity; cost_weight; age*diagnosis; "
            "length_of_stay*cost_weight; diagnosis*length_of_stay; admission_type*diagnosis; "
            "length_of_stay*severity; age*discharge_destination; procedures*cost_weight; sex*diagnosis; "
            "length_of_stay*intensive_care_days"
        ),
        "weights": (
            "0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 0.500; 2.490; "
            "0.980; 2.227; 1.575; 0.894; 1.095; 0.775; 1.364; 0.894"
        ),
    },
}


WITH_DELTA: dict[str, dict[str, str]] = {
    "adult": {
        "measurements": (
            "age; capital_gain; hours; country; occupation; marital*relationship; education*occupation; "
            "age@14*education_num; capital_gain@8*income; age@14*occupation; workclass*relationship; "
            "occupation*sex*income; education*relationship*income; age@14*marital*race; "
            "education_num*race*country@6; education*education_num; age@14*workclass; "
            "workclass*occupation*hours@6; age@14*relationship; occupation*race; age@14*income; "
            "relationship*race; capital_loss*income; relationship*sex*hours@6*income; age@14*hours@6"
        ),
        "weights": (
            "1.299; 1.587; 2.950; 3.117; 0.328; 0.891; 2.846; 2.024; 0.397; 1.939; 1.052; 1.792; 2.837; "
            "2.451; 2.587; 1.587; 0.736; 2.706; 0.563; 1.310; 0.679; 0.711; 2.520; 1.803; 0.552"
        ),
    },
    "discharges": {
        "measurements": (
            "admission_month; sex; region; admission_type; procedures; intensive_care_days; "
            "discharge_destination; payer; readmission_30d; cost_weight; severity; age*diagnosis; "
            "length_of_stay*cost_weight; diagnosis*length_of_stay; length_of_stay*severity; "
            "age*discharge_destination; procedures*cost_weight; length_of_stay*intensive_care_days; "
            "age*length_of_stay; admission_month*admission_type; discharge_destination*readmission_30d; "
            "sex*admission_type*diagnosis"
        ),
        "weights": (
            "0.397; 0.397; 0.397; 0.397; 0.397; 0.397; 0.397; 0.397; 0.397; 0.397; 1.016; 3.375; 0.973; "
            "2.908; 0.861; 1.129; 0.712; 0.861; 1.368; 0.973; 0.397; 3.345"
        ),
    },
}
"""For Gaussian noise: weights are shares of the ρ of ε = 1 at DELTA."""


def public(name: str) -> tuple[Table, Known]:
    """The stand-in: another population of the same kind, or other records of the same facts."""
    if name == "adult":
        return stand_in(), Known(RECORDS)
    from benchmarks.wide import simulated

    return simulated(50_000, OTHER_SEED)


if __name__ == "__main__":
    names = [name for name in sys.argv[1:] if name != "--delta"]
    budget = rho_of(Fraction(1), DELTA) if len(names) < len(sys.argv[1:]) else Fraction(1)
    for name in names:
        table, known = public(name)
        found = designed(table, known, budget)
        print(f"{name}\n{found.measurements}\n{found.weights}")
