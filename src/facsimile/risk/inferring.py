"""Inference: whoever knows all columns of a person but one guesses it from the nearest published records."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from facsimile.risk.distances import Distances, closest, ranks
from facsimile.risk.rates import Excess, Rate
from facsimile.table.table import Codes, Table


def guesses(published: Table, records: Codes, secret: int) -> Codes:
    """The secret column of each record, as the nearest published records have it most often.

    Nearest in all other columns: the secret one is blanked before anything is compared.
    """
    return every_guess(published, records, (secret,))[:, 0]


def every_guess(published: Table, records: Codes, secrets: tuple[int, ...]) -> Codes:
    """The guesses of several secrets, each as if it were the only one."""
    found = np.zeros((len(records), len(secrets)), np.int64)
    far = np.zeros((len(records), len(secrets)), bool)
    for place, secret in enumerate(secrets):
        found[:, place], near = _equal(published, records, secret)
        far[:, place] = ~near
    distances, left = Distances.to(published), np.nonzero(far.any(axis=1))[0]
    for part, piece in distances.pieces(records[left]):
        columns = [distances.column(piece, place) for place in range(piece.shape[1])]
        total = sum(columns[1:], columns[0].copy())
        for place, secret in enumerate(secrets):
            asked = far[left[part], place]
            known = total - columns[secret] if asked.all() else total[asked] - columns[secret][asked]
            found[left[part][asked], place] = _most(published, closest(known), secret)
    return found


def _equal(published: Table, records: Codes, secret: int) -> tuple[Codes, npt.NDArray[np.bool_]]:
    """Guesses from published records that are equal in all other columns, and for whom there are some."""
    size = published.domain.shape[secret]
    rows, asked = ranks(np.delete(published.codes, secret, 1), np.delete(records, secret, 1))
    votes = np.zeros((int(max(rows.max(), asked.max())) + 1, size), np.int64)
    np.add.at(votes, (rows, published.codes[:, secret]), published.counts)
    cast = votes[asked]
    return np.asarray(cast.argmax(axis=1), np.int64), np.asarray(cast.sum(axis=1) > 0)


def _most(published: Table, near: npt.NDArray[np.bool_], secret: int) -> Codes:
    """The value that most of the nearest records have; the first of equals."""
    size = published.domain.shape[secret]
    lines, rows = np.nonzero(near)
    cells = lines * size + published.codes[rows, secret]
    votes = np.bincount(cells, weights=published.counts[rows], minlength=len(near) * size)
    return np.asarray(votes.reshape(len(near), size).argmax(axis=1), np.int64)


def inferring(published: Table, targets: Codes, controls: Codes) -> dict[str, Excess]:
    """The attack on both groups, for each column as the secret."""
    secrets = tuple(range(len(published.domain.axes)))
    right = [
        (every_guess(published, group, secrets) == group).sum(axis=0) if len(group) else np.zeros(len(secrets))
        for group in (targets, controls)
    ]
    return {
        name: Excess(Rate(int(right[0][p]), len(targets)), Rate(int(right[1][p]), len(controls)))
        for p, name in enumerate(published.domain.names)
    }
