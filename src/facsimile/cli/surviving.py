"""What `plan --rule paper` prints and writes: the configurations that passed often enough on public data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from facsimile.cli.page import Page, print_json
from facsimile.cli.progress import busy

if TYPE_CHECKING:
    from facsimile.explore.study import Study
    from facsimile.explore.survivors import Survivor, Survivors
    from facsimile.spec.space import Configuration

MOST_SHOWN = 20


def keep_survivors(study: Study, name: str, keep: float, write: Path | None, as_json: bool) -> None:
    """Keep what was accepted in at least this share of its trials; write the same release with these only."""
    from facsimile.explore.narrowed import restricted
    from facsimile.explore.survivors import survivors
    from facsimile.release.writing import write_text

    with busy("Looking", as_json):
        found = survivors(study, keep)
    if write is not None:
        kept = [survivor.configuration for survivor in found.kept]
        write_text(write, restricted(study.source, kept, _notes(study, found, name, keep)))
    if as_json:
        print_json(_as_json(study, found, keep))
    else:
        _print(study, found, keep, write)


def _notes(study: Study, found: Survivors, name: str, keep: float) -> list[str]:
    """What the head of the written specification says."""
    return [
        f"Narrowed by facsimile from the study {name} on public data ({study.data}),",
        f"{study.setup.table.n:,} records: {_kept(found, keep)}.",
        f"There a candidate is accepted with probability {_span(found)}.",
        *_doubts(found),
    ]


def _kept(found: Survivors, keep: float) -> str:
    what = f"{len(found.kept):,} of {found.raced:,} configurations"
    return f"{what} were accepted in {keep:.0%} or more of their trials"


def _span(found: Survivors) -> str:
    low, high = found.span
    return f"{found.acceptance:.3f} (95 %: {low:.3f} to {high:.3f})"


def _doubts(found: Survivors) -> list[str]:
    """Why the figures may be too good, or some configurations missing."""
    doubts = []
    if not found.fresh:
        doubts.append(
            "The trials that state this also chose the configurations, which flatters them: explore again with "
            f"--finalists {len(found.kept)} and another --out to be told."
        )
    if found.running:
        doubts.append(f"{found.running:,} configurations have not ended their race: explore on.")
    return doubts


def _as_json(study: Study, found: Survivors, keep: float) -> dict[str, Any]:
    low, high = found.span
    return {
        "rule": "paper",
        "public": {"file": study.data, "records": study.setup.table.n, "declared": study.declared.n},
        "keep": keep,
        "raced": found.raced,
        "running": found.running,
        "acceptance": {"probability": found.acceptance, "low": low, "high": high, "fresh": found.fresh},
        "candidates": found.expected,
        "configurations": [_one_as_json(survivor) for survivor in found.kept],
    }


def _one_as_json(survivor: Survivor) -> dict[str, Any]:
    configuration, (low, high) = survivor.configuration, survivor.span
    return configuration.as_json() | {
        "identifier": configuration.identifier,
        "race": {"accepted": survivor.accepted, "trials": survivor.trials},
        "stated": {"accepted": survivor.stating[0], "trials": survivor.stating[1], "low": low, "high": high},
    }


def _print(study: Study, found: Survivors, keep: float, write: Path | None) -> None:
    page = Page()
    page.heading(study.declared.title)
    page.line(_kept(found, keep))
    expected = "" if found.expected is None else f"; {found.expected:.1f} candidates expected"
    page.line(f"A candidate is accepted with probability {_span(found)}{expected}")
    for doubt in _doubts(found):
        page.line(doubt)
    shown, every = found.kept[:MOST_SHOWN], [survivor.configuration for survivor in found.kept]
    rows = [_row(survivor, every) for survivor in shown]
    page.table("Configurations", "name|>race|>stated|>95 %|what differs", rows)
    if len(shown) < len(found.kept):
        page.line(f"and {len(found.kept) - len(shown):,} more; --json and --write have all of them")
    page.line(f"\n{caution(study)}")
    if write is not None:
        page.line(f"Written: {write}. Next: facsimile check {write}")


def _row(survivor: Survivor, every: Sequence[Configuration]) -> tuple[str, ...]:
    one, (low, high) = survivor.configuration, survivor.span
    return (
        one.identifier,
        f"{survivor.accepted}/{survivor.trials}",
        f"{survivor.stating[0]}/{survivor.stating[1]}",
        f"{low:.2f}–{high:.2f}",
        differing(one, every),
    )


def differing(one: Configuration, every: Sequence[Configuration]) -> str:
    """What a configuration chooses where some of them choose differently."""

    def chosen(configuration: Configuration) -> dict[str, str]:
        return {**configuration.hyperparameters, **configuration.alternatives, **configuration.projection}

    others = [chosen(other) for other in every]
    differs = {k: v for k, v in chosen(one).items() if any(other.get(k) != v for other in others)}
    return ", ".join(f"{name} {value}" for name, value in differs.items())


def caution(study: Study) -> str:
    """How far what was found on public data goes."""
    public, declared = study.setup.table.n, study.declared.n
    if abs(public - declared) > declared / 10:
        return (
            f"The public file has {public:,} records, the release {declared:,}: noise weighs more in the "
            "smaller of the two, so explore a file of the size of the release."
        )
    return "The intervals hold for data like the public file; how like yours is, you must judge."
