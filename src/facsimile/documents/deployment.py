"""Deployment: an entry for OpenDP's registry of deployments of differential privacy, as its records are.

The registry asks for two facts that no report knows: the region, and what kind of body the publisher is. They
stand as comments at the head, for the publisher to fill in.
"""

from __future__ import annotations

from typing import Any

import yaml

from facsimile.documents.facts import (
    NEIGHBOURS,
    PROGRAM,
    abstract,
    bounds,
    budget,
    landing,
    made,
    mechanisms,
    removed,
    title,
    treated,
    unbounded,
    uses,
)
from facsimile.documents.metadata import given, slug
from facsimile.documents.report import FitEntry, Report
from facsimile.spec.decimals import parse_decimal

TO_FILL = """\
# An entry for the registry of deployments (registry.opendp.org). Before you send it, fill in what the report
# does not know: deployment.basic.data_product_region, and for each curator data_curator_type (Government,
# Industry or Nonprofit){curator}.
"""


def deployment(report: Report) -> str:
    """The entry. It is a draft until the registry's board has approved it."""
    curator = "" if report.publisher else "; and data_curators itself, as no publisher is declared"
    written: str = yaml.dump(entry(report), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return TO_FILL.format(curator=curator) + written


class _Dumper(yaml.SafeDumper):
    """Texts of several lines stand as such: the registry asks for it."""


def _block(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _block)


def _listed(lines: list[str]) -> str:
    """Lines as a list of Markdown."""
    return "\n".join(f"- {' '.join(line.split())}" for line in lines) + "\n"


def entry(report: Report) -> dict[str, Any]:
    """The fields of the entry, as far as the report knows them."""
    who = report.publisher.name if report.publisher else ""
    return {
        "url_slug": slug(f"{title(report)} {who} {report.day[:4]}"),
        "deployment": {
            "basic": _basic(report),
            "dp_variant": {
                "variant_name": "Pure DP" if report.delta is None else "Approximate DP",
                "data_domain": (
                    f"All tables of {report.records:,} records over the columns "
                    f"{', '.join(column.name for column in report.columns)}; one record is {report.unit}."
                ),
                "unprotected_quantities": f"The number of records. {report.public_because}",
            },
            "privacy_loss": _loss(report),
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release",
                "release_type_details": _spent(report),
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "implementation": _implementation(report),
            "administrative": _administrative(report),
        },
    }


def _basic(report: Report) -> dict[str, Any]:
    curators = [{"data_curator_name": report.publisher.name}] if report.publisher else None
    return given(
        {
            "name": title(report),
            "data_curators": curators,
            "description": abstract(report),
            "intended_use": f"Statistics of the kinds that were tested: {', '.join(uses(report))}.",
            "data_product_type": "Synthetic data",
            "publication_date": report.day,
        }
    )


def _loss(report: Report) -> dict[str, Any]:
    delta = None if report.delta is None else float(parse_decimal(report.delta))
    return {
        "privacy_unit": report.unit,
        "privacy_unit_details": f"{NEIGHBOURS} One record is {report.unit}.",
        "number_of_privacy_units": report.records,
        "privacy_parameters": given({"epsilon": float(parse_decimal(report.epsilon)), "delta": delta}),
        "privacy_parameters_details": " ".join(
            [
                f"Exactly: epsilon {report.epsilon}",
                *([f"and delta {report.delta}"] * (report.delta is not None)),
            ]
        )
        + ".",
    }


def _spent(report: Report) -> str:
    """What else was released from the same file, as the ledger counts it."""
    if report.ledger is None:
        return "Nothing was charged to a ledger."
    place = report.ledger
    before = "" if place.before == "0" else f" Earlier ledgers had spent epsilon {place.before}."
    return f"The ledger {place.id} had spent epsilon {place.spent} in all, this release included.{before}"


def _implementation(report: Report) -> dict[str, Any]:
    prepared = [f"{c.name}: {' '.join(treated(c))}" for c in report.columns if treated(c)]
    tuned = f"Configurations: {report.configurations:,}. The search among them is part of the privacy loss."
    return {
        "preprocessing_and_hyperparameter_tuning": _listed([*prepared, tuned]),
        "mechanisms": "; ".join(mechanisms(report)) + f". Implemented by {PROGRAM} {report.version}.",
        "composition": _listed([*budget(report), *_accounted(report.fit)]),
        "post_processing": _listed([made(report), *removed(report)]),
        "justification": _listed(_justified(report)),
        "utility": _listed([*bounds(report), *unbounded(report)]),
    }


def _accounted(fit: FitEntry | None) -> list[str]:
    if fit is None:
        return []
    law = "an accounting of its own" if fit.rho is None else f"rho {fit.rho} of zero-concentrated privacy"
    return [f"One fit of the model is (epsilon {fit.epsilon}, delta {fit.delta}) by {law}."]


def _justified(report: Report) -> list[str]:
    """Who set what, as the specification says."""
    told = [f"{part}: {words}" for part, words in report.sources.items()]
    for criterion in report.criteria:
        told += [f"{criterion.name}: {criterion.source}"] * (criterion.source is not None)
        told += [f"{criterion.name}, threshold: {criterion.threshold_source}"] * (
            criterion.threshold_source is not None
        )
    for approval in () if report.governance is None else report.governance.approvals:
        told.append(f"{approval.by} approved{f' ({approval.when})' if approval.when else ''}: {approval.of}")
    return told or ["The specification names no source of its choices."]


def _administrative(report: Report) -> dict[str, Any]:
    page, publisher = landing(report), report.publisher
    source = given(
        {
            "title": title(report),
            "author": publisher and publisher.name,
            "url": page,
            "doi": publisher and publisher.doi,
            "year": int(report.day[:4]),
        }
    )
    evidence = {
        "release": {
            "evidence_source_type": "Formal publication by the deploying organization",
            "misc": source,
        }
    }
    return given(
        {
            "evidence_sources": evidence if page is not None else None,
            "status": "Draft",
            "registry_authors": [f"{PROGRAM} {report.version}"],
            "tier": 3,
        }
    )
